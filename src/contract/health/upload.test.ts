import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#base/error.ts';
import type { Endpoint } from '../endpoint/endpoint-type.ts';
import { endpoints, type Operation } from '../endpoint/endpoint.ts';
import { QuarantineConfigRequest, UploadReportRequest } from './upload.ts';

const query = {
  repo: 'gitlab.example/acme/tools/widgets',
  org_url_slug: 'acme',
  sha: 'A'.repeat(40),
  branch: 'feature/x',
};
const problemsOf = (input: unknown) =>
  UploadReportRequest.safeParse(input).error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('the query of an upload', () => {
  it('names a repository in one parameter, nested groups and all', () => {
    expect(UploadReportRequest.parse(query).repo).toEqual({
      host: 'gitlab.example',
      owner: 'acme/tools',
      name: 'widgets',
    });
  });

  it('takes three parameters for it too, and numbers as the text that a query is', () => {
    const { repo: _repo, ...rest } = query;
    const parts = { repo_host: 'github.com', repo_owner: 'acme', repo_name: 'widgets' };
    expect(UploadReportRequest.parse({ ...rest, ...parts, pr: '007', attempt: '2' })).toMatchObject({
      repo: { host: 'github.com', owner: 'acme', name: 'widgets' },
      pr: 7,
      attempt: 2,
    });
    expect(problemsOf({ ...rest, ...parts, repo_name: '' })).toEqual(['repo']);
  });

  it('takes a parameter that is there and empty as absent', () => {
    const empty = { pr: '', variant: '', job: '', run_id: '', attempt: '', url: '', can_select_tests: '' };
    expect(problemsOf({ ...query, ...empty })).toEqual([]);
  });

  it('says that the job can run selected tests, if it can', () => {
    const answerTo = (text: string) => UploadReportRequest.parse({ ...query, can_select_tests: text });
    expect(answerTo('true').can_select_tests).toBe(true);
    expect(answerTo('false').can_select_tests).toBe(false);
    expect(UploadReportRequest.parse(query)).not.toHaveProperty('can_select_tests');
  });

  it.each([
    ['repo', 'acme/widgets'],
    ['repo', 'github.com//widgets'],
    ['sha', 'HEAD'],
    ['sha', ''],
    ['branch', ''],
    ['branch', 'a\nb'],
    ['pr', '0'],
    ['pr', 'x'],
    ['attempt', '0'],
    ['can_select_tests', 'yes'],
    ['variant', 'v'.repeat(65)],
    ['url', 'javascript:alert(1)'],
  ])('is refused with the %s %j', (name, value) => {
    expect(problemsOf({ ...query, [name]: value })).toEqual([name]);
  });
});

it('the question which tests are quarantined takes what uploaders send, nulls and unknown keys too', () => {
  const identifier = {
    name: 'adds',
    parentName: null,
    className: 'Sum',
    file: null,
    id: null,
    timestamp_millis: 1,
    is_quarantined: false,
    failure_message: null,
    variant: null,
  };
  const repo = { host: 'github.com', owner: 'acme', name: 'widgets' };
  const asked = { repo, orgUrlSlug: 'acme', remoteUrls: null, testIdentifiers: [identifier], more: 1 };
  expect(QuarantineConfigRequest.safeParse(asked).success).toBe(true);
  expect(QuarantineConfigRequest.safeParse({ repo, orgUrlSlug: 'acme' }).success).toBe(true);
});

const ofTests = ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'] as const;
const refusals: Partial<Record<Operation, readonly ErrorCode[]>> = {
  uploadReport: [...ofTests, 'NOT_A_REPORT', 'HOST_ERROR'],
  createBundleUpload: [...ofTests, 'HOST_ERROR'],
  getQuarantineConfig: ofTests,
  getUpload: [...ofTests, 'UPLOAD_NOT_FOUND'],
  setQuarantine: [...ofTests, 'TEST_CASE_NOT_FOUND'],
  exportQuarantine: ofTests,
  importQuarantine: ofTests,
  listAuditLog: ['INVALID_PAGE_TOKEN'],
};

it.each(Object.entries(refusals))('%s can be refused as the contract says', (operation, codes) => {
  const { errors }: Endpoint = endpoints[operation as Operation];
  expect(codes.filter((code) => !errors.includes(code))).toEqual([]);
});

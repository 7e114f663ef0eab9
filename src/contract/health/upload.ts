// Requests and responses about uploads of test reports: the four steps of existing uploaders (in their
// camelCase), and Signalbox's own endpoint for one report in one request.

import { z } from 'zod';
import {
  CommitSha,
  InstantOut,
  lenientEnum,
  Page,
  PageQuery,
  part,
  PullRequestNumber,
  published,
  Repository,
  Uuid,
  line,
} from '../common.ts';

const Slug = z.string().min(1).max(100);

/** What uploaders send in addition: any value is accepted, and nothing of it is stored. */
const remoteUrls = z.array(z.string().max(2_048)).max(100).nullish();

/** Identifiers that one request may hold: the failed tests of a run, or all tests of a large one. */
const identifiersMax = 100_000;

const text = (max: number) => z.string().max(max).nullish();

const TestIdentifier = z
  .object({
    name: text(8_192),
    parentName: text(8_192),
    className: text(8_192),
    file: text(8_192),
    id: text(200).meta({
      description: 'The id of the test. Absent: Signalbox finds the test by its other fields.',
    }),
    variant: text(64),
    failure_message: text(1_048_576).meta({
      description:
        'The failure. If it is present, the answer lists the test only if it was flaky in this way before.',
    }),
  })
  .meta({ id: 'TestIdentifier' });

export const QuarantineConfigRequest = z.object({
  repo: Repository,
  orgUrlSlug: Slug,
  remoteUrls,
  testIdentifiers: z
    .array(TestIdentifier)
    .max(identifiersMax)
    .nullish()
    .meta({ description: 'Empty or absent: every quarantined test of the repository.' }),
});

export const QuarantineConfigResponse = z.object({
  isDisabled: z.boolean().meta({ description: 'Quarantine is off for the repository.' }),
  testIds: z.array(z.string()).meta({
    description:
      'The requested tests that are quarantined now, named as in the request: by `id` if the request has it.',
  }),
});

export const CreateBundleUploadRequest = z.object({
  repo: Repository,
  orgUrlSlug: Slug,
  clientVersion: text(200),
  remoteUrls,
  externalId: text(500),
  testCollectionShortId: text(200),
});

export const CreateBundleUploadResponse = z.object({
  id: Uuid,
  idV2: Uuid,
  url: z.string().meta({ description: 'PUT the bundle to this URL, without a token, before it expires.' }),
  key: z.string().meta({ description: 'The id of the upload, for the logs of the client.' }),
});

/** `host/owner/name`; the owner may hold slashes. */
const RepositoryPath = part(767)
  .regex(/^[^/\\@]+(\/[^/]+){2,}$/, 'must be host/owner/name, for example github.com/acme/widgets')
  .transform((path) => {
    const parts = path.split('/');
    return { host: parts[0]!, owner: parts.slice(1, -1).join('/'), name: parts.at(-1)! };
  })
  .pipe(Repository)
  .meta({
    description: '`host/owner/name`, for example `github.com/acme/widgets`.',
    ...published({ type: 'string', pattern: '^[^/\\\\@]+(/[^/]+){2,}$' }),
  });

/** `repo` in one parameter, or in three for clients that prefer that. */
function withRepository(input: unknown): unknown {
  const query = input as Record<string, unknown>;
  if (query['repo'] !== undefined) return input;
  const parts = [query['repo_host'], query['repo_owner'], query['repo_name']];
  return parts.every((value) => typeof value === 'string' && value !== '')
    ? { ...query, repo: parts.join('/') }
    : input;
}

const WholeNumber = (min: number, max: number) =>
  z
    .preprocess(
      (input) => (typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input),
      z.int().min(min).max(max),
    )
    .meta(published({ type: 'integer', minimum: min, maximum: max }));

const QueryBoolean = z
  .preprocess((input) => (input === 'true' ? true : input === 'false' ? false : input), z.boolean())
  .meta(published({ type: 'boolean' }));

/** An empty parameter counts as absent: CI passes empty values for unknown ones. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((input) => (input === '' ? undefined : input), schema.optional());

export const UploadReportRequest = z.preprocess(
  withRepository,
  z.object({
    repo: RepositoryPath,
    org_url_slug: Slug,
    sha: CommitSha.meta({ description: 'The commit that was tested.' }),
    branch: line(1, 500).meta({ description: 'The branch of the commit.' }),
    pr: optional(PullRequestNumber),
    variant: optional(line(0, 64)).meta({
      description: 'Keeps results of the same tests apart, for example `linux` and `windows`.',
    }),
    job: optional(line(0, 500)).meta({ description: 'The name of the CI job. Default: none.' }),
    run_id: optional(line(0, 200)).meta({ description: 'The id of the CI run.' }),
    attempt: optional(WholeNumber(1, 1_000_000)).meta({
      description: 'The attempt of the CI run. Default: 1.',
    }),
    url: optional(line(0, 2_048).regex(/^https?:\/\//, 'must be an http or https URL')).meta({
      description: 'URL of the CI job.',
    }),
    can_select_tests: optional(QueryBoolean).meta({
      description: 'True: the job asks getTestSelection which tests to run. Default: not known.',
    }),
  }),
);

const UploadProblem = z
  .object({
    file: z.string(),
    code: z.string(),
    message: z.string(),
    count: z.int(),
  })
  .meta({ id: 'UploadProblem', description: 'Problems in this upload.' });

export const UploadReportResponse = z.object({
  upload_id: Uuid,
  accepted: z.int().meta({ description: 'Number of stored test results.' }),
  rejected: z.array(UploadProblem),
});

const repositoryOfOrganization = { repo: Repository, org_url_slug: Slug };

export const GetUploadRequest = z.object({ ...repositoryOfOrganization, upload_id: Uuid });

const uploadStates = ['awaited', 'stored', 'ingested', 'failed'] as const;

const uploadFields = {
  id: Uuid,
  state: z.enum(uploadStates).meta({
    description:
      'awaited: not uploaded yet; stored: waits for processing; ingested: processed; failed: it has no usable result.',
  }),
  trust: z
    .enum(['full', 'untrusted'])
    .meta({ description: 'untrusted: the results are shown but never change the status of a test.' }),
  sha: z.string(),
  branch: z.string(),
  pr: z.int().nullable(),
  job: z.string(),
  variant: z.string(),
  url: z.string().meta({ description: 'URL of the CI job; empty: unknown.' }),
  uploaded_at: InstantOut,
  ingested_at: InstantOut.nullable(),
  duplicate_of: Uuid.nullable().meta({ description: 'The earlier upload with the same content.' }),
  tests: z.int(),
  passed: z.int(),
  failed: z.int(),
  flaky: z.int(),
  skipped: z.int(),
  quarantined: z.int(),
  usual_tests: z.int().nullable().meta({ description: 'How many tests the job usually runs.' }),
  missing_tests: z.int().nullable().meta({ description: 'How many of these this upload does not contain.' }),
  is_suspect: z.boolean().meta({
    description:
      'Far more tests failed than this job has ever shown; the upload changes the status of no test.',
  }),
  is_complete: z.boolean().meta({ description: 'The upload was read completely.' }),
  problems: z.array(UploadProblem),
};

const Upload = z.object(uploadFields).meta({ id: 'Upload' });

const UploadFailure = z
  .object({
    test_case_id: Uuid,
    html_url: z.string().optional().meta({ description: 'The page of the test on the dashboard.' }),
    name: z.string(),
    classname: z.string(),
    parent: z.string(),
    file: z.string(),
    variant: z.string(),
    outcome: z.enum(['failed', 'flaky']).meta({ description: 'flaky: it passed on retry.' }),
    summary: z.string(),
    verdict: z.enum(['flaky', 'broken', 'new', 'unknown']).meta({
      description:
        'flaky: the test is known to be flaky, or failed like this and passed on the same commit; broken: already broken on the default branch; new: it passed before and never failed like this; unknown: it has no history.',
    }),
    status: z.enum(['healthy', 'flaky', 'broken']),
    status_reason: z.string().meta({ description: 'The reason for the status, as a sentence.' }),
    quarantined: z.boolean(),
    is_known_failure: z.boolean().meta({ description: 'The test has failed in this way before.' }),
    is_excused: z.boolean().meta({
      description:
        'The failure need not fail the job: the test is quarantined and was flaky in this way before, or a person quarantined it, which excuses all of its failures.',
    }),
  })
  .meta({ id: 'UploadFailure' });

export const GetUploadResponse = z.object({
  upload: z
    .object({ ...uploadFields, failures: z.array(UploadFailure).meta({ description: 'At most 200.' }) })
    .meta({ id: 'UploadDetails' }),
});

export const ListUploadsRequest = z.object({
  ...repositoryOfOrganization,
  page_query: PageQuery,
  sha: line(1, 64).nullish().meta({ description: 'Only uploads of this commit.' }),
  pr: PullRequestNumber.nullish().meta({ description: 'Only uploads of this pull request.' }),
  state: lenientEnum(uploadStates).nullish().meta({ description: 'Only uploads in this state.' }),
  with_problems: z.boolean().nullish().meta({ description: 'Only uploads with problems.' }),
});
export const ListUploadsResponse = z.object({ uploads: z.array(Upload), page: Page });

export const UploadClientMetricsRequest = z.object({});

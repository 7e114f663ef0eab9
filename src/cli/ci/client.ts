// The API as the CI commands use it: they upload reports and read the results.

import type { z } from 'zod';
import { GetOrganizationResponse } from '#contract/organization.ts';
import {
  CreateBundleUploadResponse,
  GetUploadResponse,
  type UploadReportRequest,
  UploadReportResponse,
} from '#contract/health/upload.ts';
import { TestSelectionResponse } from '#contract/health/test-selection.ts';
import { type AskedTest, ListNewTestsResponse, newTestsAskedMax } from '#contract/health/new-test.ts';
import { FileDurationsResponse } from '#contract/health/test-split.ts';
import type { RepositoryName } from '#core/repository.ts';
import { call, type CallRetryPolicy, parseServiceResponse, ServiceError } from '../client/transport.ts';

export type CiUploadDetails = z.output<typeof GetUploadResponse>['upload'];

type UploadedReport = z.output<typeof UploadReportResponse>;

type CiApiScope = { readonly repository: RepositoryName; readonly organization: string };

type ReportQuery = Readonly<Partial<Record<keyof z.output<typeof UploadReportRequest>, string>>>;

export type CiClient = {
  /** The slug of the token's organization. */
  readonly organization: () => Promise<string>;
  /**
   * The tests of the job that are enough for the commit (null: all are needed), and how often they run. It is tried once, for
   * at most 5 s.
   */
  readonly getTestSelection: (
    repository: RepositoryName,
    sha: string,
    job: string,
  ) => Promise<z.output<typeof TestSelectionResponse>>;
  /** In milliseconds, for each file; null: not known. */
  readonly getFileDurations: (
    repository: RepositoryName,
    sha: string,
    files: readonly string[],
    variant: string,
  ) => Promise<readonly (number | null)[]>;
  /** The places of the tests that the default branch has never seen; null: it has no reports. */
  readonly listNewTests: (
    repository: RepositoryName,
    tests: readonly AskedTest[],
  ) => Promise<readonly number[] | null>;
  readonly uploadReport: (query: ReportQuery, report: Uint8Array) => Promise<UploadedReport>;
  readonly createBundle: (
    scope: CiApiScope,
    clientVersion: string,
  ) => Promise<{ readonly id: string; readonly url: string }>;
  readonly putBundle: (url: string, bundle: Uint8Array) => Promise<void>;
  readonly getUpload: (scope: CiApiScope, uploadId: string) => Promise<CiUploadDetails>;
};

export type CiClientOptions = {
  readonly url: string;
  readonly token: string;
  /** Timeout of one call without a large body. */
  readonly timeoutMs?: number;
  /** Before the second try; doubled before each further one. */
  readonly pauseMs?: number;
};

/** The tests wait for the answer. */
const selectionTimeoutMs = 5_000;

/** Large bodies may use slow connections. */
const transferTimeoutMs = 120_000;

/** One request has a limited number of tests. */
async function askInParts(
  tests: readonly AskedTest[],
  ask: (part: readonly AskedTest[]) => Promise<z.output<typeof ListNewTestsResponse>>,
): Promise<readonly number[] | null> {
  const places: number[] = [];
  for (let from = 0; from < tests.length; from += newTestsAskedMax) {
    const answer = await ask(tests.slice(from, from + newTestsAskedMax));
    if (!answer.is_branch_known) return null;
    places.push(...answer.new_tests.map((place) => from + place));
  }
  return places;
}

export function createClient({ url, token, timeoutMs = 10_000, pauseMs = 400 }: CiClientOptions): CiClient {
  const headers = { 'x-api-token': token };
  const small: CallRetryPolicy = { timeoutMs, pauseMs, isRepeatable: true };
  const large = { timeoutMs: transferTimeoutMs, pauseMs, isRepeatable: true };
  const json = { ...headers, 'content-type': 'application/json' };
  const ask = async <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    body: unknown,
    policy = small,
  ) => {
    const request = { method: 'POST', headers: json, body: JSON.stringify(body) };
    return parseServiceResponse(schema, await call(`${url}${path}`, request, policy));
  };
  return {
    organization: async () =>
      (await ask('/v1/getOrganization', GetOrganizationResponse, {})).organization.slug,
    getTestSelection: async (repository, sha, job) => {
      const once = { ...small, timeoutMs: selectionTimeoutMs, triesMax: 1 };
      const body = { repo: repository, sha, ...(job === '' ? {} : { job }) };
      return ask('/v1/flaky-tests/get-test-selection', TestSelectionResponse, body, once);
    },
    getFileDurations: async (repository, sha, files, variant) => {
      const body = { repo: repository, sha, files, ...(variant === '' ? {} : { variant }) };
      const path = '/v1/flaky-tests/get-file-durations';
      const { durations_ms: durations } = await ask(path, FileDurationsResponse, body);
      if (durations.length !== files.length)
        throw new ServiceError('The answer has another number of files. Check the URL.');
      return durations;
    },
    listNewTests: (repository, tests) =>
      askInParts(tests, (part) =>
        ask('/v1/flaky-tests/list-new-tests', ListNewTestsResponse, { repo: repository, tests: part }),
      ),
    uploadReport: async (query, report) => {
      const address = `${url}/v1/flaky-tests/upload?${new URLSearchParams(query).toString()}`;
      const request = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/octet-stream' },
        body: report,
      };
      return parseServiceResponse(UploadReportResponse, await call(address, request, large));
    },
    createBundle: ({ repository, organization }, clientVersion) =>
      ask('/v1/metrics/createBundleUpload', CreateBundleUploadResponse, {
        repo: repository,
        orgUrlSlug: organization,
        clientVersion,
        remoteUrls: [],
      }),
    putBundle: async (address, bundle) => {
      // The upload URL is signed: it needs no token, and the server behind it does not get one.
      const request = {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: bundle,
      };
      await call(address, request, large);
    },
    getUpload: async ({ repository, organization }, uploadId) => {
      const body = { repo: repository, org_url_slug: organization, upload_id: uploadId };
      return (await ask('/v1/flaky-tests/get-upload', GetUploadResponse, body)).upload;
    },
  };
}

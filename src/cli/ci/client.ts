// The API as the CI commands use it: they upload reports and read the results.

import type { z } from 'zod';
import { GetOrganizationResponse } from '#contract/organization.ts';
import {
  CreateBundleUploadResponse,
  GetUploadResponse,
  type UploadReportRequest,
  UploadReportResponse,
} from '#contract/health/upload.ts';
import { type SelectedTest, TestSelectionResponse } from '#contract/health/test-selection.ts';
import type { RepositoryName } from '#core/repository.ts';
import { call, type CallRetryPolicy, parseServiceResponse } from '../client/transport.ts';

export type CiUploadDetails = z.output<typeof GetUploadResponse>['upload'];

type UploadedReport = z.output<typeof UploadReportResponse>;

type CiApiScope = { readonly repository: RepositoryName; readonly organization: string };

type ReportQuery = Readonly<Partial<Record<keyof z.output<typeof UploadReportRequest>, string>>>;

export type CiClient = {
  /** The slug of the token's organization. */
  readonly organization: () => Promise<string>;
  /** The tests of the job that are enough for the commit; null: all are needed. It is tried once, for at most 5 s. */
  readonly getTestSelection: (
    repository: RepositoryName,
    sha: string,
    job: string,
  ) => Promise<readonly SelectedTest[] | null>;
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
  const buildScopeFields = ({ repository, organization }: CiApiScope) => ({
    repo: repository,
    org_url_slug: organization,
  });
  return {
    organization: async () =>
      (await ask('/v1/getOrganization', GetOrganizationResponse, {})).organization.slug,
    getTestSelection: async (repository, sha, job) => {
      const once = { ...small, timeoutMs: selectionTimeoutMs, triesMax: 1 };
      const body = { repo: repository, sha, ...(job === '' ? {} : { job }) };
      return (await ask('/v1/flaky-tests/get-test-selection', TestSelectionResponse, body, once)).tests;
    },
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
    getUpload: async (scope, uploadId) =>
      (
        await ask('/v1/flaky-tests/get-upload', GetUploadResponse, {
          ...buildScopeFields(scope),
          upload_id: uploadId,
        })
      ).upload,
  };
}

// The service as the commands of CI speak to it: reports go up, and what was made of them comes back.

import type { z } from 'zod';
import { GetOrganizationResponse } from '#contract/organization.ts';
import {
  CreateBundleUploadResponse,
  GetUploadResponse,
  type UploadReportRequest,
  UploadReportResponse,
} from '#contract/upload.ts';
import type { RepositoryName } from '#core/repository.ts';
import { answerOf, call } from '../client/transport.ts';

export type UploadDetails = z.output<typeof GetUploadResponse>['upload'];

type UploadedReport = z.output<typeof UploadReportResponse>;

type Scope = { readonly repository: RepositoryName; readonly organization: string };

type ReportQuery = Readonly<Partial<Record<keyof z.output<typeof UploadReportRequest>, string>>>;

export type Client = {
  /** The slug of the token's organization. */
  readonly organization: () => Promise<string>;
  readonly uploadReport: (query: ReportQuery, report: Uint8Array) => Promise<UploadedReport>;
  readonly createBundle: (
    scope: Scope,
    clientVersion: string,
  ) => Promise<{ readonly id: string; readonly url: string }>;
  readonly putBundle: (url: string, bundle: Uint8Array) => Promise<void>;
  readonly getUpload: (scope: Scope, uploadId: string) => Promise<UploadDetails>;
};

export type ClientOptions = {
  readonly url: string;
  readonly token: string;
  /** Of one call without a large body. */
  readonly timeoutMs?: number;
  /** Before the second try; doubled before each further one. */
  readonly pauseMs?: number;
};

/** Large bodies go over slow lines. */
const transferTimeoutMs = 120_000;

export function createClient({ url, token, timeoutMs = 10_000, pauseMs = 400 }: ClientOptions): Client {
  const headers = { 'x-api-token': token };
  const small = { timeoutMs, pauseMs, isRepeatable: true };
  const large = { timeoutMs: transferTimeoutMs, pauseMs, isRepeatable: true };
  const json = { ...headers, 'content-type': 'application/json' };
  const ask = async <Schema extends z.ZodType>(path: string, schema: Schema, body: unknown) => {
    const request = { method: 'POST', headers: json, body: JSON.stringify(body) };
    return answerOf(schema, await call(`${url}${path}`, request, small));
  };
  const scopeOf = ({ repository, organization }: Scope) => ({ repo: repository, org_url_slug: organization });
  return {
    organization: async () =>
      (await ask('/v1/getOrganization', GetOrganizationResponse, {})).organization.slug,
    uploadReport: async (query, report) => {
      const address = `${url}/v1/flaky-tests/upload?${new URLSearchParams(query).toString()}`;
      const request = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/octet-stream' },
        body: report,
      };
      return answerOf(UploadReportResponse, await call(address, request, large));
    },
    createBundle: ({ repository, organization }, clientVersion) =>
      ask('/v1/metrics/createBundleUpload', CreateBundleUploadResponse, {
        repo: repository,
        orgUrlSlug: organization,
        clientVersion,
        remoteUrls: [],
      }),
    putBundle: async (address, bundle) => {
      // The address is signed: it needs no token, and whoever it leads to is not shown one.
      const request = {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: bundle,
      };
      await call(address, request, large);
    },
    getUpload: async (scope, uploadId) =>
      (await ask('/v1/flaky-tests/get-upload', GetUploadResponse, { ...scopeOf(scope), upload_id: uploadId }))
        .upload,
  };
}

// The service as the command line speaks to it: every call is bounded in time, what may pass is tried again, and what
// went wrong is a sentence for the person who reads the log.

import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { GetOrganizationResponse } from '#contract/organization.ts';
import {
  CreateBundleUploadResponse,
  GetUploadResponse,
  type UploadReportRequest,
  UploadReportResponse,
} from '#contract/upload.ts';
import type { RepositoryName } from '#core/repository.ts';
import { plainLine } from './plain-text.ts';

/** A call that came to nothing; its message may be shown. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
}

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

const triesMax = 3;
/** Large bodies go over slow lines. */
const transferTimeoutMs = 120_000;
const answerBytesMax = 16 * 1024 * 1024;

export function createClient({ url, token, timeoutMs = 10_000, pauseMs = 400 }: ClientOptions): Client {
  const headers = { 'x-api-token': token };
  const json = { ...headers, 'content-type': 'application/json' };
  const ask = async <Schema extends z.ZodType>(path: string, schema: Schema, body: unknown) => {
    const request = { method: 'POST', headers: json, body: JSON.stringify(body) };
    return answerOf(schema, await call(`${url}${path}`, request, timeoutMs, pauseMs));
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
      return answerOf(UploadReportResponse, await call(address, request, transferTimeoutMs, pauseMs));
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
      await call(address, request, transferTimeoutMs, pauseMs);
    },
    getUpload: async (scope, uploadId) =>
      (await ask('/v1/flaky-tests/get-upload', GetUploadResponse, { ...scopeOf(scope), upload_id: uploadId }))
        .upload,
  };
}

type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
};

/** The text of a 200; anything else is thrown. */
async function call(address: string, sent: Sent, timeoutMs: number, pauseMs: number): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(address, sent, timeoutMs);
    if (typeof outcome === 'string') return outcome;
    if (!outcome.mayPass || attempt >= triesMax) throw new ServiceError(outcome.why);
    await sleep(Math.max(pauseMs * 2 ** (attempt - 1), outcome.retryAfterMs));
  }
}

type Failure = { readonly why: string; readonly mayPass: boolean; readonly retryAfterMs: number };

async function tryOnce(
  address: string,
  { method, headers, body }: Sent,
  timeoutMs: number,
): Promise<string | Failure> {
  try {
    // A redirect would carry the token to a place that nobody named.
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(address, {
      method,
      headers,
      body: body,
      redirect: 'error',
      signal,
    });
    const text = await boundedText(answer);
    if (answer.status === 200) return text;
    const mayPass = [408, 409, 429].includes(answer.status) || answer.status >= 500;
    const retryAfterMs = Math.min(Number(answer.headers.get('retry-after') ?? 0) || 0, 5) * 1000;
    return { why: `The service answered ${answer.status}: ${messageOf(text)}`, mayPass, retryAfterMs };
  } catch (error) {
    const { cause, name, message } = error as Error;
    const reason = name === 'TimeoutError' ? `no answer in ${timeoutMs / 1000} s` : causeOf(cause, message);
    return { why: `The service cannot be reached (${plainLine(reason)}).`, mayPass: true, retryAfterMs: 0 };
  }
}

const causeOf = (cause: unknown, message: string): string => {
  const { code, message: inner } = (cause ?? {}) as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : typeof inner === 'string' && inner !== '' ? inner : message;
};

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Of an error in our envelope its message; of anything else (a proxy's page) its beginning. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return plainLine(error.message, 500);
  } catch {
    // Not ours.
  }
  return plainLine(text.trim(), 100) || 'nothing more';
}

function answerOf<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new ServiceError('The service answered something else than Signalbox does. Is its address right?');
  }
}

// How the command line calls the service: every call is bounded in time and size, transient failures are
// retried, and an error is a sentence for the person who reads it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { plainLine } from '../terminal/plain-text.ts';

type ServiceErrorDetails = {
  readonly status: number | null;
  readonly code: string | null;
  readonly detail: string | null;
};

/** A call that failed; its message may be shown. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** The HTTP status; null: there was no answer. */
  readonly status: number | null;
  /** As in docs/reference/errors.md; null: the service did not say. */
  readonly code: string | null;
  /** The service's own message, if it sent one; the message says what to do next. */
  readonly sentence: string;

  constructor(
    message: string,
    { status, code, detail }: ServiceErrorDetails = { status: null, code: null, detail: null },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.sentence = detail ?? message;
  }
}

const defaultTriesMax = 3;
const answerBytesMax = 16 * 1024 * 1024;

export type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: none, as in a GET. */
  readonly body?: string | Uint8Array;
};

export type CallRetryPolicy = {
  /** Timeout of one try. */
  readonly timeoutMs: number;
  /** Before the second try; doubled before each further one. */
  readonly pauseMs: number;
  /** A repeatable call is retried after any transient failure; others only if nothing was done. */
  readonly isRepeatable: boolean;
  /** Default: 3. */
  readonly triesMax?: number;
};

/** The text of a 200; anything else is thrown. */
export async function call(
  address: string,
  sent: Sent,
  { timeoutMs, pauseMs, isRepeatable, triesMax = defaultTriesMax }: CallRetryPolicy,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(address, sent, timeoutMs);
    if (typeof outcome === 'string') return outcome;
    const { why, mayPass, isUndone } = outcome;
    if (!(mayPass && (isRepeatable || isUndone)) || attempt >= triesMax) throw new ServiceError(why, outcome);
    await sleep(Math.max(pauseMs * 2 ** (attempt - 1), outcome.retryAfterMs));
  }
}

type CallFailure = ServiceErrorDetails & {
  readonly why: string;
  readonly mayPass: boolean;
  /** True: the request certainly had no effect. */
  readonly isUndone: boolean;
  readonly retryAfterMs: number;
};

async function tryOnce(
  address: string,
  { method, headers, body }: Sent,
  timeoutMs: number,
): Promise<string | CallFailure> {
  try {
    // A redirect would send the token to a server that the user did not name.
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(address, {
      method,
      headers,
      body: body ?? null,
      redirect: 'error',
      signal,
    });
    const text = await boundedText(answer);
    if (answer.status === 200) return text;
    const { status } = answer;
    const { message, code } = errorIn(text);
    return {
      why: `The service answered ${status}: ${message}`,
      mayPass: [408, 409, 429].includes(status) || status >= 500,
      isUndone: status === 429 || status === 503,
      retryAfterMs: Math.min(Number(answer.headers.get('retry-after') ?? 0) || 0, 5) * 1000,
      status,
      code,
      detail: code === null ? null : message,
    };
  } catch (error) {
    const { cause, name, message } = error as Error;
    const reason =
      name === 'TimeoutError' ? `no answer in ${timeoutMs / 1000} s` : describeCause(cause, message);
    return {
      why: `Signalbox is unreachable (${plainLine(reason)}). Check the URL and your connection.`,
      mayPass: true,
      isUndone: reason === 'ECONNREFUSED',
      retryAfterMs: 0,
      status: null,
      code: null,
      detail: null,
    };
  }
}

const describeCause = (cause: unknown, message: string): string => {
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

/** The message of an error envelope, with its details; of any other text (a proxy's page) the beginning. */
function errorIn(text: string): { readonly message: string; readonly code: string | null } {
  try {
    const { error } = JSON.parse(text) as { error?: Readonly<Record<string, unknown>> };
    if (typeof error?.['message'] === 'string')
      return {
        message: plainLine([error['message'], ...detailsIn(error['details'])].join(' '), 1_000),
        code: typeof error['code'] === 'string' ? plainLine(error['code'], 100) : null,
      };
  } catch {
    // Not an error envelope.
  }
  return { message: plainLine(text.trim(), 100) || 'no explanation', code: null };
}

const detailsIn = (details: unknown): readonly string[] =>
  Array.isArray(details)
    ? (details as readonly { path?: unknown; message?: unknown }[])
        .slice(0, 20)
        .map(({ path, message }) => `${String(path)}: ${String(message)}.`)
    : [];

/** Checks the answer and returns it unchanged: fields that a newer service adds are kept. */
export function parseServiceResponse<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): z.output<Schema> {
  try {
    const answer: unknown = JSON.parse(text);
    schema.parse(answer);
    return answer as z.output<Schema>;
  } catch {
    throw new ServiceError('The answer is not from Signalbox. Check the URL.');
  }
}

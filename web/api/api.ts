// Calls of the dashboard: the operations of the API, authorised by the session's cookie.

import { callsMax, isQuestion } from '#contract/endpoint/calls.ts';
import type { ErrorBody } from '#contract/common.ts';
import type { Session, SignInWays } from '#contract/session.ts';
import type { Operation, RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { createLoader } from './loader.ts';
import { clearLastSeenId, getLastSeenId } from './last-seen.ts';

export class CallError extends Error {
  /** 0: the server could not be reached. */
  readonly status: number;
  readonly code: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, body: Partial<ErrorBody['error']>) {
    super(body.message ?? `The server responded with status ${status}.`);
    this.status = status;
    this.code = body.code ?? 'UNREACHABLE';
    this.details = body.details ?? [];
  }
}

/** Whether a retry may help. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof CallError) || error.status === 0 || error.status === 429 || error.status >= 500;

async function request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> {
  const response = await fetch(`/app/api/${path}`, {
    method,
    credentials: 'same-origin',
    // A page of another origin cannot set the second of these headers: see the server's check.
    headers: { ...(body && { 'content-type': 'application/json' }), 'x-signalbox-app': '1' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new CallError(0, { message: 'The server is unreachable. The page retries automatically.' });
  });
  const answer: unknown = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new CallError(response.status, (answer as Partial<ErrorBody>).error ?? {});
}

type BatchedCall = { readonly operation: Operation; readonly body: object };
type BatchedCallAnswers = {
  readonly answers: readonly { readonly status: number; readonly body: unknown }[];
};

/** Calls within this time share one request. */
const gatherMs = 5;

const batchedReads = createLoader(callsMax, gatherMs, async (calls: readonly BatchedCall[]) => {
  const lastSeenId = getLastSeenId();
  const body = { calls, ...(lastSeenId !== undefined && { lastSeenId }) };
  const { answers } = (await request('POST', 'calls', body)) as BatchedCallAnswers;
  return answers;
});

async function read(operation: Operation, body: object): Promise<unknown> {
  const answer = await batchedReads.load({ operation, body });
  if (answer.status < 400) return answer.body;
  throw new CallError(answer.status, (answer.body as Partial<ErrorBody>).error ?? {});
}

async function change(operation: Operation, body: object): Promise<unknown> {
  try {
    return await request('POST', `call/${operation}`, body);
  } finally {
    // The page must show the change: a shared answer from before it is not new enough.
    clearLastSeenId();
  }
}

export const call = <Name extends Operation>(name: Name, body: RequestOf<Name>): Promise<ResponseOf<Name>> =>
  (isQuestion(name) ? read(name, body) : change(name, body)) as Promise<ResponseOf<Name>>;

/** Null: the browser has no session. */
export const readSession = (): Promise<Session | null> =>
  (request('GET', 'session') as Promise<Session>).catch((error: unknown) => {
    if (error instanceof CallError && error.status === 401) return null;
    throw error;
  });

export const openSession = (token: string): Promise<Session> =>
  request('POST', 'session', { token }) as Promise<Session>;

/** The available ways to sign in. */
export const readSignInWays = (): Promise<SignInWays> => request('GET', 'sign-in') as Promise<SignInWays>;

export const closeSession = (): Promise<unknown> => request('DELETE', 'session', {});

/**
 * The HTTP client of the suite. Every answer it sees is held against the rules that hold for all answers (request
 * id, error envelope, 200 for success) and against the published OpenAPI document, whoever asked and whatever for.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recorder } from './check.ts';
import { parseJson, pick } from './json.ts';
import type { ContractDocument } from './openapi.ts';
import { sendWithFetch, sendWithSocket, type Incoming, type Outgoing } from './transport.ts';

export type Call = {
  /** Default POST. */
  readonly method?: string;
  /** Default: the token with every scope. null sends no header, '' sends it empty. */
  readonly token?: string | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: Buffer | string;
  /** Default application/json when there is a body; null sends no such header. */
  readonly contentType?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Wait and ask again on 429. Default true. */
  readonly retry?: boolean;
  /** Use a connection of its own, with a known length or in chunks. */
  readonly socket?: 'sized' | 'chunked';
};

export type Answer = {
  /** What was asked, for a failing line. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
};

export type Client = {
  readonly root: string;
  contract: ContractDocument | undefined;
  /** Asks `path`, written from the root of the deployment (`/v1/getQueue`). */
  send(path: string, call?: Call): Promise<Answer>;
};

/** 429 is waited out at most this often: 100 tokens come back per second, so one or two waits suffice. */
const RETRIES_MAX = 20;

export function createClient(root: string, token: string, recorder: Recorder): Client {
  const client: Client = { root, contract: undefined, send };

  async function send(path: string, call: Call = {}): Promise<Answer> {
    const outgoing = buildOutgoing(root, token, path, call);
    for (let attempt = 0; ; attempt += 1) {
      const incoming = await (call.socket
        ? sendWithSocket(outgoing, call.socket === 'chunked')
        : sendWithFetch(outgoing));
      const answer = { ...incoming, asked: describe(path, call, outgoing), json: parseJson(incoming.text) };
      checkAnswer(client, recorder, path, outgoing.method, answer);
      if (incoming.status !== 429 || call.retry === false || attempt >= RETRIES_MAX) return answer;
      await sleep(Math.max(0.2, Number(incoming.headers['retry-after'] ?? '1') || 1) * 1000);
    }
  }

  return client;
}

function buildOutgoing(root: string, token: string, path: string, call: Call): Outgoing {
  const method = call.method ?? 'POST';
  const raw = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const body = typeof raw === 'string' ? Buffer.from(raw) : raw;
  const headers: Record<string, string> = {};
  if (call.token !== null) headers['x-api-token'] = call.token ?? token;
  const contentType = call.contentType === undefined && body ? 'application/json' : call.contentType;
  if (typeof contentType === 'string') headers['content-type'] = contentType;
  const query = call.query ? `?${new URLSearchParams(call.query).toString()}` : '';
  return { url: `${root}${path}${query}`, method, headers: { ...headers, ...call.headers }, body };
}

function describe(path: string, call: Call, outgoing: Outgoing): string {
  const text = outgoing.body?.subarray(0, 300).toString('utf8') ?? '';
  const sent = outgoing.body === undefined ? '' : ` ${text}${outgoing.body.byteLength > 300 ? '…' : ''}`;
  const query = call.query ? ` ?${new URLSearchParams(call.query).toString()}` : '';
  return `${outgoing.method} ${path}${query}${sent}`;
}

/** An answer as the tail of a failing line. */
export function show(answer: Incoming & { readonly asked?: string }): string {
  const body = answer.text.length > 500 ? `${answer.text.slice(0, 500)}…` : answer.text;
  return `${answer.status} ${body}`;
}

function checkAnswer(client: Client, recorder: Recorder, path: string, method: string, answer: Answer): void {
  const label = `${method} ${path} ${answer.status}`;
  const detail = `asked ${answer.asked}; got ${show(answer)}`;
  const requestId = answer.headers['x-request-id'] ?? '';
  recorder.always(`every answer carries x-request-id (${label})`, requestId !== '', detail);
  if (answer.status >= 200 && answer.status < 300)
    recorder.always(`success is 200 (${label})`, answer.status === 200, detail);
  if (answer.status >= 400)
    recorder.always(`errors use the envelope (${label})`, isEnvelope(answer, requestId), detail);
  if (answer.status >= 500) recorder.always(`no server error (${label})`, false, detail);
  classifyByContract(client, recorder, path, method, answer);
}

function isEnvelope(answer: Answer, requestId: string): boolean {
  const error = pick(answer.json, 'error');
  const code = pick(error, 'code');
  const message = pick(error, 'message');
  return (
    (answer.headers['content-type'] ?? '').startsWith('application/json') &&
    typeof code === 'string' &&
    /^[A-Z][A-Z_]+$/.test(code) &&
    typeof message === 'string' &&
    message.length > 0 &&
    pick(error, 'requestId') === requestId
  );
}

function classifyByContract(
  client: Client,
  recorder: Recorder,
  path: string,
  method: string,
  answer: Answer,
): void {
  const { contract } = client;
  if (!contract || !/^\/(sandbox\/)?v1\//.test(path)) return;
  const isRouteAnswer = answer.status === 405 || pick(answer.json, 'error', 'code') === 'ROUTE_NOT_FOUND';
  const isRefusedUnknown = answer.status === 401 && !contract.hasOperation(method, path);
  if (isRouteAnswer || isRefusedUnknown) return;
  const contentType = answer.headers['content-type'] ?? '';
  const problem = contract.check(method, path, answer.status, contentType, answer.json);
  recorder.always(
    `the published OpenAPI document describes ${method} ${path} ${answer.status}`,
    problem === undefined,
    `asked ${answer.asked}; ${problem}; got ${show(answer)}`,
  );
}

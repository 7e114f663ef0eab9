// One request to an endpoint. Nothing here follows what the other side says: no redirect, no more of its answer than is
// shown, and no address but those that were judged just before the connection is made.

import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { traced } from '#base/trace.ts';
import { type Allowed, permitted, type Target, targetOf } from './webhook-address.ts';

/** How names are resolved: all addresses of one. */
export type Resolve = (
  host: string,
  answer: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const resolveBySystem: Resolve = (host, answer) =>
  systemLookup(host, { all: true }, (error, addresses) => answer(error, addresses));

export type SendOptions = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly allowed: Allowed;
  readonly resolve?: Resolve;
};

export type SendResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs: number | null;
      /** The beginning of the answer. */
      readonly answer: string;
    }
  /** It did not come to an answer. */
  | { readonly kind: 'failed'; readonly why: string };

/** Of an answer so much is kept. */
const answerBytesMax = 1_024;

/** Resolves a name and hands on only what may be connected to. */
function judgedLookup(target: Target, allowed: Allowed, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const good = permitted(target, addresses, allowed);
      if (typeof good === 'string') return callback(new Error(good), []);
      if (options.all === true) return callback(null, [...good]);
      return callback(null, good[0]!.address, good[0]!.family);
    });
  };
}

/** Whether the name of an address may be connected to now; else why not. */
export function judgeName(url: string, allowed: Allowed, resolve = resolveBySystem): Promise<string | null> {
  const target = targetOf(url, allowed);
  if (typeof target === 'string') return Promise.resolve(target);
  // A name of the installation's own list may be one that only its workers can resolve.
  if (target.isHostAllowed || isIP(target.host) !== 0) return Promise.resolve(null);
  return new Promise((done) =>
    resolve(target.host, (error, addresses) => {
      if (error !== null) return done(`The name ${target.host} cannot be resolved.`);
      const good = permitted(target, addresses, allowed);
      return done(typeof good === 'string' ? `${good}.` : null);
    }),
  );
}

/** By the name of the host alone: the rest of an address may be a secret. */
export function send(options: SendOptions): Promise<SendResult> {
  const attributes = { 'server.address': URL.parse(options.url)?.hostname ?? '' };
  return traced({ name: 'deliver event', kind: 'client', attributes }, async (set) => {
    const result = await sendOnce(options);
    if (result.kind === 'answered') set({ 'http.response.status_code': result.status });
    else set({ 'error.type': 'not answered' });
    return result;
  });
}

async function sendOnce(options: SendOptions): Promise<SendResult> {
  const { allowed, resolve = resolveBySystem } = options;
  // Once more: what is allowed may have changed since the endpoint was made, and a written address is never looked up.
  const target = targetOf(options.url, allowed);
  if (typeof target === 'string') return { kind: 'failed', why: target };
  const signal = AbortSignal.timeout(options.timeoutMs);
  try {
    const response = await ask(target, options, judgedLookup(target, allowed, resolve), signal);
    const answer = await beginningOf(response);
    return {
      kind: 'answered',
      status: response.statusCode ?? 0,
      retryAfterMs: retryAfterOf(response.headers['retry-after']),
      answer,
    };
  } catch (error) {
    const why = signal.aborted ? `no answer in ${options.timeoutMs / 1000} s` : reasonOf(error);
    return { kind: 'failed', why };
  }
}

function ask(
  { url }: Target,
  { headers, body }: SendOptions,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const call = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const length = String(Buffer.byteLength(body));
  return new Promise((done, failed) => {
    const request = call(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': length },
      // A connection of its own: none is kept that was judged for another time.
      agent: false,
      lookup,
      signal,
    });
    request.once('response', done);
    request.once('error', failed);
    request.end(body);
  });
}

/** What an answer begins with; the rest is not waited for. */
function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = () => {
      response.destroy();
      // A text in PostgreSQL holds no NUL.
      done(Buffer.concat(chunks).subarray(0, answerBytesMax).toString('utf8').replaceAll('\0', '\ufffd'));
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= answerBytesMax) finish();
    });
    // The status has been said: how the text ends changes nothing.
    response.once('end', finish);
    response.once('error', finish);
    response.once('close', finish);
  });
}

const dayMs = 86_400_000;

/** Seconds or a date; at most a day. */
function retryAfterOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, dayMs) : null;
}

function reasonOf(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: readonly unknown[] };
  const [first] = errors ?? [];
  if (first !== undefined) return reasonOf(first);
  return (message || code || 'the connection failed').slice(0, 300);
}

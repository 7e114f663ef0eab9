// One request to an endpoint. Nothing here trusts the other side: no redirect, no more of its answer than is
// shown, and no address that was not checked just before the connection.

import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { dayMs } from '#base/duration.ts';
import { traced } from '#base/trace.ts';
import { type Allowed, permitted, type Target, parseWebhookTarget } from './webhook-address.ts';

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
  /** The request got no answer. */
  | { readonly kind: 'failed'; readonly why: string };

/** How much of an answer is kept. */
const answerBytesMax = 1_024;

/** Resolves a name and returns only the addresses that may be connected to. */
function checkedLookup(target: Target, allowed: Allowed, resolve: Resolve): LookupFunction {
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

/** Null if the host of a URL may be connected to now; else why not. */
export function checkHostName(
  url: string,
  allowed: Allowed,
  resolve = resolveBySystem,
): Promise<string | null> {
  const target = parseWebhookTarget(url, allowed);
  if (typeof target === 'string') return Promise.resolve(target);
  // A name on the installation's own list may be one that only its workers can resolve.
  if (target.isHostAllowed || isIP(target.host) !== 0) return Promise.resolve(null);
  return new Promise((done) =>
    resolve(target.host, (error, addresses) => {
      if (error !== null) return done(`The name ${target.host} cannot be resolved.`);
      const good = permitted(target, addresses, allowed);
      return done(typeof good === 'string' ? `${good}.` : null);
    }),
  );
}

/** Traced by host name only: the rest of a URL may be a secret. */
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
  // Checked again: the allowed list may have changed since, and a literal address is never looked up.
  const target = parseWebhookTarget(options.url, allowed);
  if (typeof target === 'string') return { kind: 'failed', why: target };
  const signal = AbortSignal.timeout(options.timeoutMs);
  try {
    const response = await ask(target, options, checkedLookup(target, allowed, resolve), signal);
    const answer = await readResponseStart(response);
    return {
      kind: 'answered',
      status: response.statusCode ?? 0,
      retryAfterMs: parseRetryAfter(response.headers['retry-after']),
      answer,
    };
  } catch (error) {
    const why = signal.aborted
      ? `no answer in ${options.timeoutMs / 1000} s`
      : describeConnectionError(error);
    return { kind: 'failed', why };
  }
}

export type FetchOptions = Pick<SendOptions, 'url' | 'timeoutMs' | 'allowed' | 'resolve'> & {
  /** A longer answer is refused. */
  readonly bytesMax: number;
};

/** Reads a small document from an address that an administrator typed, with the precautions of `send`. Throws why it failed. */
export async function fetchDocument(options: FetchOptions): Promise<string> {
  const { url, allowed, bytesMax, timeoutMs, resolve = resolveBySystem } = options;
  const target = parseWebhookTarget(url, allowed);
  if (typeof target === 'string') throw new Error(target);
  const lookup = checkedLookup(target, allowed, resolve);
  const response = await ask(target, null, lookup, AbortSignal.timeout(timeoutMs));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`${url} answered with more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  if (response.statusCode !== 200) throw new Error(`${url} answered with status ${response.statusCode}`);
  return Buffer.concat(chunks).toString('utf8');
}

/** `sent` null: a GET. */
function ask(
  { url }: Target,
  sent: Pick<SendOptions, 'headers' | 'body'> | null,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const call = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const posted = sent !== null && {
    method: 'POST',
    headers: {
      ...sent.headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(sent.body)),
    },
  };
  return new Promise((done, failed) => {
    const request = call(url, {
      ...posted,
      // A new connection: a kept one would have been checked at another time.
      agent: false,
      lookup,
      signal,
    });
    request.once('response', done);
    request.once('error', failed);
    request.end(sent?.body);
  });
}

/** Reads the beginning of an answer; the rest is not waited for. */
function readResponseStart(response: IncomingMessage): Promise<string> {
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
    // The status is known: how the text ends does not matter.
    response.once('end', finish);
    response.once('error', finish);
    response.once('close', finish);
  });
}

/** Seconds or a date; at most a day. */
function parseRetryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, dayMs) : null;
}

function describeConnectionError(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: readonly unknown[] };
  const [first] = errors ?? [];
  if (first !== undefined) return describeConnectionError(first);
  return (message || code || 'the connection failed').slice(0, 300);
}

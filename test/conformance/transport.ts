/** Bytes out, bytes in. `fetch` serves nearly everything; node:http where a body must be sent past a refusal. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

export type Outgoing = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
};

export type Incoming = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

const TIMEOUT_MS = 60_000;

export async function sendWithFetch(outgoing: Outgoing): Promise<Incoming> {
  const response = await fetch(outgoing.url, {
    method: outgoing.method,
    headers: outgoing.headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // As bytes: a string would make fetch add a content type of its own.
    ...(outgoing.body === undefined ? {} : { body: new Uint8Array(outgoing.body) }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers.entries()),
    text: await response.text(),
  };
}

/**
 * Sends a large body on a connection of its own. A server may answer and close before it has read everything; the
 * reset can then overtake the answer, so a lost answer is asked for again.
 */
export async function sendWithSocket(outgoing: Outgoing, chunked: boolean): Promise<Incoming> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnSocket(outgoing, chunked);
    } catch (error) {
      if (attempt >= 5) throw error;
      await sleep(100 * attempt);
    }
  }
}

function sendOnSocket(outgoing: Outgoing, chunked: boolean): Promise<Incoming> {
  const open = outgoing.url.startsWith('https:') ? requestHttps : requestHttp;
  const body = outgoing.body ?? Buffer.alloc(0);
  const framing: Record<string, string> = chunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(body.byteLength) };
  return new Promise((resolve, reject) => {
    const outbound = open(outgoing.url, {
      method: outgoing.method,
      headers: { ...outgoing.headers, ...framing },
      agent: false,
      timeout: TIMEOUT_MS,
    });
    outbound.on('response', (response) => {
      const parts: Buffer[] = [];
      const finish = () => {
        const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(headers),
          text: Buffer.concat(parts).toString('utf8'),
        });
        outbound.destroy();
      };
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', finish);
      response.on('error', reject);
    });
    outbound.on('timeout', () => outbound.destroy(new Error('no answer in time')));
    outbound.on('error', reject);
    outbound.end(body);
  });
}

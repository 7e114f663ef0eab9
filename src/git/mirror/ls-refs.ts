// Lists the references of a remote over http(s) that begin with one of some prefixes, and makes the remote
// send no others.
//
// `git ls-remote` requests prefixes only with --heads and --tags; otherwise the remote sends all references,
// and git drops those that do not match. GitHub keeps refs/pull/N/head of every pull request for good, so
// such a listing grows by some 60 bytes with each pull request ever opened. The protocol can do better: the
// command `ls-refs` of version 2 takes `ref-prefix` (gitprotocol-v2, "ls-refs"), over http as
// gitprotocol-http describes it ("Smart Clients"). Git uses the same in `git fetch`, where each refspec is a
// prefix.

import { GitError } from '../error.ts';
import { delimiterPacket, flushPacket, type Packet, packetLine, parsePackets } from './pkt-line.ts';
import { type Remote, withoutCredentials } from '../run.ts';

export type ListedRef = { readonly ref: string; readonly sha: string };

/** The limit for a listing: 1,000,000 references with long names. */
const answerBytesMax = 256 * 1024 * 1024;

/** Null: the remote does not speak version 2 of the protocol. */
export async function listRefsByPrefix(
  remote: Remote,
  prefixes: readonly string[],
  timeoutMs: number,
): Promise<readonly ListedRef[] | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const service = 'git-upload-pack';
  const offer = await request(remote, `${remote.url}/info/refs?service=${service}`, { signal });
  const offered = pickPacketLines(offer.packets);
  if (!offered.includes('version 2')) return null;
  // The remote may have redirected the request: the next one goes to the URL that answered.
  const base = offer.url.slice(0, offer.url.lastIndexOf('/info/refs'));
  const format = offered.find((line) => line.startsWith('object-format='));
  const body = [
    packetLine('command=ls-refs'),
    ...(format === undefined ? [] : [packetLine(format)]),
    delimiterPacket,
    ...prefixes.map((prefix) => packetLine(`ref-prefix ${prefix}`)),
    flushPacket,
  ].join('');
  const headers = {
    'content-type': `application/x-${service}-request`,
    accept: `application/x-${service}-result`,
  };
  const answer = await request(remote, `${base}/${service}`, { method: 'POST', body, headers, signal });
  if (answer.packets === null) throw failure(remote, 'unreachable', 'unexpected disconnect');
  return pickPacketLines(answer.packets).map((line) => {
    if (line.startsWith('ERR ')) throw failure(remote, 'refused', line.slice(4));
    const [, sha, ref] = /^([0-9a-f]{40,64}|unborn) (\S+)/.exec(line) ?? [];
    if (sha === undefined || ref === undefined) throw failure(remote, 'failed', `unexpected line: ${line}`);
    return { sha, ref };
  });
}

const pickPacketLines = (packets: readonly Packet[] | null): readonly string[] =>
  (packets ?? []).flatMap((packet) => (packet.kind === 'line' ? [packet.text] : []));

const failure = (remote: Remote, kind: GitError['kind'], text: string): GitError =>
  new GitError(kind, withoutCredentials(`git ls-refs: ${text}`, remote));

type LsRefsResponse = { readonly url: string; readonly packets: readonly Packet[] | null };

async function request(remote: Remote, url: string, init: RequestInit): Promise<LsRefsResponse> {
  const headers = new Headers(init.headers);
  headers.set('git-protocol', 'version=2');
  // A Git host may treat other clients than git as a browser (gitprotocol-http: any agent is allowed).
  headers.set('user-agent', 'git/2.0 (signalbox)');
  for (const header of remote.headers ?? [])
    headers.set(header.slice(0, header.indexOf(':')), header.slice(header.indexOf(':') + 1).trim());
  try {
    const response = await fetchAgainIfClosed(url, { ...init, headers });
    if (!response.ok) {
      await response.body?.cancel();
      throw failure(remote, kindOfStatus(response.status), `returned error: ${response.status}`);
    }
    return { url: response.url, packets: parsePackets(await bounded(remote, response)) };
  } catch (error) {
    if (error instanceof GitError) throw error;
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw failure(remote, 'unreachable', reason);
  }
}

/**
 * The remote may close a kept connection just as it is used again. A listing changes nothing, so it is
 * requested a second time on a new connection.
 */
async function fetchAgainIfClosed(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: string } };
    if (cause?.code !== 'ECONNRESET' && cause?.code !== 'UND_ERR_SOCKET') throw error;
    return fetch(url, init);
  }
}

const kindOfStatus = (status: number): GitError['kind'] =>
  status >= 500 || status === 408 || status === 429 ? 'unreachable' : 'refused';

async function bounded(remote: Remote, response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw failure(remote, 'failed', `more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

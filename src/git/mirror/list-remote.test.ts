import { dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gitHttp, listenOnLoopback } from '../../../test/support/git-http.ts';
import { makeRemote, temporaryFolder, type TestRemote } from '../../../test/support/git-remote.ts';
import type { GitError } from '../error.ts';
import { openMirror } from './mirror.ts';
import { packetLine, parsePackets } from './pkt-line.ts';

/** A remote over http with a branch, and a count of the bytes that it answers. */
async function makeServed(objectFormat?: string) {
  const remote = makeRemote(objectFormat);
  const base = remote.commit({ files: { a: 'a' } });
  remote.set('refs/heads/main', base);
  let bytes = 0;
  const listener = gitHttp(dirname(remote.path), { onBytes: (sent) => (bytes += sent) });
  const { url, close } = await listenOnLoopback(listener);
  onTestFinished(close);
  const source = { url: `${url}/remote.git` };
  const options = objectFormat === undefined ? {} : { objectFormat: objectFormat as 'sha256' };
  const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, source, options);
  onTestFinished(mirror.close);
  const cost = async (work: () => Promise<unknown>) => {
    bytes = 0;
    await work();
    return bytes;
  };
  return { remote, base, mirror, cost };
}

function addRefs({ git }: TestRemote, count: number, sha: string) {
  for (let number = 1; number <= count; number++) git('update-ref', `refs/pull/${number}/head`, sha);
}

it('the bytes of a listing and of a fetch do not grow with the pull requests and branches of the repository', async () => {
  const { remote, base, mirror, cost } = await makeServed();
  const patterns = ['refs/heads/main', 'refs/heads/signalbox/main/*'];
  const test = 'refs/heads/signalbox/main/pr-1/x';
  remote.set(test, base);
  const list = () => mirror.remoteRefs(patterns);
  const fetch = () => mirror.fetch({ branch: 'main', pulls: [] });
  await fetch();
  const before = [await cost(list), await cost(fetch)];
  addRefs(remote, 300, base);
  for (let number = 1; number <= 50; number++) remote.set(`refs/heads/feature-${number}`, base);
  expect(await list()).toEqual(
    new Map([
      ['refs/heads/main', base],
      [test, base],
    ]),
  );
  expect([await cost(list), await cost(fetch)]).toEqual(before);
});

it('a listing names the objects of a remote with SHA-256 whole', async () => {
  const { base, mirror } = await makeServed('sha256');
  expect(base).toHaveLength(64);
  expect(await mirror.remoteRefs(['refs/heads/*'])).toEqual(new Map([['refs/heads/main', base]]));
});

it('a connection that the remote has closed is opened again', async () => {
  const remote = makeRemote();
  const base = remote.commit({ files: { a: 'a' } });
  remote.set('refs/heads/main', base);
  const backend = gitHttp(dirname(remote.path));
  let requests = 0;
  const { url, close } = await listenOnLoopback((request, response) => {
    requests += 1;
    if (requests === 1) request.socket.resetAndDestroy();
    else backend(request, response);
  });
  onTestFinished(close);
  const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, { url: `${url}/remote.git` });
  onTestFinished(mirror.close);
  expect(await mirror.remoteRefs(['refs/heads/main'])).toEqual(new Map([['refs/heads/main', base]]));
});

it('a remote that sends its callers on is listed where it is now', async () => {
  const remote = makeRemote();
  const base = remote.commit({ files: { a: 'a' } });
  remote.set('refs/heads/main', base);
  const backend = gitHttp(dirname(remote.path));
  const { url, close } = await listenOnLoopback((request, response) => {
    if (!request.url!.startsWith('/former.git')) return backend(request, response);
    response.writeHead(301, { location: request.url!.replace('/former.git', '/remote.git') }).end();
  });
  onTestFinished(close);
  const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, { url: `${url}/former.git` });
  onTestFinished(mirror.close);
  expect(await mirror.remoteRefs(['refs/heads/main'])).toEqual(new Map([['refs/heads/main', base]]));
});

it('a remote of version 0 of the protocol is listed too', async () => {
  const remote = makeRemote();
  const base = remote.commit({ files: { a: 'a' } });
  remote.set('refs/heads/main', base);
  const backend = gitHttp(dirname(remote.path));
  const { url, close } = await listenOnLoopback((request, response) => {
    delete request.headers['git-protocol'];
    backend(request, response);
  });
  onTestFinished(close);
  const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, { url: `${url}/remote.git` });
  onTestFinished(mirror.close);
  expect(await mirror.remoteRefs(['refs/heads/*'])).toEqual(new Map([['refs/heads/main', base]]));
});

it.each([
  ['refused', 403, 'no'],
  ['unreachable', 502, 'no'],
  ['refused', 200, `${packetLine('version 2')}0000`],
] as const)('a listing that fails is %s: %i %s', async (kind, status, body) => {
  const { url, close } = await listenOnLoopback((request, response) => {
    const isOffer = request.method === 'GET';
    response.writeHead(status).end(isOffer ? body : packetLine('ERR Repository not found.'));
  });
  onTestFinished(close);
  const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, { url });
  onTestFinished(mirror.close);
  const error = await mirror.remoteRefs(['refs/heads/main']).catch((thrown: unknown) => thrown as GitError);
  expect(error).toMatchObject({ kind });
});

it('packets are read whole or not at all', () => {
  expect(parsePackets(Buffer.from(`${packetLine('ä')}00010000`))).toEqual([
    { kind: 'line', text: 'ä' },
    { kind: 'other' },
    { kind: 'flush' },
  ]);
  for (const text of ['0009a', '<html>', '0003', 'zzzz']) expect(parsePackets(Buffer.from(text))).toBeNull();
});

import type { RequestListener } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gitHttp, listenOnLoopback } from '../../test/support/git-http.ts';
import { makeRemote, temporaryFolder } from '../../test/support/git-remote.ts';
import { wrapDiskError, GitError, classifyGitOutput } from './error.ts';
import { openMirror } from './mirror/mirror.ts';
import { runGit, withoutCredentials, withoutProgress } from './run.ts';

const password = 'ghs_s3cr3t/+Value';
const basic = Buffer.from(`x-access-token:${password}`).toString('base64');
const headers = [`Authorization: Basic ${basic}`];

async function listen(listener: RequestListener): Promise<string> {
  const { url, close } = await listenOnLoopback(listener);
  onTestFinished(close);
  return url;
}

const serveGit = (root: string) => gitHttp(root, { authorization: () => `Basic ${basic}` });

const mirrorOf = async (url: string, withHeaders = headers, timeoutMs = 20_000) => {
  const remote = { url, headers: withHeaders };
  const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, remote, { timeoutMs });
  onTestFinished(mirror.close);
  return mirror;
};
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: unknown) => error as GitError,
  );

describe('a remote over http', () => {
  it('is fetched from and pushed to with the credential', async () => {
    const remote = makeRemote();
    const base = remote.commit({ files: { a: 'a' } });
    const next = remote.commit({ parents: [base], files: { a: 'b' } });
    remote.set('refs/heads/main', base);
    remote.set('refs/pull/1/head', next);
    const url = `${await listen(serveGit(dirname(remote.path)))}/remote.git`;
    const mirror = await mirrorOf(url);
    expect(await mirror.fetch({ branch: 'main', pulls: [{ number: 1, sha: next }] })).toEqual({
      tip: base,
      missing: [],
      refs: new Map(),
    });
    const test = { ref: 'refs/heads/test', from: null, to: base };
    const stale = { ref: 'refs/heads/main', from: next, to: next };
    expect(await mirror.push([test, { ...stale, from: base }])).toEqual({ kind: 'pushed' });
    expect(remote.git('rev-parse', 'main')).toBe(next);
    remote.set('refs/heads/main', base);
    const lost = await mirror.push([{ ...test, ref: 'refs/heads/other' }, stale]);
    expect(lost).toEqual({ kind: 'moved', refs: ['refs/heads/main'] });
    remote.hook('pre-receive', `echo "no ${password}" >&2; exit 1`);
    const refused = await mirror.push([{ ...stale, from: base }]);
    expect(refused).toMatchObject({ kind: 'refused' });
    expect(inspect(refused)).not.toContain(password);
    const stranger = await mirrorOf(url, []);
    expect(await failureOf(stranger.remoteRefs(['*']))).toMatchObject({ kind: 'refused' });
  });

  it('is asked with the credential of the moment', async () => {
    const seen: (string | undefined)[] = [];
    const url = await listen((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(503).end();
    });
    let number = 0;
    const source = async () => ({ url, headers: [`Authorization: Bearer token-${number++}`] });
    const mirror = await openMirror(`${temporaryFolder()}/mirror.git`, source);
    onTestFinished(mirror.close);
    for (let round = 0; round < 2; round++) await failureOf(mirror.remoteRefs(['*']));
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it.each([
    [401, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [408, 'unreachable'],
    [429, 'unreachable'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ])('that answers %i is %s, and the error never holds the credential', async (status, kind) => {
    let seen: string | undefined;
    const url = await listen((request, response) => {
      seen = request.headers.authorization;
      response.writeHead(status, { 'content-type': 'text/plain' });
      response.end(`You sent ${seen}\nthat is ${password}\n`);
    });
    const error = await failureOf((await mirrorOf(`${url}/x.git`)).remoteRefs(['refs/heads/*']));
    expect(seen).toBe(`Basic ${basic}`);
    expect(error).toBeInstanceOf(GitError);
    expect(error.kind).toBe(kind);
    const rendered = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error) + error.stack;
    for (const secret of [password, basic]) expect(rendered).not.toContain(secret);
  });

  it('that says nothing is given up in time, with everything that was started', async () => {
    const url = await listen(() => {});
    const startedAt = Date.now();
    const error = await failureOf((await mirrorOf(url, headers, 400)).fetch({ branch: 'main', pulls: [] }));
    expect(error.kind).toBe('unreachable');
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  it('that cannot be connected to, or does not resolve, is unreachable', async () => {
    for (const url of ['http://127.0.0.1:1/x.git', 'http://no.such.host.invalid/x.git'])
      expect(await failureOf((await mirrorOf(url)).remoteRefs(['*']))).toMatchObject({ kind: 'unreachable' });
  });

  it('cannot run a command, and holds no credential in its URL', async () => {
    const folder = temporaryFolder();
    const mirror = await mirrorOf(`ext::sh -c touch% ${folder}/ran`);
    expect(await failureOf(mirror.remoteRefs(['*']))).toMatchObject({ kind: 'refused' });
    for (const url of ['https://user:pass@host/x.git', 'https://token@host/x.git', '--upload-pack=x'])
      await expect(openMirror(`${folder}/m.git`, { url })).rejects.toThrow('the URL of a remote');
    await expect(openMirror(`${folder}/m.git`, { url: 'x', headers: ['A: b\nC: d'] })).rejects.toThrow(
      'one line',
    );
  });
});

describe('running git', () => {
  const settings = () => ({ directory: temporaryFolder(), remote: { url: 'x', headers } });

  it('reads nothing of the user’s configuration', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, '.config/git'), { recursive: true });
    for (const file of ['.gitconfig', '.config/git/config'])
      writeFileSync(join(home, file), '[user]\nname = x\n');
    const environment = { HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') };
    const { stdout } = await runGit(
      { ...settings(), environment },
      { args: ['config', '--list', '--name-only'] },
    );
    expect(stdout.toString()).not.toContain('user.name');
  });

  it('bounds the output', async () => {
    const error = await failureOf(runGit(settings(), { args: ['help', '-a'], outputBytesMax: 100 }));
    expect(error).toMatchObject({ kind: 'failed', output: /more than 100 bytes/ });
  });

  it('says what a timeout means: the remote is silent, or the work is too much', async () => {
    const program = temporaryFolder();
    writeFileSync(join(program, 'git'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    const slow = { ...settings(), environment: { PATH: `${program}:/usr/bin:/bin` } };
    const late = (call: object) => failureOf(runGit(slow, { args: ['x'], timeoutMs: 50, ...call }));
    expect(await late({})).toMatchObject({ kind: 'unreachable', output: /timed out after 50 ms/ });
    expect(await late({ timeoutKind: 'too_much' })).toMatchObject({ kind: 'too_much' });
  });

  it('reads a repository by its path only if the remote is one', async () => {
    const { path } = makeRemote();
    const listed = (url: string) =>
      runGit({ directory: temporaryFolder(), remote: { url } }, { args: ['ls-remote', `file://${path}`] });
    expect(await failureOf(listed('https://git.example/acme/widgets'))).toMatchObject({
      kind: 'refused',
      output: /transport 'file' not allowed/,
    });
    expect((await listed(path)).exitCode).toBe(0);
  });

  it('says so if git is not there', async () => {
    const error = await failureOf(
      runGit({ ...settings(), environment: { PATH: '/nowhere' } }, { args: ['version'] }),
    );
    expect(error).toMatchObject({ kind: 'failed', code: 'INTERNAL', output: /ENOENT/ });
  });
});

it('credentials are taken out in every form', () => {
  const remote = { url: 'x', headers: [...headers, 'X-Token: token abcdef'] };
  const text = `${basic} ${password} token abcdef, abcdef https://user:pw@host/ ssh://git@host/`;
  expect(withoutCredentials(text, remote)).toBe('*** *** ***, *** https://***@host/ ssh://***@host/');
});

it.each([
  ["fatal: couldn't find remote ref refs/heads/x", 'missing'],
  ['fatal: remote error: upload-pack: not our ref 0123', 'missing'],
  ["fatal: unable to access 'https://h/': The requested URL returned error: 502", 'unreachable'],
  ["fatal: unable to access 'https://h/': Could not resolve host: h", 'unreachable'],
  ['git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.', 'refused'],
  ["error: cannot lock ref 'refs/x': is at 1 but expected 2", 'moved'],
  ['remote: Permission denied\nfatal: the remote end hung up unexpectedly', 'unreachable'],
  ['fatal: write error: No space left on device', 'no_room'],
  [
    "error: cannot update ref 'refs/signalbox/base/main': couldn't write '/mirror/refs/signalbox/base/main.lock'",
    'no_room',
  ],
  ["fatal: sha1 file '/mirror/objects/pack/tmp_pack' write error. Out of diskspace", 'no_room'],
  ['error: inflate: data stream error (unknown compression method)', 'damaged'],
  ['fatal: loose object 0123 (stored in ./objects/01/23) is corrupt', 'damaged'],
  ['fatal: unable to read 8a33a105e6a73a73ae2da9ec5be751fd9f77e569', 'damaged'],
  ['fatal: unexpected line in ./packed-refs: 0123', 'damaged'],
  ['fatal: unterminated line in ./packed-refs: 0123', 'damaged'],
  ['fatal: missing object 8a33a105e6a73a73ae2da9ec5be751fd9f77e569 for refs/signalbox/base/main', 'damaged'],
  ['fatal: bad object refs/pull/17/head\nerror: the remote did not send all necessary objects', 'damaged'],
  ['error: wrong index v1 file size in ./objects/pack/pack-0123.idx\nfatal: bad object 0123', 'damaged'],
  ['error: file ./objects/pack/pack-0123.pack is not a GIT packfile', 'damaged'],
  ["fatal: not a git repository: '/mirror'", 'damaged'],
  ['fatal: not a git repository (or any of the parent directories): .git', 'damaged'],
  ['fatal: --stdin requires a git repository\nfatal: fetch-pack: invalid index-pack output', 'damaged'],
  ['fatal: Unable to read current working directory: No such file or directory', 'damaged'],
  [
    'error: Could not read 8a33a105e6a73a73ae2da9ec5be751fd9f77e569\nfatal: refusing to merge unrelated histories',
    'damaged',
  ],
  [
    'fatal: could not fetch 0123 from promisor remote\nerror: Could not read 8a33a105e6a73a73ae2da9ec5be751fd9f77e569',
    'unreachable',
  ],
  ["fatal: '/x' does not appear to be a git repository", 'unreachable'],
])('%j is %s', (output, kind) => {
  expect(classifyGitOutput(output)).toBe(kind);
});

it('a file that we write on a full disk fails as git does there, and any other error is left as it is', async () => {
  const full = await writeFile('/dev/full', 'x').catch(wrapDiskError);
  expect(full).toBeInstanceOf(GitError);
  expect(full).toMatchObject({ kind: 'no_room' });
  expect(await writeFile('/nowhere/x', 'x').catch(wrapDiskError)).toMatchObject({ code: 'ENOENT' });
});

it('an error holds each line of progress as it was shown last, and the text after it', () => {
  const text =
    'remote: Counting objects: 1%\rremote: Counting objects: 100%, done.\nReceiving: 43%\rfatal: early EOF\r\n';
  expect(withoutProgress(text)).toBe('remote: Counting objects: 100%, done.\nfatal: early EOF\n');
});

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gitHttp, listenOnLoopback } from '../../test/support/git-http.ts';
import { makeRemote, temporaryFolder, type TestRemote } from '../../test/support/git-remote.ts';
import { buildCandidate, type TestCommitMember, type MergeMethod } from './candidate/candidate.ts';
import type { GitError } from './error.ts';
import { type MirrorOptions, openMirror } from './mirror/mirror.ts';

const text = (name: string, line = '') =>
  Array.from({ length: 30 }, (_, index) => `line ${index} of ${name}${index === 3 ? line : ''}\n`).join('');
const endOf = (content: string, line: string) => `${content}${line}\n`;

/** A branch that changed a file which pull requests changed too, and one that renames it, on a Git host over http. */
async function makeWorld({ allowsFilter = true } = {}) {
  const remote = makeRemote();
  remote.git('config', 'uploadpack.allowFilter', String(allowsFilter));
  const names = Array.from({ length: 40 }, (_, index) => `dir-${index % 4}/file-${index}`);
  const base = remote.commit({ files: Object.fromEntries(names.map((name) => [name, text(name)])) });
  const shared = names[0]!;
  const tip = remote.commit({ parents: [base], files: { [shared]: text(shared, ' on main') } });
  remote.set('refs/heads/main', tip);
  const heads = [
    remote.commit({ parents: [base], files: { [shared]: endOf(text(shared), 'pull request 1') } }),
    remote.commit({ parents: [base], files: { [names[1]!]: endOf(text(names[1]!), 'pull request 2') } }),
    remote.commit({ parents: [base], files: { [names[2]!]: null, moved: endOf(text(names[2]!), 'moved') } }),
    remote.commit({ parents: [base], files: { [names[2]!]: text(names[2]!, ' by 4') } }),
  ];
  for (const [index, sha] of heads.entries()) remote.set(`refs/pull/${index + 1}/head`, sha);
  let token = 'first';
  let isAway = false;
  const asked: string[] = [];
  const backend = gitHttp(dirname(remote.path), { authorization: () => `Bearer ${token}` });
  const { url, close } = await listenOnLoopback((request, response) => {
    asked.push(request.url!);
    if (isAway) response.writeHead(503).end();
    else backend(request, response);
  });
  onTestFinished(close);
  const open = async (options?: MirrorOptions) => {
    const source = async () => ({ url: `${url}/remote.git`, headers: [`Authorization: Bearer ${token}`] });
    const mirror = await openMirror(join(temporaryFolder(), 'mirror.git'), source, options);
    onTestFinished(mirror.close);
    return mirror;
  };
  const pulls = heads.map((sha, index) => ({ number: index + 1, sha }));
  const members = pulls.map(({ number, sha }): TestCommitMember => ({
    number,
    headSha: sha,
    title: `Change ${number}`,
    body: '',
    url: '',
    author: null,
    at: new Date(1_750_000_000_000),
  }));
  const setToken = (next: string) => (token = next);
  const setAway = (next: boolean) => (isAway = next);
  return { remote, base, tip, shared, names, pulls, members, asked, open, setToken, setAway };
}

const filesIn = (remote: TestRemote, path: string) =>
  remote.git('--git-dir', path, 'cat-file', '--batch-all-objects', '--batch-check').match(/ blob /g)
    ?.length ?? 0;

it.each(['squash', 'merge_commit', 'rebase'] satisfies MergeMethod[])(
  'a partial mirror builds and pushes the same commits as a whole one: %s',
  async (method) => {
    const { open, pulls, members, tip, remote } = await makeWorld();
    const [partial, whole] = [await open(), await open({ isPartial: false })];
    const build = async (mirror: typeof partial) => {
      await mirror.fetch({ branch: 'main', pulls });
      return buildCandidate(mirror, { base: tip, members, method });
    };
    const built = await build(partial);
    expect(built).toMatchObject({ kind: 'built' });
    expect(built).toEqual(await build(whole));
    if (built.kind !== 'built') return;
    const ref = 'refs/heads/signalbox/main/x';
    expect(await partial.push([{ ref, from: null, to: built.sha }])).toEqual({ kind: 'pushed' });
    expect(remote.git('rev-parse', ref)).toBe(built.sha);
    expect(remote.git('fsck', '--connectivity-only')).not.toMatch(/missing|broken/);
  },
);

it('a partial mirror has few of the files, and those of new pull requests come with one request for all', async () => {
  const { open, remote, names, asked, pulls, members, tip } = await makeWorld();
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls: [] });
  asked.length = 0;
  await mirror.fetch({ branch: 'main', pulls });
  // The references, their commits in at most two rounds, and the files with a listing of their own.
  expect(asked.filter((url) => url.endsWith('/git-upload-pack')).length).toBeLessThanOrEqual(5);
  expect(filesIn(remote, mirror.directory)).toBeLessThan(names.length / 2);
  asked.length = 0;
  await buildCandidate(mirror, { base: tip, members: members.slice(0, 2), method: 'squash' });
  expect(asked).toEqual([]);
});

it('a Git host that cannot leave files out sends them all', async () => {
  const { open, pulls, members, tip, asked } = await makeWorld({ allowsFilter: false });
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls });
  asked.length = 0;
  expect(await buildCandidate(mirror, { base: tip, members, method: 'squash' })).toMatchObject({
    kind: 'built',
  });
  expect(asked).toEqual([]);
});

it('a merge fetches what it lacks, with the credential of now', async () => {
  const { open, pulls, members, tip, remote, shared, setToken } = await makeWorld();
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls });
  const first = await buildCandidate(mirror, { base: tip, members: members.slice(1, 2), method: 'squash' });
  expect(first).toMatchObject({ kind: 'built' });
  // Its file is on no pull request, so that it has not come with any.
  const next = remote.commit({ parents: [tip], files: { [shared]: text(shared, ' on main, later') } });
  remote.set('refs/heads/main', next);
  setToken('second');
  await mirror.fetch({ branch: 'main', pulls: [] });
  const second = await buildCandidate(mirror, { base: next, members: members.slice(0, 1), method: 'squash' });
  expect(second).toMatchObject({ kind: 'built' });
});

it('a merge that lacks a file while the Git host is unreachable is no fault of the pull request', async () => {
  const { open, pulls, members, tip, remote, shared, setAway } = await makeWorld();
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls });
  const next = remote.commit({ parents: [tip], files: { [shared]: text(shared, ' on main, later') } });
  remote.set('refs/heads/main', next);
  await mirror.fetch({ branch: 'main', pulls: [] });
  const build = () => buildCandidate(mirror, { base: next, members: members.slice(0, 1), method: 'squash' });
  setAway(true);
  const error = await build().catch((thrown: unknown) => thrown as GitError);
  expect(error).toMatchObject({ kind: 'unreachable' });
  setAway(false);
  expect(await build()).toMatchObject({ kind: 'built' });
});

it('a file is fetched when it is read, and a name that means nothing is not asked for', async () => {
  const { open, tip, names, asked } = await makeWorld();
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls: [] });
  asked.length = 0;
  expect(await mirror.readFile(tip, 'none')).toBeNull();
  expect(await mirror.readFile(tip, 'dir-1')).toBeNull();
  await expect(mirror.treeOf('0123456789'.repeat(4))).rejects.toMatchObject({ kind: 'missing' });
  expect(asked).toEqual([]);
  expect(await mirror.readFile(tip, names[7]!)).toBe(text(names[7]!));
  const requests = asked.length;
  expect(await mirror.readFile(tip, names[7]!)).toBe(text(names[7]!));
  expect(asked).toHaveLength(requests);
});

it('a partial mirror is tidied without fetching anything, and works after it', async () => {
  const { open, pulls, members, tip, asked } = await makeWorld();
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls });
  await buildCandidate(mirror, { base: tip, members: members.slice(0, 2), method: 'squash' });
  asked.length = 0;
  await mirror.tidy();
  expect(asked).toEqual([]);
  const built = await buildCandidate(mirror, { base: tip, members, method: 'rebase' });
  expect(built).toMatchObject({ kind: 'built' });
  expect((await mirror.fetch({ branch: 'main', pulls })).missing).toEqual([]);
});

it('references of pull requests are removed, and one that is named again is there', async () => {
  const { open, pulls } = await makeWorld();
  const mirror = await open();
  await mirror.fetch({ branch: 'main', pulls });
  expect(new Set(await mirror.pullNumbers())).toEqual(new Set([1, 2, 3, 4]));
  await mirror.dropPulls([1, 3, 99]);
  expect(new Set(await mirror.pullNumbers())).toEqual(new Set([2, 4]));
  expect((await mirror.fetch({ branch: 'main', pulls })).missing).toEqual([]);
  expect(await mirror.treeOf(pulls[0]!.sha)).toHaveLength(40);
});

it('a head that git cannot compare does not keep the others from being fetched', async () => {
  const { open, pulls, members, tip, asked } = await makeWorld();
  const program = temporaryFolder();
  const script = `#!/bin/sh\ncase "$*" in *diff-tree*${pulls[0]!.sha}*) echo broken >&2; exit 1;; esac\nPATH=/usr/local/bin:/usr/bin:/bin exec git "$@"\n`;
  writeFileSync(join(program, 'git'), script, { mode: 0o755 });
  const mirror = await open({ environment: { PATH: `${program}:/usr/local/bin:/usr/bin:/bin` } });
  await mirror.fetch({ branch: 'main', pulls: [] });
  expect(await mirror.fetch({ branch: 'main', pulls: pulls.slice(0, 2) })).toMatchObject({ missing: [] });
  const before = asked.length;
  const request = { base: tip, method: 'squash', members: members.slice(1, 2) } as const;
  expect(await buildCandidate(mirror, request)).toMatchObject({ kind: 'built' });
  expect(asked.length).toBe(before);
});

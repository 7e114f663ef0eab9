import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gitHttp, listenOnLoopback } from '../../../test/support/git-http.ts';
import { makeRemote, temporaryFolder } from '../../../test/support/git-remote.ts';
import { openSlowLink } from '../../../test/support/slow-link.ts';
import type { GitError } from '../error.ts';
import type { FetchProgress } from './first-fetch.ts';
import { type MirrorOptions, openMirror } from './mirror.ts';
import { receivedIn } from './progress.ts';

/** In stages from the start, and each as small as it can be. */
const inStages = { patienceMs: 0, observeMs: 0, stageMs: 300 };
const kilobytes = 40;

/** A history of commits, each with other contents of a file that cannot be compressed, behind a link. */
async function makeWorld(commits: number, rate?: number) {
  const remote = makeRemote();
  let tip = remote.commit({ files: { first: 'x' } });
  const base = tip;
  for (let number = 1; number <= commits; number++) {
    const files = { data: randomBytes(kilobytes * 1024) };
    tip = remote.commit({ parents: [tip], files, message: `Commit ${number}` });
  }
  remote.set('refs/heads/main', tip);
  const asked: string[] = [];
  const onRequest = ({ method, url }: IncomingMessage) => asked.push(`${method} ${url}`);
  const server = await listenOnLoopback(gitHttp(dirname(remote.path), { onRequest }));
  const link = await openSlowLink(server.port, rate);
  onTestFinished(link.close);
  onTestFinished(server.close);
  const path = join(temporaryFolder(), 'mirror.git');
  const open = async (options: MirrorOptions = {}) => {
    const mirror = await openMirror(path, { url: `http://127.0.0.1:${link.port}/remote.git` }, options);
    onTestFinished(mirror.close);
    return mirror;
  };
  return { remote, base, tip, asked, link, path, open };
}

const request = { branch: 'main', pulls: [] };
const failureOf = (promise: Promise<unknown>): Promise<GitError> =>
  promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error as GitError,
  );

it('a repository of ordinary size comes in one fetch', async () => {
  const { open, tip, asked, path } = await makeWorld(5);
  const mirror = await open();
  expect((await mirror.fetch(request)).tip).toBe(tip);
  // An offer and two questions, then the same without a pack for the fetch that was asked for.
  expect(asked.filter((line) => line.startsWith('POST')).length).toBeLessThanOrEqual(3);
  expect(readdirSync(path).filter((name) => /shallow|first-fetch/.test(name))).toEqual([]);
});

it('a fetch of a large repository that is interrupted twice continues where it was, and completes', async () => {
  const commits = 60;
  const { open, tip, base, link, path, remote } = await makeWorld(commits, 2_000_000);
  const options = { isPartial: false, firstFetchPace: inStages };
  for (const share of [0.3, 0.6]) {
    const mirror = await open(options);
    const fetching = failureOf(mirror.fetch(request));
    const wanted = commits * kilobytes * 1024 * share;
    await expect.poll(link.received, { timeout: 60_000, interval: 5 }).toBeGreaterThan(wanted);
    // What is there is not the whole history: nothing is read from it.
    expect(existsSync(join(path, 'shallow'))).toBe(true);
    expect(await failureOf(mirror.treeOf(tip))).toMatchObject({ kind: 'fetching' });
    link.cut();
    expect(await fetching).toMatchObject({ kind: 'unreachable' });
    await mirror.close();
  }
  const before = link.received();
  const mirror = await open(options);
  expect((await mirror.fetch(request)).tip).toBe(tip);
  expect(await mirror.contains(base, tip)).toBe(true);
  expect(await mirror.commitsBetween(base, tip)).toHaveLength(commits);
  const size = commits * kilobytes * 1024;
  // The rest, and what one stage had received when it was cut off.
  expect(link.received() - before).toBeLessThan(size * 0.75);
  expect(remote.git('--git-dir', path, 'fsck', '--connectivity-only')).not.toMatch(/missing|broken/);
});

it('a fetch may take longer than any time-out while bytes come, and ends soon when none do', async () => {
  const { open, tip, link } = await makeWorld(20, 150_000);
  const slow = await open({ isPartial: false, timeoutMs: 3_000 });
  const startedAt = performance.now();
  expect((await slow.fetch(request)).tip).toBe(tip);
  expect(performance.now() - startedAt).toBeGreaterThan(4_000);
  link.setRate(0);
  const stalledAt = performance.now();
  expect(await failureOf(slow.fetch(request))).toMatchObject({ kind: 'unreachable', output: /nothing came/ });
  expect(performance.now() - stalledAt).toBeLessThan(10_000);
});

it('a caller that needs a repository that is still being fetched learns how far it is, and nothing is fetched twice', async () => {
  const { open, tip, link } = await makeWorld(30, 300_000);
  const seen: FetchProgress[] = [];
  let wholes = 0;
  const onFirstFetch = { progress: (now: FetchProgress) => seen.push(now), whole: () => (wholes += 1) };
  const mirror = await open({ isPartial: false, firstFetchWaitMs: 100, onFirstFetch });
  const texts: string[] = [];
  await expect
    .poll(
      async () => {
        const outcome = await mirror.fetch(request).catch((error: unknown) => error as GitError);
        if ('output' in outcome) texts.push(outcome.output);
        return 'tip' in outcome ? outcome.tip : outcome.kind;
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBe(tip);
  expect(texts.some((text) => /first time: \d+ %\./.test(text))).toBe(true);
  expect(seen.at(-1)!.percent).toBeGreaterThan(50);
  expect(seen.at(-1)!.bytes).toBeGreaterThan(0);
  expect(wholes).toBe(1);
  expect(link.received()).toBeLessThan(30 * kilobytes * 1024 * 1.2);
});

it('the progress of stages is that of the whole repository', async () => {
  const { open, tip } = await makeWorld(30, 500_000);
  const seen: number[] = [];
  const progress = ({ percent }: FetchProgress) => void (percent !== null && seen.push(percent));
  const pace = { patienceMs: 1_500, observeMs: 200, stageMs: 200 };
  const onFirstFetch = { progress, whole: () => undefined };
  const mirror = await open({ isPartial: false, firstFetchPace: pace, onFirstFetch });
  expect((await mirror.fetch(request)).tip).toBe(tip);
  expect(seen.at(-1)).toBeGreaterThan(80);
});

it('what a killed process left behind is taken over', async () => {
  const { open, tip, path } = await makeWorld(3);
  await (await open()).close();
  const left = ['first-fetch.lock', 'shallow.lock', 'objects/pack/tmp_pack_abc'];
  for (const name of left) writeFileSync(join(path, name), '');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(join(path, 'first-fetch.lock'), longAgo, longAgo);
  const mirror = await open({ firstFetchPace: inStages });
  expect((await mirror.fetch(request)).tip).toBe(tip);
  for (const name of left) expect(existsSync(join(path, name))).toBe(false);
});

it('two mirrors of the same folder fetch it once', async () => {
  const { open, tip, link } = await makeWorld(20, 2_000_000);
  const all = await Promise.all([open({ isPartial: false }), open({ isPartial: false })]);
  for (const { tip: found } of await Promise.all(all.map((mirror) => mirror.fetch(request))))
    expect(found).toBe(tip);
  expect(link.received()).toBeLessThan(20 * kilobytes * 1024 * 1.5);
});

it('a mirror that is closed ends its first fetch', async () => {
  const { open, link, path } = await makeWorld(20, 100_000);
  const mirror = await open({ isPartial: false, firstFetchWaitMs: 10 });
  expect(await failureOf(mirror.fetch(request))).toMatchObject({ kind: 'fetching' });
  await expect.poll(link.received, { timeout: 20_000 }).toBeGreaterThan(50_000);
  await mirror.close();
  expect(existsSync(join(path, 'first-fetch.lock'))).toBe(false);
  expect(readdirSync(join(path, 'objects/pack'))).toEqual([]);
});

it('a branch that does not exist is found out by the fetch after the first', async () => {
  const { open } = await makeWorld(1);
  expect((await (await open()).fetch({ branch: 'none', pulls: [] })).tip).toBeNull();
});

it('the progress of git is read', () => {
  const text = 'Receiving objects:  10% (1/10)\rReceiving objects:  43% (430/1000), 12.50 MiB | 5.01 MiB/s\r';
  expect(receivedIn(text)).toEqual({ received: 430, total: 1000, bytes: 12.5 * 1_048_576 });
  expect(receivedIn('Receiving objects: 100% (3/3), 296 bytes | 296.00 KiB/s, done.')?.bytes).toBe(296);
  expect(receivedIn('remote: Counting objects: 10% (1/10)')).toBeNull();
});

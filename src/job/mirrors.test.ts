import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RepositoryId } from '#base/id.ts';
import { gitHttp, listenOnLoopback } from '../../test/support/git-http.ts';
import { makeRemote, temporaryFolder } from '../../test/support/git-remote.ts';
import { openSlowLink } from '../../test/support/slow-link.ts';
import { bytesIn, listMirrors, mirrorsToRemove } from './mirror-disk.ts';
import { isTidyDue } from './mirror-upkeep.ts';
import { createMirrors, type MirrorsOptions } from './mirrors.ts';

function remoteWith(message: string) {
  const remote = makeRemote();
  remote.set('refs/heads/main', remote.commit({ files: { a: message }, message }));
  return remote;
}

const id = randomUUID() as RepositoryId;

function openMirrors(folder = temporaryFolder()) {
  const mirrors = createMirrors(folder);
  onTestFinished(mirrors.close);
  const fetched = async (url: string) => {
    const mirror = await mirrors.open(id, () => Promise.resolve({ url }));
    const { tip } = await mirror.fetch({ branch: 'main', pulls: [] });
    return (await mirror.commit(tip!)).message.trim();
  };
  return { mirrors, fetched };
}

it('a repository that is served from another address is fetched from there, and never from the one before', async () => {
  const [one, two] = [remoteWith('sandbox'), remoteWith('github')];
  const { mirrors, fetched } = openMirrors();
  const first = await mirrors.open(id, () => Promise.resolve({ url: one.path }));
  expect(await fetched(two.path)).toBe('github');
  expect(await fetched(one.path)).toBe('sandbox');
  expect(await mirrors.open(id, () => Promise.resolve({ url: one.path }))).toBe(first);
});

it('a mirror that was opened before the address changed does not push to the new one', async () => {
  const [one, two] = [remoteWith('sandbox'), remoteWith('github')];
  let url = one.path;
  const { mirrors } = openMirrors();
  const mirror = await mirrors.open(id, () => Promise.resolve({ url }));
  url = two.path;
  await expect(mirror.fetch({ branch: 'main', pulls: [] })).rejects.toThrow('another URL');
});

it('the credential is taken from the newest use', async () => {
  const remote = remoteWith('github');
  const { mirrors } = openMirrors();
  const mirror = await mirrors.open(id, () => Promise.resolve({ url: remote.path }));
  const asked: string[] = [];
  await mirrors.open(id, () => {
    asked.push('newest');
    return Promise.resolve({ url: remote.path });
  });
  await mirror.fetch({ branch: 'main', pulls: [] });
  // For the opening, the first fetch of the repository, and the fetch that was asked for.
  expect(asked).toEqual(['newest', 'newest', 'newest']);
});

it('a mirror of an earlier release is used on', async () => {
  const remote = remoteWith('github');
  const folder = join(temporaryFolder(), 'mirrors');
  mkdirSync(folder);
  expect(await openMirrors(folder).fetched(remote.path)).toBe('github');
  const [made] = readdirSync(folder);
  renameSync(join(folder, made!), join(folder, `${id}.git`));
  const { mirrors, fetched } = openMirrors(folder);
  expect(await fetched(remote.path)).toBe('github');
  expect(readdirSync(folder).toSorted()).toEqual([`${id}.git`, made!].toSorted());
  // A worker of the earlier release finds it by the name that it knows, and it counts once.
  expect(realpathSync(join(folder, `${id}.git`))).toBe(realpathSync(join(folder, made!)));
  expect((await listMirrors(folder)).map(({ path }) => path)).toEqual([join(folder, made!)]);
  await mirrors.discard(id);
  expect(await listMirrors(folder)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

describe('a disk budget', () => {
  const kilobytes = 200;

  /** Three repositories of the same size, and a budget for so many of them. */
  async function makeWorld(budget: number) {
    const folder = join(temporaryFolder(), 'mirrors');
    const removed: string[] = [];
    const reports: NonNullable<MirrorsOptions['reports']> = {
      fetching: () => undefined,
      ready: () => undefined,
      removed: (repositoryId) => removed.push(repositoryId),
    };
    const options = { budgetBytes: budget * kilobytes * 1024, reports };
    const mirrors = createMirrors(folder, options);
    onTestFinished(mirrors.close);
    const repositories = ['a', 'b', 'c'].map(() => {
      const remote = makeRemote();
      const tip = remote.commit({ files: { data: randomBytes(kilobytes * 1024) } });
      remote.set('refs/heads/main', tip);
      return { id: randomUUID() as RepositoryId, remote, tip };
    });
    type Repository = (typeof repositories)[number];
    const open = ({ id, remote }: Repository) =>
      mirrors.open(id, () => Promise.resolve({ url: remote.path }));
    const fetch = async (repository: Repository) => {
      const { tip } = await (await open(repository)).fetch({ branch: 'main', pulls: [] });
      expect(tip).toBe(repository.tip);
    };
    const use = async (repository: Repository) => {
      await fetch(repository);
      mirrors.leave(repository.id);
      await mirrors.maintain();
    };
    /** As if it had not been used for a while. */
    const age = (repository: Repository, seconds: number) => {
      const name = readdirSync(folder).find((each) => each.startsWith(repository.id))!;
      const then = new Date(Date.now() - seconds * 1_000);
      utimesSync(join(folder, name, 'signalbox-used'), then, then);
    };
    const there = () =>
      repositories.map(({ id: each }) => readdirSync(folder).some((name) => name.startsWith(each)));
    return { mirrors, repositories, folder, removed, open, fetch, use, age, there };
  }

  it('for two of three repositories keeps the two that were used last, and the third is fetched again', async () => {
    const { repositories, folder, removed, use, age, there } = await makeWorld(2.5);
    const [a, b, c] = repositories as [Repo, Repo, Repo];
    await use(a);
    age(a, 300);
    await use(b);
    age(b, 200);
    expect(there()).toEqual([true, true, false]);
    await use(c);
    expect([there(), removed]).toEqual([[false, true, true], [a.id]]);
    age(c, 100);
    await use(a);
    expect([there(), removed]).toEqual([
      [true, false, true],
      [a.id, b.id],
    ]);
    expect(await bytesIn(folder)).toBeLessThan(2.5 * kilobytes * 1024);
  });
  type Repo = Awaited<ReturnType<typeof makeWorld>>['repositories'][number];

  it('never takes a mirror that is in use, and takes it once it is not', async () => {
    const { mirrors, repositories, open, fetch, use, age, there } = await makeWorld(0.5);
    const [a, b] = repositories as [Repo, Repo, Repo];
    const mirror = await open(a);
    await fetch(a);
    age(a, 300);
    await use(b);
    expect(there()).toEqual([true, false, false]);
    expect(await mirror.treeOf(a.tip)).toHaveLength(40);
    mirrors.leave(a.id);
    await mirrors.maintain();
    expect(there()).toEqual([true, false, false]);
    mirrors.leave(a.id);
    await mirrors.maintain();
    expect(there()).toEqual([false, false, false]);
    await fetch(a);
  });

  it('leaves a repository that is being fetched for the first time, though no job waits for it', async () => {
    const { mirrors, repositories, there, use } = await makeWorld(0.1);
    const [a, b] = repositories as [Repo, Repo, Repo];
    const server = await listenOnLoopback(gitHttp(dirname(a.remote.path)));
    const link = await openSlowLink(server.port, 40_000);
    onTestFinished(server.close);
    onTestFinished(link.close);
    const url = `http://127.0.0.1:${link.port}/remote.git`;
    const mirror = await mirrors.open(a.id, () => Promise.resolve({ url }));
    const fetching = Promise.allSettled([mirror.fetch({ branch: 'main', pulls: [] })]);
    await expect.poll(mirror.isFetching).toBe(true);
    mirrors.leave(a.id);
    await use(b);
    expect([there(), mirror.isFetching()]).toEqual([[true, false, false], true]);
    link.setRate(Number.POSITIVE_INFINITY);
    await fetching;
    await mirrors.maintain();
    expect(there()).toEqual([false, false, false]);
  });

  it('is set aside where the disk is full: the mirror that was used least recently goes, and none in use', async () => {
    const { mirrors, repositories, open, use, age, there } = await makeWorld(10);
    for (const [index, repository] of repositories.entries()) {
      await use(repository);
      age(repository, 300 - index);
    }
    await open(repositories[0]!);
    await mirrors.makeRoom();
    expect(there()).toEqual([true, false, true]);
    await mirrors.makeRoom();
    await mirrors.makeRoom();
    expect(there()).toEqual([true, false, false]);
  });

  it('leaves what another process with the same folder used a moment ago', async () => {
    const { repositories, folder, use, there } = await makeWorld(10);
    for (const repository of repositories) await use(repository);
    const stranger = createMirrors(folder, { budgetBytes: 1 });
    onTestFinished(stranger.close);
    await stranger.maintain();
    expect(there()).toEqual([true, true, true]);
  });

  it('says whether what remains fits', () => {
    const mirror = (path: string, usedAt: number) => ({ path, bytes: 10, usedAt });
    const all = [mirror('new', 3), mirror('old', 1), mirror('middle', 2)];
    const removedAt = (budget: number, inUse: readonly string[]) => {
      const { remove, fits } = mirrorsToRemove(all, budget, ({ path }) => inUse.includes(path));
      return [remove.map(({ path }) => path), fits];
    };
    expect(removedAt(30, [])).toEqual([[], true]);
    expect(removedAt(25, [])).toEqual([['old'], true]);
    expect(removedAt(25, ['old'])).toEqual([['middle'], true]);
    expect(removedAt(5, ['old'])).toEqual([['middle', 'new'], false]);
  });
});

it('a mirror that was deleted under the process is made again', async () => {
  const remote = remoteWith('github');
  const folder = join(temporaryFolder(), 'mirrors');
  const { mirrors, fetched } = openMirrors(folder);
  expect(await fetched(remote.path)).toBe('github');
  mirrors.leave(id);
  rmSync(folder, { recursive: true });
  expect(await fetched(remote.path)).toBe('github');
});

it('a mirror is tidied once a day, however often it is used', async () => {
  const remote = remoteWith('github');
  const folder = join(temporaryFolder(), 'mirrors');
  const { mirrors, fetched } = openMirrors(folder);
  await fetched(remote.path);
  const [name] = readdirSync(folder);
  const packs = () =>
    readdirSync(join(folder, name!, 'objects/pack')).filter((file) => file.endsWith('.pack'));
  const before = packs();
  for (let use = 0; use < 20; use++) await fetched(remote.path);
  await mirrors.maintain();
  expect(packs()).toEqual(before);
  remote.set('refs/heads/main', remote.commit({ files: { a: 'other' }, message: 'other' }));
  expect(await fetched(remote.path)).toBe('other');
  const yesterday = new Date(Date.now() - 86_500_000);
  utimesSync(join(folder, name!, 'signalbox-tidied'), yesterday, yesterday);
  await mirrors.maintain();
  expect(packs()).not.toEqual(before);
  const after = packs();
  await mirrors.maintain();
  expect(packs()).toEqual(after);
  expect(await fetched(remote.path)).toBe('other');
});

it('a mirror with many packs is tidied every three hours', () => {
  const hours = (count: number) => count * 3_600_000;
  expect([isTidyDue(hours(23), 500), isTidyDue(hours(24), 0)]).toEqual([false, true]);
  expect([isTidyDue(hours(2.9), 501), isTidyDue(hours(3), 501)]).toEqual([false, true]);
});

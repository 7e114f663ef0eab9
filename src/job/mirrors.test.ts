import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { RepositoryId } from '#base/id.ts';
import { makeRemote, temporaryFolder } from '../../test/git-remote.ts';
import { createMirrors } from './mirrors.ts';

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
  await expect(mirror.fetch({ branch: 'main', pulls: [] })).rejects.toThrow('another address');
});

it('what lets us in is taken from the newest use', async () => {
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
  expect(await openMirrors(folder).fetched(remote.path)).toBe('github');
  expect(readdirSync(folder)).toEqual([made]);
});

// A mirror of a remote with one commit.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Mirror, type MirrorOptions, openMirror } from '#git/mirror/mirror.ts';
import { makeRemote, temporaryFolder, type TestRemote } from './git-remote.ts';

export type MirrorWorld = {
  readonly remote: TestRemote;
  readonly mirror: Mirror;
  readonly path: string;
  readonly base: string;
};

export async function makeMirrorWorld(options?: MirrorOptions): Promise<MirrorWorld> {
  const remote = makeRemote();
  const base = remote.commit({ files: { 'a.txt': 'a\n', '.signalbox.yaml': 'version: 1\n' } });
  remote.set('refs/heads/main', base);
  const path = join(temporaryFolder(), 'deep', 'mirror.git');
  const mirror = await openMirror(path, { url: remote.path }, options);
  onTestFinished(mirror.close);
  return { remote, mirror, path, base };
}

export const thrown = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
export const unknownSha = '0123456789'.repeat(4);

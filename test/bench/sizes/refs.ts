// What a poll of a queue costs over git where the Git host has 100,000 references that are not ours, as GitHub keeps one of
// every pull request ever opened: the bytes that the remote sends for it, beside those of the same poll without them.

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMirror } from '#git/mirror/mirror.ts';
import { refsToPoll } from '#job/queue/sweep.ts';
import { goal } from '../figure.ts';
import { temporaryDir } from '../fixture.ts';
import { git, makeRepository, repositoryIn, serve } from './git-world.ts';
import type { Part } from './part.ts';

const refCount = 100_000;

export const refsPart: Part = {
  name: 'refs',
  measure: async (cleanup) => {
    const folder = temporaryDir(cleanup, 'signalbox-bench-refs-');
    const remote = repositoryIn(folder, 'remote.git');
    const tip = await makeRepository(remote, { commits: 20, bytesPerCommit: 1_000, files: 5 });
    const parent = git(remote, 'rev-parse', 'refs/heads/main~1');
    git(remote, 'update-ref', 'refs/heads/signalbox/main/pr-1/00000000-0000-4000-8000-000000000000', parent);
    git(remote, 'pack-refs', '--all');
    const { url, sent } = await serve(cleanup, folder);
    const poll = async (name: string) => {
      git(remote, 'update-ref', 'refs/heads/main', parent);
      const mirror = await openMirror(join(folder, name), { url: url('remote.git') });
      await mirror.fetch({ branch: 'main', pulls: [] });
      const cost = async (work: () => Promise<unknown>) => {
        const before = sent();
        const startedAt = performance.now();
        await work();
        return { bytes: sent() - before, ms: performance.now() - startedAt };
      };
      const listing = await cost(() => mirror.remoteRefs(refsToPoll('main', false)));
      git(remote, 'update-ref', 'refs/heads/main', tip);
      const fetch = await cost(() => mirror.fetch({ branch: 'main', pulls: [] }));
      await mirror.close();
      return { listing, fetch };
    };
    const before = await poll('before.git');
    addRefs(remote, parent);
    const after = await poll('after.git');
    const line = (name: string, { listing, fetch }: typeof before) =>
      `${name}: a poll ${listing.bytes} bytes in ${listing.ms.toFixed(0)} ms, a fetch of a branch that moved ${fetch.bytes} bytes in ${fetch.ms.toFixed(0)} ms`;
    return {
      lines: [line('2 references', before), line(`${refCount} more`, after)],
      goals: [
        goal(`poll with ${refCount} references, bytes`, after.listing.bytes, '<=', before.listing.bytes),
        goal(`fetch with ${refCount} references, bytes`, after.fetch.bytes, '<=', before.fetch.bytes + 64),
      ],
    };
  },
};

/** Half of pull requests, half branches, written as git itself packs them. */
function addRefs(remote: string, sha: string): void {
  const names = Array.from({ length: refCount }, (_, index) =>
    index % 2 === 0 ? `refs/pull/${index}/head` : `refs/heads/feature-${index}`,
  );
  const own = git(remote, 'for-each-ref', '--format=%(refname) %(objectname)')
    .split('\n')
    .map((line) => line.split(' ') as [string, string]);
  const all = new Map<string, string>([...names.map((name) => [name, sha] as const), ...own]);
  const sorted = [...all].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const file = join(remote, 'packed-refs');
  writeFileSync(file, '# pack-refs with: peeled fully-peeled sorted \n');
  appendFileSync(file, sorted.map(([name, target]) => `${target} ${name}\n`).join(''));
}

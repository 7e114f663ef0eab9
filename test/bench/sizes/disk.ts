// Three repositories over a disk budget for two: one is used all the time, the other two in turn. The mirrors never take
// more than the budget once a job has ended, the one that is used all the time is never fetched again, no mirror goes
// while a job uses it, and every fetch succeeds.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { RepositoryId } from '#base/id.ts';
import { listMirrors } from '#job/mirror-disk.ts';
import { createMirrors } from '#job/mirrors.ts';
import { goal } from '../figure.ts';
import { temporaryDir } from '../fixture.ts';
import { makeRepository, repositoryIn, serve } from './git-world.ts';
import type { Part } from './part.ts';

const size = { commits: 30, bytesPerCommit: 1_000_000, files: 8 };
const rounds = 6;

export const diskPart: Part = {
  name: 'disk',
  measure: async (cleanup) => {
    const folder = temporaryDir(cleanup, 'signalbox-bench-disk-');
    const { url } = await serve(cleanup, folder);
    const names = ['a.git', 'b.git', 'c.git'];
    const repositories = await Promise.all(
      names.map(async (name) => {
        const tip = await makeRepository(repositoryIn(folder, name), size);
        return { id: randomUUID() as RepositoryId, url: url(name), tip };
      }),
    );
    const each = size.commits * size.bytesPerCommit;
    const budgetBytes = 2.2 * each;
    const fetched = new Map<string, number>();
    const removed: string[] = [];
    const directory = join(folder, 'mirrors');
    const mirrors = createMirrors(directory, {
      budgetBytes,
      reports: {
        fetching: () => undefined,
        ready: (id) => void fetched.set(id, (fetched.get(id) ?? 0) + 1),
        removed: (id) => void removed.push(id),
      },
    });
    cleanup.add(mirrors.close);
    const taken = async () => (await listMirrors(directory)).reduce((sum, { bytes }) => sum + bytes, 0);
    let most = 0;
    let failures = 0;
    let takenInUse = 0;
    const [hot, ...others] = repositories as [Repository, Repository, Repository];
    const use = async (repository: Repository, meanwhile: () => Promise<void>) => {
      const mirror = await mirrors.open(repository.id, () => Promise.resolve({ url: repository.url }));
      const { tip } = await mirror.fetch({ branch: 'main', pulls: [] });
      await meanwhile();
      if (tip !== repository.tip) failures += 1;
      await mirror.treeOf(repository.tip).catch(() => (takenInUse += 1));
      mirrors.leave(repository.id);
      await mirrors.maintain();
    };
    for (let round = 0; round < rounds; round++) {
      // The job of the second one begins and ends while the first is in use.
      await use(hot, () => use(others[round % 2]!, async () => undefined));
      most = Math.max(most, await taken());
    }
    const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);
    return {
      lines: [
        `three repositories of ${megabytes(each)} MB, a budget of ${megabytes(budgetBytes)} MB, ${rounds} rounds`,
        `at most ${megabytes(most)} MB on disk; ${removed.length} mirrors removed, first fetches ${repositories.map(({ id }) => fetched.get(id) ?? 0).join(', ')}`,
      ],
      goals: [
        goal('three repositories over a budget for two, most on disk, ratio', most / budgetBytes, '<=', 1),
        goal('mirrors removed', removed.length, '>=', 1),
        goal('mirrors removed while in use, or fetches failed', takenInUse + failures, '<=', 0),
        goal('first fetches of the repository that is used all the time', fetched.get(hot.id) ?? 0, '<=', 1),
      ],
    };
  },
};

type Repository = { readonly id: RepositoryId; readonly url: string; readonly tip: string };

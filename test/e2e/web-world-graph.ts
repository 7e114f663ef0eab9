// The queues of the graph: lanes that share targets, a batch that is bisected, and a queue without its branch. Tests
// set every check result.

import { until } from '../bench/deployment.ts';
import type { World } from './web-world.ts';

type Main = { readonly repo: { host: string; owner: string; name: string }; readonly targetBranch: string };

const queueOf = (name: string, targetBranch = 'main'): Main => ({
  repo: { host: 'git.example', owner: 'acme', name },
  targetBranch,
});

export const lanes = queueOf('platform');
export const bisected = queueOf('shop');
export const stopped = queueOf('platform', 'release/9.x');

const changes: readonly { readonly number: number; readonly title: string; readonly targets: unknown }[] = [
  { number: 201, title: 'Move the core to new ids', targets: ['//api', '//core', '//core:ids', '//jobs'] },
  { number: 202, title: 'Rounder buttons', targets: ['//web', '//web:style'] },
  { number: 203, title: 'Bill by the day', targets: ['//api', '//billing', '//core'] },
  { number: 204, title: 'Show the bill', targets: ['//billing', '//web'] },
  { number: 205, title: 'Update the compiler', targets: 'ALL' },
  { number: 206, title: 'Spell the manual right', targets: [] },
  { number: 207, title: 'Search by date', targets: ['//search'] },
];

/** The pull requests of the bisected batch. */
export const batch = [301, 302, 303, 304];

export async function fillGraph(world: World): Promise<void> {
  const { call } = world;
  for (const { repo } of [lanes, bisected])
    await call('sandboxConfigureRepository', { repo, ci: { mode: 'manual' } });
  await call('createQueue', { ...lanes, mode: 'parallel', concurrency: 4, requiredStatuses: ['ci/test'] });
  for (const { number, title, targets } of changes) {
    await propose(world, lanes, number, title);
    await call('setImpactedTargets', { ...lanes, pr: { number }, impactedTargets: targets });
    await call('submitPullRequest', { ...lanes, pr: { number } });
  }
  await call('createQueue', { ...stopped, requiredStatuses: ['ci/test'] });
  await call('createQueue', {
    ...bisected,
    batch: true,
    batchingMinSize: batch.length,
    bisectionConcurrency: 1,
    requiredStatuses: ['ci/build', 'ci/test'],
  });
  for (const number of batch) {
    await propose(world, bisected, number, `Part ${number - 300} of the new basket`);
    await call('submitPullRequest', { ...bisected, pr: { number } });
  }
  await answer(world, bisected, batch, 'failure');
  await runOf(world, bisected, batch.slice(0, 2));
}

const propose = ({ call }: World, { repo, targetBranch }: Main, number: number, title: string) =>
  call('sandboxCreatePullRequest', {
    repo,
    pr: { number },
    title,
    author: ['ana', 'ben', 'chidi'][number % 3]!,
    baseBranch: targetBranch,
    files: { [`part/${number}.txt`]: `${number}\n` },
  });

/** The commit of the run that tests exactly these, once it is pushed. */
const runOf = ({ call }: World, main: Main, tested: readonly number[]): Promise<string> =>
  until(`a test run of ${tested.join()}`, async () => {
    const found = await call('getMergeQueueTestingDetails', main);
    const runs = 'testRuns' in found ? found.testRuns : [found];
    const run = runs.find(
      ({ testedPullRequests }) => testedPullRequests.map(({ prNumber }) => prNumber).join() === tested.join(),
    );
    return run?.testBranchSha ?? null;
  });

/** Reports the result of the run that tests exactly these, until the queue has processed it. */
export async function answer(
  world: World,
  main: Main,
  tested: readonly number[],
  state: 'success' | 'failure',
): Promise<void> {
  const { call } = world;
  const sha = await runOf(world, main, tested);
  await until(
    `an end of the run of ${tested.join()}`,
    async () => {
      for (const name of ['ci/build', 'ci/test'])
        await call('sandboxSetCheck', {
          repo: main.repo,
          sha,
          name,
          state: name === 'ci/test' ? state : 'success',
          url: `https://ci.example/${sha.slice(0, 8)}`,
        });
      const found = await call('getMergeQueueTestingDetails', main);
      const runs = 'testRuns' in found ? found.testRuns : [found];
      return runs.every(({ testBranchSha }) => testBranchSha !== sha) ? true : null;
    },
    { everyMs: 250, withinMs: 120_000 },
  );
}

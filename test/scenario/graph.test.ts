import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';

const openStory = storyTeller();
const lanes = { settings: { mode: 'parallel', concurrency: 3, requiredStatuses: ['build', 'test'] } };

it('tells the lanes of a queue with the targets that bind them', async () => {
  const { team, ci, client, main } = await openStory(lanes);
  await team.submit(1, { targets: ['//app', '//lib', '//web'], title: 'First' });
  await team.submit(2, { targets: ['//docs'] });
  await team.submit(3, { targets: ['//lib', '//app', '//tool'] });
  await team.submit(4, { targets: 'ALL' });
  await team.submit(5, { targets: [] });
  const graph = await client.call('getQueueGraph', main);
  expect(graph).toMatchObject({ mode: 'parallel', isCut: false, bisections: [] });
  expect(
    graph.groups.map((group) => [group.kind, group.pullRequests.map(({ prNumber }) => prNumber)]),
  ).toEqual([
    ['line', [1]],
    ['line', [2]],
    ['line', [3]],
    ['pending', [4]],
    ['pending', [5]],
  ]);
  const [first, , third, everything, nothing] = graph.groups;
  expect(first).toMatchObject({
    testRunId: (await ci.runOf(1)).testRunId,
    pullRequests: [{ prTitle: 'First', state: 'testing', impactedTargetCount: 3, impactsEverything: false }],
    dependsOn: [],
  });
  expect(third).toMatchObject({
    testRunId: (await ci.runOf(3)).testRunId,
    testedOn: [1],
    dependencyCount: 1,
    dependsOn: [{ prNumber: 1, why: 'targets', sharedTargetCount: 2, sharedTargets: ['//app', '//lib'] }],
  });
  expect(everything!.pullRequests[0]).toMatchObject({ impactedTargetCount: null, impactsEverything: true });
  expect(everything!.dependsOn.map(({ prNumber, why }) => [prNumber, why])).toEqual([
    [3, 'everything'],
    [2, 'everything'],
    [1, 'everything'],
  ]);
  expect(nothing).toMatchObject({ testRunId: null, dependsOn: [] });
});

it('names targets as they are after an upload that replaces another', async () => {
  const { team, client, main } = await openStory(lanes);
  await team.submit(1, { targets: ['//app', '//lib'] });
  await team.submit(2, { targets: ['//app'] });
  const shared = async () =>
    (await client.call('getQueueGraph', main)).groups.at(-1)!.dependsOn.map((each) => each.sharedTargets);
  expect(await shared()).toEqual([['//app']]);
  await team.impact(2, ['//lib']);
  expect(await shared()).toEqual([['//lib']]);
  await team.impact(2, ['//other']);
  expect(await shared()).toEqual([]);
});

it('tells a search: what failed, who is cleared, who is suspected, and what is tested', async () => {
  const { team, ci, client, main } = await openStory({
    settings: {
      batch: true,
      batchingMinSize: 4,
      bisectionConcurrency: 1,
      requiredStatuses: ['build', 'test'],
    },
  });
  for (const number of [1, 2, 3, 4]) await team.submit(number);
  const { testRunId } = await ci.runOf(1);
  await ci.pass(1, 'build');
  await ci.fail(1, 'test');
  const graph = await client.call('getQueueGraph', main);
  expect(graph.groups.map(({ kind, pullRequests }) => [kind, pullRequests.length])).toEqual([['search', 4]]);
  expect(graph.bisections).toEqual([
    {
      pullRequests: [1, 2, 3, 4],
      baseSha: graph.branchSha,
      failedTestRunId: testRunId,
      failedChecks: [{ name: 'test', url: '' }],
      cleared: [],
      suspects: [1, 2, 3, 4],
      undecided: [],
      rounds: [
        {
          suspects: [1, 2, 3, 4],
          runs: [{ testRunId: (await ci.runOf(2)).testRunId, testedCount: 2, status: 'under_way' }],
        },
      ],
    },
  ]);
  await ci.pass(2);
  const [second] = (await client.call('getQueueGraph', main)).bisections;
  expect(second).toMatchObject({ cleared: [1, 2], suspects: [3, 4], undecided: [] });
  expect(second!.rounds.map(({ runs }) => runs.map((run) => [run.testedCount, run.status]))).toEqual([
    [[2, 'passed']],
    [[3, 'under_way']],
  ]);
  await ci.fail(3);
  expect((await client.call('getQueueGraph', main)).bisections).toEqual([]);
});

it('says that the host is away where the queue is asked for', async () => {
  const { team, client, main, host } = await openStory();
  await team.submit(1);
  expect((await client.call('getQueue', main)).isHostAway).toBe(false);
  await host.down();
  expect((await client.call('getQueue', main)).isHostAway).toBe(true);
  await host.up();
  expect((await client.call('getQueue', main)).isHostAway).toBe(false);
});

import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { openWorldForTest, pr as numbered, main } from '../support/harness.ts';
import { type Story, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

it('tells what it tests: one run, the run of a pull request, all runs', async () => {
  const {
    team,
    ci,
    client,
    main: queue,
    numbered: of,
    repo,
  } = await openStory({
    settings: { concurrency: 2 },
  });
  for (const pr of [1, 2, 3]) await team.submit(pr);
  const [first, second] = [await ci.runOf(1), await ci.runOf(2)];
  const { testRunId } = second;
  expect(await client.call('getMergeQueueTestingDetails', { ...queue, testRunId })).toEqual(second);
  expect(second).toMatchObject({
    status: 'in_progress',
    queueType: 'main',
    concludedAt: null,
    testBranch: `signalbox/main/pr-2/${testRunId}`,
    baseSha: first.baseSha,
    requiredStatuses: ['ci/test'],
    requiredStatusesSource: 'branch_protection',
    statusChecks: [{ context: 'ci/test', state: 'PENDING' }],
    testedPullRequests: [{ prNumber: 2, prUrl: `https://sandbox.example/acme/${repo.name}/pull/2` }],
    dependentPrs: [{ prNumber: 1 }],
  });
  expect(await client.call('getMergeQueueTestingDetails', of(2))).toEqual(second);
  const all = await client.call('getMergeQueueTestingDetails', queue);
  expect('testRuns' in all && all.testRuns).toEqual([first, second]);
  expect((await client.refusal('getMergeQueueTestingDetails', of(3), 404)).code).toBe('TEST_RUN_NOT_FOUND');
  const since = '2020-01-01T00:00:00Z';
  const listed = await client.call('listMergeQueueTestingResults', { ...queue, since, take: 1 });
  expect(listed).toMatchObject({ totalItems: 2, testingResults: [{}] });
});

it('keeps what CI said with a run that has ended', async () => {
  const { team, ci, client, numbered: of } = await openStory();
  await team.submit(1);
  await ci.fail(1);
  expect(await client.call('getMergeQueueTestingDetails', of(1))).toMatchObject({
    status: 'failed',
    concludedAt: expect.any(String),
    statusChecks: [{ context: 'ci/test', state: 'FAILURE' }],
  });
});

it('tells of each run how it ended', async () => {
  const {
    team,
    ci,
    time,
    client,
    main: queue,
  } = await openStory({ settings: { testingTimeoutMinutes: 10 } });
  const results = async () => {
    const since = '2020-01-01T00:00:00Z';
    const { testingResults } = await client.call('listMergeQueueTestingResults', { ...queue, since });
    return testingResults.map(
      ({ testedPullRequests, status }) => `#${testedPullRequests[0]?.prNumber} ${status}`,
    );
  };
  await team.submit(1);
  await ci.pass(1);
  await team.submit(2);
  await team.submit(3);
  await team.cancel(3);
  await ci.fail(2);
  await team.submit(4);
  await time.pass(11);
  await time.pass(11);
  expect(await results()).toEqual(['#4 failed', '#4 failed', '#3 cancelled', '#2 failed', '#1 succeeded']);
});

it('has the commits of a run on its test branch, built on the branch and in order', async () => {
  const { team, ci, git } = await openStory();
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  const { testBranch, testBranchSha, testTreeSha, baseSha } = await ci.runOf(2);
  expect(await git('rev-parse', testBranch)).toBe(testBranchSha);
  expect(await git('rev-parse', `${testBranch}^{tree}`)).toBe(testTreeSha);
  expect(await git('log', '--reverse', '--format=%s', `${baseSha}..${testBranch}`)).toBe(
    'One (#1)\nTwo (#2)',
  );
});

it('counts positions over what is under test, then what is pending, then what is not ready', async () => {
  const { team, see, line } = await openStory({ settings: { concurrency: 1 } });
  await team.submit(1);
  await team.submit(2);
  await team.submit(3, { draft: true });
  await team.submit(4, { priority: 'high' });
  expect(await line()).toEqual(['#1 testing', '#4 pending', '#2 pending', '#3 not_ready']);
  const positions = await Promise.all([1, 4, 2, 3].map(async (pr) => (await see(pr)).queuePosition));
  expect(positions).toEqual([0, 1, 2, null]);
});

const metricsOf = async ({ client, repo }: Story) => {
  const metrics = await client.call('getMergeQueueMetrics', {
    repo: `acme/${repo.name}`,
    repoHost: 'SANDBOX.example',
  });
  execFileSync('promtool', ['check', 'metrics'], { input: metrics });
  return (name: string, ...labels: readonly string[]) => {
    const wanted = ['queue_type="main"', ...labels];
    const row = metrics
      .split('\n')
      .find((text) => text.startsWith(`${name}{`) && wanted.every((label) => text.includes(label)));
    return Number(row?.split(' ').at(-1));
  };
};

it('measures the hour: conclusions, restarts, and durations without the time in not_ready', async () => {
  const story = await openStory({ settings: { concurrency: 1 } });
  const { team, ci, world } = story;
  for (const pr of [1, 2, 3]) await team.submit(pr);
  // Never ready, so in no histogram.
  await team.submit(9, { baseBranch: 'other' });
  let value = await metricsOf(story);
  expect([value('mq_depth_current'), value('mq_awaiting_mergeability')]).toEqual([3, 1]);
  expect(value('mq_testing_slots_active')).toBe(1);
  await team.restart(1);
  world.clock.advance(10 * 60_000);
  await ci.pass(1);
  await team.cancel(3);
  await team.cancel(9);
  value = await metricsOf(story);
  expect([value('mq_depth_current'), value('mq_testing_slots_active')]).toEqual([1, 1]);
  expect(value('mq_pr_conclusions_1h_total', 'conclusion="merged"')).toBe(1);
  expect(value('mq_pr_conclusions_1h_total', 'conclusion="cancelled"')).toBe(2);
  expect(value('mq_pr_conclusions_1h_total', 'conclusion="failed"')).toBe(0);
  expect(value('mq_pr_restarts_1h_total')).toBe(1);
  expect(value('mq_pr_time_in_queue_1h_seconds_count')).toBe(2);
  expect(value('mq_pr_wait_duration_1h_seconds_count')).toBe(2);
  expect(value('mq_pr_test_duration_1h_seconds_count')).toBe(1);
  expect(value('mq_pr_test_duration_1h_seconds_sum')).toBeGreaterThanOrEqual(600);
  expect(value('mq_pr_test_duration_1h_seconds_bucket', 'le="300"')).toBe(0);
  expect(value('mq_pr_test_duration_1h_seconds_bucket', 'le="900"')).toBe(1);
  world.clock.advance(61 * 60_000);
  value = await metricsOf(story);
  expect(value('mq_pr_conclusions_1h_total', 'conclusion="cancelled"')).toBe(0);
});

it('keeps a deleted queue’s history in the metrics, as one series with its successor', async () => {
  const world = await openWorldForTest();
  const team = await world.client();
  await team.call('createQueue', main);
  for (const number of [1, 2, 3]) await team.call('submitPullRequest', numbered(number));
  await world.runJobs();
  for (const number of [1, 2, 3]) await team.call('cancelPullRequest', numbered(number));
  expect(await team.call('deleteQueue', main)).toEqual({});
  const cancelled = async () =>
    (await team.call('getMergeQueueMetrics', {})).match(
      /mq_pr_conclusions_1h_total\{[^}]*main",conclusion="cancelled"\} \d+/g,
    );
  expect(await cancelled()).toEqual([expect.stringMatching(/ 3$/)]);
  await team.call('createQueue', main);
  expect(await cancelled()).toEqual([expect.stringMatching(/ 3$/)]);
  expect((await team.refusal('getSubmittedPullRequest', numbered(1), 404)).code).toBe(
    'PULL_REQUEST_NOT_SUBMITTED',
  );
});

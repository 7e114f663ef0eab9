import { execFileSync } from 'node:child_process';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Client, main, openWorldForTest, pr, type World } from '../harness.ts';

// Nothing starts tests by itself yet: what is under test is written into the tables that the queue will write.
const runs = ['01940000-0000-7000-8000-00000000000a', '01940000-0000-7000-8000-00000000000b'] as const;

async function putUnderTest(world: World, number: number, runId: string, state = 'testing'): Promise<void> {
  const { db } = world.cell;
  const { id: queueId } = await db.selectFrom('queue').select('id').executeTakeFirstOrThrow();
  await db
    .insertInto('test_run')
    .values({
      queue_id: queueId,
      id: runId,
      test_branch: `signalbox/main/pr-${number}/${runId}`,
      base_sha: 'b'.repeat(40),
      required_statuses: ['ci/test'],
      status_checks: JSON.stringify([{ context: 'ci/test', url: 'https://ci.example/1', state: 'PENDING' }]),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { pr_sha: headSha } = await db
    .updateTable('entry')
    .set({ state, test_run_id: runId, line_rank: 0, line_major: 0 })
    .where('pr_number', '=', number)
    .returning('pr_sha')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('test_run_member')
    .values({ queue_id: queueId, test_run_id: runId, position: number, pr_number: number, head_sha: headSha })
    .execute();
}

describe('a queue with something under test', () => {
  let world: World;
  let team: Client;
  beforeEach(async () => {
    world = await openWorldForTest();
    team = await world.client();
    await team.call('createQueue', main);
    for (const number of [1, 2, 3]) await team.call('submitPullRequest', pr(number));
    await world.runJobs();
  });

  it('tells what it tests: one run, the run of a pull request, all runs', async () => {
    await team.call('setImpactedTargets', { ...pr(1), impactedTargets: ['//lib', '//app'] });
    await team.call('setImpactedTargets', { ...pr(2), impactedTargets: ['//app', '//web'] });
    await putUnderTest(world, 1, runs[0]);
    await putUnderTest(world, 2, runs[1]);
    // The second is tested on top of the first.
    await sql`insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha, under_test)
      select queue_id, ${runs[1]}, 0, 1, pr_sha, false from entry where pr_number = 1`.execute(world.cell.db);

    const second = await team.call('getMergeQueueTestingDetails', { ...main, testRunId: runs[1] });
    expect(second).toMatchObject({
      testRunId: runs[1],
      status: 'in_progress',
      queueType: 'main',
      concludedAt: null,
      testBranch: `signalbox/main/pr-2/${runs[1]}`,
      requiredStatuses: ['ci/test'],
      statusChecks: [{ context: 'ci/test', state: 'PENDING' }],
      testedPullRequests: [{ prNumber: 2, prUrl: 'https://sandbox.example/acme/widgets/pull/2' }],
      dependentPrs: [{ prNumber: 1 }],
      impactedTargets: ['//lib', '//app', '//web'],
      impactedTargetsForTestedPrs: ['//app', '//web'],
    });
    expect(await team.call('getMergeQueueTestingDetails', pr(2))).toEqual(second);
    const all = await team.call('getMergeQueueTestingDetails', main);
    expect('testRuns' in all && all.testRuns.map((run) => run.testRunId)).toEqual([...runs]);
    const listed = await team.call('listMergeQueueTestingResults', {
      ...main,
      since: '2020-01-01T00:00:00Z',
      take: 1,
    });
    expect(listed.totalItems).toBe(2);
    expect(listed.testingResults).toHaveLength(1);
    expect((await team.refusal('getMergeQueueTestingDetails', pr(3), 404)).code).toBe('TEST_RUN_NOT_FOUND');
  });

  it('counts what is under test in positions and order before what is pending', async () => {
    await putUnderTest(world, 3, runs[0]);
    const { enqueuedPullRequests } = await team.call('getQueue', main);
    expect(enqueuedPullRequests.map(({ prNumber, state }) => [prNumber, state])).toEqual([
      [3, 'testing'],
      [1, 'pending'],
      [2, 'pending'],
    ]);
    expect((await team.call('getSubmittedPullRequest', pr(2))).queuePosition).toBe(2);
  });

  it.each(['testing', 'tests_passed', 'pending_failure'])(
    'restarts tests in place when %s',
    async (state) => {
      await putUnderTest(world, 1, runs[0], state);
      const record = await team.call('restartTestsOnPullRequest', pr(1));
      expect(record).toMatchObject({ state, queuePosition: 0 });
      const { timeline } = await team.call('getSubmittedPullRequest', { ...pr(1), includeTimeline: true });
      expect(timeline![0]).toMatchObject({
        state,
        reason: 'TESTS_RESTARTED_BY_API_REQUEST',
        actor: 'api:read-submit-admin-upload',
        testRunId: runs[0],
      });
      expect((await team.refusal('restartTestsOnPullRequest', pr(2), 409)).code).toBe(
        'TESTS_NOT_RESTARTABLE',
      );
    },
  );

  it('switches modes only when nothing is under test any more, and returns to the state it had', async () => {
    await putUnderTest(world, 1, runs[0]);
    await team.call('updateQueue', { ...main, state: 'DRAINING' });
    const switching = await team.call('updateQueue', { ...main, mode: 'parallel' });
    expect(switching).toMatchObject({ state: 'SWITCHING_MODES', mode: 'single' });
    for (const change of [{ mode: 'single' }, { state: 'RUNNING' }])
      expect((await team.refusal('updateQueue', { ...main, ...change }, 409)).code).toBe(
        'MODE_CHANGE_IN_PROGRESS',
      );
    expect((await team.call('updateQueue', { ...main, concurrency: 9 })).concurrency).toBe(9);
    await world.runJobs();
    expect((await team.call('getQueue', main)).state).toBe('SWITCHING_MODES');
    await team.call('cancelPullRequest', pr(1));
    await world.runJobs();
    expect(await team.call('getQueue', main)).toMatchObject({ state: 'DRAINING', mode: 'parallel' });
  });

  it('measures what ended within the hour: conclusions, restarts and durations without the time in not_ready', async () => {
    await putUnderTest(world, 1, runs[0]);
    await team.call('restartTestsOnPullRequest', pr(1));
    world.clock.advance(10 * 60_000);
    await team.call('cancelPullRequest', pr(1));
    await team.call('cancelPullRequest', pr(2));
    // Never ready, so in no histogram: a pull request of another base, cancelled.
    await team.call('sandboxCreatePullRequest', { repo: main.repo, pr: { number: 9 }, baseBranch: 'other' });
    await team.call('submitPullRequest', pr(9));
    await team.call('cancelPullRequest', pr(9));

    const metrics = await team.call('getMergeQueueMetrics', {
      repo: 'acme/widgets',
      repoHost: 'SANDBOX.example',
    });
    execFileSync('promtool', ['check', 'metrics'], { input: metrics });
    const value = (name: string, ...labels: string[]) => {
      const row = metrics
        .split('\n')
        .find(
          (text) =>
            text.startsWith(`${name}{`) &&
            ['queue_type="main"', ...labels].every((label) => text.includes(label)),
        );
      return Number(row?.split(' ').at(-1));
    };
    expect(value('mq_depth_current')).toBe(1);
    expect(value('mq_awaiting_mergeability')).toBe(0);
    expect(value('mq_testing_slots_active')).toBe(0);
    expect(value('mq_pr_conclusions_1h_total', 'conclusion="cancelled"')).toBe(3);
    expect(value('mq_pr_conclusions_1h_total', 'conclusion="merged"')).toBe(0);
    expect(value('mq_pr_restarts_1h_total')).toBe(1);
    expect(value('mq_pr_time_in_queue_1h_seconds_count')).toBe(2);
    expect(value('mq_pr_wait_duration_1h_seconds_count')).toBe(2);
    expect(value('mq_pr_test_duration_1h_seconds_count')).toBe(1);
    expect(value('mq_pr_test_duration_1h_seconds_sum')).toBeGreaterThanOrEqual(600);
    expect(value('mq_pr_test_duration_1h_seconds_bucket', 'le="300"')).toBe(0);
    expect(value('mq_pr_test_duration_1h_seconds_bucket', 'le="900"')).toBe(1);

    world.clock.advance(61 * 60_000);
    const later = await team.call('getMergeQueueMetrics', {});
    expect(later).toMatch(/mq_pr_conclusions_1h_total\{[^}]*queue_type="main",conclusion="cancelled"\} 0/);
  });

  it('keeps a deleted queue’s history in the metrics, as one series with its successor', async () => {
    for (const number of [1, 2, 3]) await team.call('cancelPullRequest', pr(number));
    expect(await team.call('deleteQueue', main)).toEqual({});
    const cancelled = async () =>
      (await team.call('getMergeQueueMetrics', {})).match(
        /mq_pr_conclusions_1h_total\{[^}]*main",conclusion="cancelled"\} \d+/g,
      );
    expect(await cancelled()).toEqual([expect.stringMatching(/ 3$/)]);
    await team.call('createQueue', main);
    expect(await cancelled()).toEqual([expect.stringMatching(/ 3$/)]);
    expect((await team.refusal('getSubmittedPullRequest', pr(1), 404)).code).toBe(
      'PULL_REQUEST_NOT_SUBMITTED',
    );
  });
});

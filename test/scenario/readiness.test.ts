import { beforeEach, describe, expect, it } from 'vitest';
import { type Client, main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';

/** A queue whose one test slot is taken by #100, which CI never answers for: whoever is ready stays pending. */
async function openBusyQueue(world: World, team: Client, settings: object = {}): Promise<void> {
  await team.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
  await team.call('createQueue', { ...main, concurrency: 1, ...settings });
  await team.call('setImpactedTargets', { ...pr(100), impactedTargets: 'ALL' });
  await team.call('submitPullRequest', pr(100));
  await world.runJobs();
}

describe('a submitted pull request', () => {
  let world: World;
  let team: Client;
  beforeEach(async () => {
    world = await openWorldForTest();
    team = await world.client();
  });

  const state = async (number: number) => (await team.call('getSubmittedPullRequest', pr(number))).state;
  const sandbox = (
    operation: 'sandboxCreatePullRequest' | 'sandboxUpdatePullRequest',
    number: number,
    facts: object,
  ) => team.call(operation, { repo: widgets, pr: { number }, ...facts });

  it('enters the line once the queue has looked at it', async () => {
    await openBusyQueue(world, team);
    const record = await team.call('submitPullRequest', pr(7));
    expect(record).toMatchObject({
      state: 'not_ready',
      prNumber: 7,
      queuePosition: null,
      priorityName: 'medium',
    });
    await world.runJobs();
    expect(await team.call('getSubmittedPullRequest', pr(7))).toMatchObject({
      state: 'pending',
      queuePosition: 1,
      waitingFor: ['It is next, but the only test slot is taken. Its tests start when a slot is free.'],
    });
  });

  it('waits while its host says it cannot be merged, and enters when it can', async () => {
    await openBusyQueue(world, team);
    await sandbox('sandboxCreatePullRequest', 8, { mergeability: 'not_mergeable' });
    await team.call('submitPullRequest', pr(8));
    await world.runJobs();
    expect(await state(8)).toBe('not_ready');
    await sandbox('sandboxUpdatePullRequest', 8, { mergeability: 'mergeable' });
    await world.runJobs();
    expect(await state(8)).toBe('pending');
  });

  it('goes back to not_ready when it stops being mergeable, and keeps its place among equals', async () => {
    await openBusyQueue(world, team);
    for (const number of [1, 2, 3]) await team.call('submitPullRequest', pr(number));
    await world.runJobs();
    // A host that works it out anew has no news.
    await sandbox('sandboxUpdatePullRequest', 2, { mergeability: 'in_progress' });
    await world.runJobs();
    expect(await state(2)).toBe('pending');
    await sandbox('sandboxUpdatePullRequest', 2, { mergeability: 'not_mergeable' });
    await world.runJobs();
    expect(await state(2)).toBe('not_ready');
    await sandbox('sandboxUpdatePullRequest', 2, { mergeability: 'mergeable' });
    await world.runJobs();
    const { enqueuedPullRequests } = await team.call('getQueue', main);
    expect(enqueuedPullRequests.map(({ prNumber }) => prNumber)).toEqual([100, 1, 2, 3]);
  });

  it('waits for its base branch to be the queue’s', async () => {
    await openBusyQueue(world, team);
    await sandbox('sandboxCreatePullRequest', 9, { baseBranch: 'develop' });
    const record = await team.call('submitPullRequest', pr(9));
    expect(record.readiness.doesBaseBranchMatch).toBe(false);
    await world.runJobs();
    expect(await state(9)).toBe('not_ready');
    await sandbox('sandboxUpdatePullRequest', 9, { baseBranch: 'main' });
    await world.runJobs();
    expect(await state(9)).toBe('pending');
  });

  it('waits for impacted targets in parallel mode, and finds those that came before it', async () => {
    await openBusyQueue(world, team, { mode: 'parallel' });
    await team.call('submitPullRequest', pr(4));
    await team.call('setImpactedTargets', { ...pr(5), impactedTargets: ['//lib', '//app', '//lib'] });
    expect(await team.call('submitPullRequest', pr(5))).toMatchObject({
      readiness: { requiresImpactedTargets: true, hasImpactedTargets: true },
    });
    await world.runJobs();
    expect([await state(4), await state(5)]).toEqual(['not_ready', 'pending']);
    await team.call('setImpactedTargets', { ...pr(4), impactedTargets: 'ALL' });
    await world.runJobs();
    expect(await state(4)).toBe('pending');
  });

  it('needs new targets after a push', async () => {
    await openBusyQueue(world, team, { mode: 'parallel' });
    await team.call('setImpactedTargets', { ...pr(5), impactedTargets: [] });
    await team.call('sandboxPushPullRequest', { repo: widgets, pr: { number: 5 } });
    const record = await team.call('submitPullRequest', pr(5));
    expect(record.readiness.hasImpactedTargets).toBe(false);
  });

  it.each([
    ['pushed to', { sha: 'b'.repeat(40) }, 'cancelled', 'PR_PUSHED_TO'],
    ['closed', { state: 'closed' }, 'cancelled', 'PR_CLOSED'],
    ['retargeted', { baseBranch: 'develop' }, 'cancelled', 'PR_BASE_BRANCH_CHANGED'],
    ['made a draft', { draft: true }, 'cancelled', 'PR_CONVERTED_TO_DRAFT'],
    ['merged by hand', { state: 'merged' }, 'merged', 'MANUAL_MERGE'],
  ])('leaves the queue with its reason when it is %s', async (_what, facts, end, conclusionReason) => {
    await openBusyQueue(world, team);
    const { prSha } = await team.call('submitPullRequest', pr(6));
    await world.runJobs();
    await sandbox('sandboxUpdatePullRequest', 6, facts);
    await world.runJobs();
    expect(await team.call('getSubmittedPullRequest', pr(6))).toMatchObject({
      state: end,
      conclusionReason,
      prSha,
      isCurrentlySubmittedToQueue: false,
      queuePosition: null,
      waitingFor: [],
    });
  });

  it('leaves the queue when its host knows it no more', async () => {
    await openBusyQueue(world, team);
    await team.call('submitPullRequest', pr(6));
    await team.call('sandboxRemovePullRequest', { repo: widgets, pr: { number: 6 } });
    await world.runJobs();
    expect(await team.call('getSubmittedPullRequest', pr(6))).toMatchObject({
      conclusionReason: 'PR_CLOSED',
    });
    expect((await team.refusal('submitPullRequest', pr(6), 404)).code).toBe('PULL_REQUEST_NOT_FOUND');
  });

  it('starts a new attempt under the same id when it is submitted after its end', async () => {
    await openBusyQueue(world, team);
    const first = await team.call('submitPullRequest', pr(6));
    await team.call('cancelPullRequest', pr(6));
    const second = await team.call('submitPullRequest', { ...pr(6), priority: 'high' });
    expect(second.id).toBe(first.id);
    const { timeline } = await team.call('getSubmittedPullRequest', { ...pr(6), includeTimeline: true });
    expect(timeline!.map(({ state: at, reason, trip }) => [at, reason, trip])).toEqual([
      ['not_ready', null, 2],
      ['cancelled', 'USER_REQUESTED', 1],
      ['not_ready', null, 1],
    ]);
  });

  it('is cancelled when it was never ready for longer than the queue’s patience', async () => {
    await openBusyQueue(world, team, { notReadyTimeoutHours: 2 });
    await sandbox('sandboxCreatePullRequest', 8, { mergeability: 'not_mergeable' });
    await team.call('submitPullRequest', pr(8));
    await world.runJobs();
    world.clock.advance(3 * 3_600_000);
    // Any look at the queue notices; the wake-up that the plan asked for is one.
    await team.call('updateQueue', { ...main, pendingFailureDepth: 1 });
    await world.runJobs();
    expect(await team.call('getSubmittedPullRequest', pr(8))).toMatchObject({
      conclusionReason: 'NOT_READY_TIMEOUT_EXPIRED',
    });
  });
});

describe('the state of a queue', () => {
  it.each(['PAUSED', 'DRAINING'] as const)('keeps submitted pull requests out while %s', async (state) => {
    const world = await openWorldForTest();
    const team = await world.client();
    await openBusyQueue(world, team);
    await team.call('submitPullRequest', pr(1));
    await world.runJobs();
    expect((await team.call('updateQueue', { ...main, state })).state).toBe(state);
    await team.call('submitPullRequest', pr(2));
    await world.runJobs();
    const states = async () =>
      (await team.call('getQueue', main)).enqueuedPullRequests.map((entry) => entry.state);
    expect(await states()).toEqual(['testing', 'pending', 'not_ready']);
    await team.call('updateQueue', { ...main, state: 'running' });
    await world.runJobs();
    expect(await states()).toEqual(['testing', 'pending', 'pending']);
  });
});

/** A pull request's way through a queue: submitted, read, submitted again, cancelled, on a new trip. */
import { setTimeout as sleep } from 'node:timers/promises';
import { brief } from './check.ts';
import { expectEmpty, expectError, expectField, expectInvalid, expectOk, expectShape } from './expect.ts';
import { has, pick, pickList } from './json.ts';
import { RECORD, TIMELINE_ENTRY, isInstant, problemsOf } from './shape.ts';
import {
  ADMITTED,
  NEVER_REPORTED,
  PATIENCE_MS,
  cancel,
  freshRepo,
  getRecord,
  makePausedQueue,
  makeQueue,
  post,
  sandbox,
  submit,
  waitForState,
  type QueueRef,
  type World,
} from './world.ts';

const PR_CALLS = [
  'submitPullRequest',
  'cancelPullRequest',
  'restartTestsOnPullRequest',
  'getSubmittedPullRequest',
];

export async function checkUnknownPullRequests(world: World): Promise<void> {
  const ghost = { repo: freshRepo(world, 'ghost'), targetBranch: 'main', pr: { number: 1 } };
  for (const name of PR_CALLS)
    expectError(world, `${name} without a queue`, await post(world, name, ghost), 404, 'QUEUE_NOT_FOUND');
  if (!world.hasSandbox) return world.recorder.skip('pull requests unknown to queue or host', 'no sandbox');
  const queue = await makePausedQueue(world, 'unknown-pr');
  for (const name of PR_CALLS.slice(1)) {
    const answer = await post(world, name, { ...queue, pr: { number: 5 } });
    expectError(world, `${name} of what was never submitted`, answer, 404, 'PULL_REQUEST_NOT_SUBMITTED');
  }
  const { repo } = queue;
  expectEmpty(
    world,
    'the sandbox removes',
    await sandbox(world, 'removePullRequest', { repo, pr: { number: 6 } }),
  );
  expectError(
    world,
    'submitting what the host does not know',
    await submit(world, queue, 6),
    404,
    'PULL_REQUEST_NOT_FOUND',
  );
  for (const [number, state] of [
    [7, 'closed'],
    [8, 'merged'],
  ] as const) {
    await sandbox(world, 'createPullRequest', { repo, pr: { number }, state });
    const answer = await submit(world, queue, number);
    expectError(
      world,
      `submitting what is ${state} on the host`,
      answer,
      409,
      'PULL_REQUEST_NOT_ENQUEUEABLE',
    );
    const read = await getRecord(world, queue, number);
    expectError(world, `and ${state} leaves no record`, read, 404, 'PULL_REQUEST_NOT_SUBMITTED');
  }
}

export async function checkPullRequestLife(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('the life of a pull request', 'no sandbox');
  const { recorder } = world;
  const queue = await makePausedQueue(world, 'life');
  const made = {
    title: 'Teach the box to signal',
    sha: 'c0ffee0000000000000000000000000000000001',
    author: 'ada',
  };
  await sandbox(world, 'createPullRequest', { repo: queue.repo, pr: { number: 11 }, ...made });
  const submitted = await submit(world, queue, 11);
  expectOk(world, 'submitPullRequest', submitted);
  expectShape(
    world,
    'submitPullRequest answers the record',
    problemsOf(submitted.json, RECORD),
    submitted.json,
  );
  const expected: Record<string, unknown> = {
    state: 'not_ready',
    prNumber: 11,
    prTitle: made.title,
    prSha: made.sha,
    prAuthor: made.author,
    prBaseBranch: 'main',
    isCurrentlySubmittedToQueue: true,
    forceEnqueued: false,
    noBatch: false,
    verifiedByTestRun: null,
    conclusionReason: null,
    estimatedMergeAt: null,
  };
  for (const [key, value] of Object.entries(expected))
    expectField(world, `${key} of a fresh submission`, submitted, [key], value);
  expectField(world, 'base branch matches', submitted, ['readiness', 'doesBaseBranchMatch'], true);
  expectField(
    world,
    'a single queue needs no targets',
    submitted,
    ['readiness', 'requiresImpactedTargets'],
    false,
  );
  expectField(world, 'mergeability', submitted, ['readiness', 'gitHubMergeability'], 'mergeable');
  recorder.check(
    'it says what it waits for',
    pickList(submitted.json, 'waitingFor').length > 0,
    brief(submitted.json),
  );
  await sleep(1500);
  const read = await getRecord(world, queue, 11);
  expectShape(world, 'getSubmittedPullRequest answers the record', problemsOf(read.json, RECORD), read.json);
  expectField(world, 'a paused queue admits nothing', read, ['state'], 'not_ready');
  expectField(world, 'the record is the one of the submission', read, ['id'], pick(submitted.json, 'id'));
  recorder.check('no timeline unless asked for', !has(read.json, 'timeline'), brief(read.json));
  await checkCancelAndReturn(world, queue, pick(submitted.json, 'id'));
}

async function checkCancelAndReturn(world: World, queue: QueueRef, id: unknown): Promise<void> {
  const { recorder } = world;
  const restart = await post(world, 'restartTestsOnPullRequest', { ...queue, pr: { number: 11 } });
  expectError(world, 'restarting tests of what is not ready', restart, 409, 'TESTS_NOT_RESTARTABLE');
  expectEmpty(world, 'cancelPullRequest', await cancel(world, queue, 11));
  const cancelled = await getRecord(world, queue, 11);
  expectField(world, 'it is cancelled', cancelled, ['state'], 'cancelled');
  expectField(world, 'by request', cancelled, ['conclusionReason'], 'USER_REQUESTED');
  expectField(world, 'it is no longer submitted', cancelled, ['isCurrentlySubmittedToQueue'], false);
  expectField(world, 'it has no position', cancelled, ['queuePosition'], null);
  expectEmpty(world, 'cancelling again', await cancel(world, queue, 11));
  const again = await getRecord(world, queue, 11);
  recorder.equal('cancelling again changes nothing', again.json, cancelled.json, again.asked);
  const stopped = await post(world, 'restartTestsOnPullRequest', { ...queue, pr: { number: 11 } });
  expectError(world, 'restarting tests of what is cancelled', stopped, 409, 'TESTS_NOT_RESTARTABLE');
  const second = await submit(world, queue, 11, { priority: 'high' });
  expectField(world, 'submitting what was cancelled starts over', second, ['state'], 'not_ready');
  expectField(world, 'under the same id', second, ['id'], id);
  expectField(world, 'with nothing concluded', second, ['conclusionReason'], null);
  const told = await getRecord(world, queue, 11, { includeTimeline: true });
  const timeline = pickList(told.json, 'timeline');
  const problems = timeline.flatMap((entry) => problemsOf(entry, TIMELINE_ENTRY));
  expectShape(world, 'entries of the timeline', timeline.length >= 3 ? problems : ['too short'], timeline);
  const times = timeline.map((entry) => String(pick(entry, 'timestamp')));
  recorder.equal('the timeline is newest first', times, times.toSorted().toReversed());
  recorder.equal('its first entry is the state now', pick(timeline, 0, 'state'), 'not_ready');
  const trips = [pick(timeline, 0, 'trip'), pick(timeline, timeline.length - 1, 'trip')].map(Number);
  recorder.equal('the second trip is told apart', (trips[0] ?? 0) - (trips[1] ?? 0), 1);
  const end = timeline.find((entry) => pick(entry, 'state') === 'cancelled');
  recorder.equal('the timeline says why the first trip ended', pick(end, 'reason'), 'USER_REQUESTED');
  const wrong = await getRecord(world, queue, 11, { includeTimeline: 'yes' });
  expectInvalid(world, 'includeTimeline "yes"', wrong, 'includeTimeline');
  const without = await getRecord(world, queue, 11, { includeTimeline: false });
  recorder.check(
    'includeTimeline false',
    without.status === 200 && !has(without.json, 'timeline'),
    without.text,
  );
}

export async function checkAdmission(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('admission to a running queue', 'no sandbox');
  const { recorder } = world;
  const queue = { repo: freshRepo(world, 'admission'), targetBranch: 'main' };
  await makeQueue(world, queue, NEVER_REPORTED);
  await submit(world, queue, 21);
  await expectAdmitted(world, 'a mergeable pull request is admitted', queue, 21);
  const told = await getRecord(world, queue, 21, { includeTimeline: true });
  const ready = pickList(told.json, 'timeline').find((entry) => pick(entry, 'state') === 'pending');
  recorder.equal('admission is told with its reason', pick(ready, 'reason'), 'MERGE_ITEM_NOW_READY');
  recorder.check('and with its time', isInstant(pick(ready, 'timestamp')), brief(ready));
  const { repo } = queue;
  for (const [number, mergeability] of [
    [22, 'not_mergeable'],
    [23, 'in_progress'],
  ] as const) {
    await sandbox(world, 'createPullRequest', { repo, pr: { number }, mergeability });
    const early = await submit(world, queue, number);
    expectField(world, `what is ${mergeability} enters as not_ready`, early, ['state'], 'not_ready');
    expectField(
      world,
      `its readiness is ${mergeability}`,
      early,
      ['readiness', 'gitHubMergeability'],
      mergeability,
    );
    await sleep(1000);
    const still = await getRecord(world, queue, number);
    expectField(world, `what is ${mergeability} stays not_ready`, still, ['state'], 'not_ready');
    await sandbox(world, 'updatePullRequest', { repo, pr: { number }, mergeability: 'mergeable' });
    await expectAdmitted(world, `what was ${mergeability} is admitted once mergeable`, queue, number);
  }
  await sandbox(world, 'createPullRequest', { repo, pr: { number: 24 }, baseBranch: 'elsewhere' });
  const astray = await submit(world, queue, 24);
  expectField(world, 'another base branch enters as not_ready', astray, ['state'], 'not_ready');
  expectField(world, 'its readiness says so', astray, ['readiness', 'doesBaseBranchMatch'], false);
  expectField(world, 'its base branch is told', astray, ['prBaseBranch'], 'elsewhere');
  await sandbox(world, 'updatePullRequest', { repo, pr: { number: 24 }, baseBranch: 'main' });
  await expectAdmitted(world, 'it is admitted once its base branch matches', queue, 24);
}

async function expectAdmitted(world: World, name: string, queue: QueueRef, number: number): Promise<void> {
  const answer = await waitForState(world, queue, number, ADMITTED);
  const state = String(pick(answer.json, 'state'));
  const detail = `expected one of ${ADMITTED.join(', ')} within ${PATIENCE_MS / 1000} s, got ${brief(answer.json)}`;
  world.recorder.check(name, ADMITTED.includes(state), detail);
}

export async function checkWaitingStates(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('submission while paused or draining', 'no sandbox');
  for (const state of ['PAUSED', 'DRAINING']) {
    const queue = { repo: freshRepo(world, `waits-${state.toLowerCase()}`), targetBranch: 'main' };
    await makeQueue(world, queue, NEVER_REPORTED);
    await post(world, 'updateQueue', { ...queue, state });
    expectField(
      world,
      `submission is accepted while ${state}`,
      await submit(world, queue, 1),
      ['state'],
      'not_ready',
    );
    await sleep(1500);
    expectField(
      world,
      `nothing is admitted while ${state}`,
      await getRecord(world, queue, 1),
      ['state'],
      'not_ready',
    );
    await post(world, 'updateQueue', { ...queue, state: 'RUNNING' });
    await expectAdmitted(world, `it is admitted when ${state} ends`, queue, 1);
  }
}

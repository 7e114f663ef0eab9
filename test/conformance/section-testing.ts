/** Testing details, and the conflicts that need a pull request under test. */
import { brief } from './check.ts';
import { show } from './client.ts';
import { UNKNOWN_ID } from './endpoint.ts';
import { expectError, expectField, expectInvalid, expectOk, expectShape } from './expect.ts';
import { pick, pickList } from './json.ts';
import { RECORD, TEST_RUN, isSha, problemsOf } from './shape.ts';
import {
  NEVER_REPORTED,
  cancel,
  eventually,
  freshRepo,
  makePausedQueue,
  makeQueue,
  post,
  sandbox,
  submit,
  waitForBegunRun,
  waitForState,
  type QueueRef,
  type World,
} from './world.ts';

export async function checkTestingDetails(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'testing');
  const ask = (more: object) => post(world, 'getMergeQueueTestingDetails', { ...queue, ...more });
  const idle = await ask({});
  world.recorder.equal('an idle queue performs no runs', idle.json, { testRuns: [] }, idle.asked);
  expectError(world, 'an unknown test run', await ask({ testRunId: UNKNOWN_ID }), 404, 'TEST_RUN_NOT_FOUND');
  const odd = await ask({ testRunId: 'no-uuid' });
  const isRefused = odd.status === 400 || odd.status === 404;
  world.recorder.check('a test run id that is none', isRefused, `expected 400 or 404, got ${show(odd)}`);
  expectInvalid(world, 'testRunId 7', await ask({ testRunId: 7 }), 'testRunId');
  expectInvalid(world, 'pr.number 0', await ask({ pr: { number: 0 } }), 'pr.number');
  const never = await ask({ pr: { number: 5 } });
  expectError(world, 'the run of what was never submitted', never, 404, 'PULL_REQUEST_NOT_SUBMITTED');
  if (!world.hasSandbox) return world.recorder.skip('the run of what has none', 'no sandbox');
  await submit(world, queue, 6);
  expectError(world, 'the run of what has none', await ask({ pr: { number: 6 } }), 404, 'TEST_RUN_NOT_FOUND');
}

export async function checkUnderTest(world: World): Promise<void> {
  const names = 'test run details, restart in place, MODE_CHANGE_IN_PROGRESS';
  if (!world.hasSandbox) return world.recorder.skip(names, 'no sandbox');
  const queue = { repo: freshRepo(world, 'under-test'), targetBranch: 'main' };
  await makeQueue(world, queue, NEVER_REPORTED);
  await submit(world, queue, 1);
  const record = await waitForState(world, queue, 1, ['testing']);
  if (!expectField(world, 'what is submitted comes under test', record, ['state'], 'testing')) return;
  expectField(world, 'at the head of the line', record, ['queuePosition'], 0);
  const waitsFor = pickList(record.json, 'waitingFor');
  world.recorder.check('it says what it waits for', waitsFor.length > 0, brief(record.json));
  await checkRun(world, queue);
  await checkRunOnTop(world, queue);
  await checkRestart(world, queue);
  await checkSwitching(world, queue);
}

async function checkRun(world: World, queue: QueueRef): Promise<void> {
  const { recorder } = world;
  const ask = (more: object) => post(world, 'getMergeQueueTestingDetails', { ...queue, ...more });
  const byPr = await waitForBegunRun(world, queue, 1);
  expectShape(world, 'a test run', problemsOf(byPr.json, TEST_RUN), byPr.json);
  const id = String(pick(byPr.json, 'testRunId'));
  expectField(world, 'it is found by its id', await ask({ testRunId: id }), ['testRunId'], id);
  const running = pickList((await ask({})).json, 'testRuns').map((run) => pick(run, 'testRunId'));
  recorder.check('it is among the runs of the queue', running.includes(id), brief(running));
  const branch = `signalbox/main/pr-1/${id}`;
  expectField(world, 'its branch ends in its id', byPr, ['testBranch'], branch);
  expectField(world, 'it tests the pull request', byPr, ['testedPullRequests', 0, 'prNumber'], 1);
  expectField(
    world,
    'it requires what the queue says',
    byPr,
    ['requiredStatuses'],
    NEVER_REPORTED.requiredStatuses,
  );
  expectField(world, 'and says where that is from', byPr, ['requiredStatusesSource'], 'queue');
  expectField(world, 'it goes on', byPr, ['status'], 'in_progress');
  expectField(world, 'it has not ended', byPr, ['concludedAt'], null);
  expectField(world, 'it isolates no failure', byPr, ['queueType'], 'main');
  expectField(world, 'nothing is ahead of it', byPr, ['dependentPrs'], []);
  const isBuilt = ['baseSha', 'testBranchSha', 'testTreeSha'].every((key) => isSha(pick(byPr.json, key)));
  recorder.check('its base, commit and tree are told', isBuilt, brief(byPr.json));
  const sha = pick(byPr.json, 'testBranchSha');
  const shown = await sandbox(world, 'getRepository', { repo: queue.repo });
  const branches = pickList(shown.json, 'branches');
  const onHost = branches.find((item) => pick(item, 'name') === branch);
  recorder.equal('its branch is on the host', pick(onHost, 'sha'), sha, shown.asked);
  const main = branches.find((item) => pick(item, 'name') === 'main');
  recorder.equal('on top of the branch as it is', pick(byPr.json, 'baseSha'), pick(main, 'sha'), shown.asked);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const results = await post(world, 'listMergeQueueTestingResults', { ...queue, since });
  expectField(world, 'it is listed among the results', results, ['testingResults', 0, 'testRunId'], id);
}

/** A second one is tested together with what is ahead of it. */
async function checkRunOnTop(world: World, queue: QueueRef): Promise<void> {
  const first = await waitForBegunRun(world, queue, 1);
  await submit(world, queue, 2);
  const record = await waitForState(world, queue, 2, ['testing']);
  expectField(world, 'a second is tested beside it', record, ['state'], 'testing');
  expectField(world, 'in the second place', record, ['queuePosition'], 1);
  const run = await waitForBegunRun(world, queue, 2);
  expectShape(world, 'the run on top', problemsOf(run.json, TEST_RUN), run.json);
  const numbers = (key: string) => pickList(run.json, key).map((item) => pick(item, 'prNumber'));
  world.recorder.equal('it tests the second', numbers('testedPullRequests'), [2]);
  world.recorder.equal('on top of the first', numbers('dependentPrs'), [1]);
  const isOther = pick(run.json, 'testRunId') !== pick(first.json, 'testRunId');
  world.recorder.check('in a run of its own', isOther, brief(run.json));
  const all = await post(world, 'getMergeQueueTestingDetails', queue);
  world.recorder.equal('the queue performs both', pickList(all.json, 'testRuns').length, 2, all.asked);
  await cancel(world, queue, 2);
  const gone = await eventually(
    () => post(world, 'getMergeQueueTestingDetails', queue),
    (answer) => pickList(answer.json, 'testRuns').length === 1,
  );
  const left = pickList(gone.json, 'testRuns').map((item) => pick(item, 'testRunId'));
  world.recorder.equal('and only the first once the second is cancelled', left, [
    pick(first.json, 'testRunId'),
  ]);
  const ended = await post(world, 'getMergeQueueTestingDetails', {
    ...queue,
    testRunId: pick(run.json, 'testRunId'),
  });
  expectField(world, 'whose run is then cancelled', ended, ['status'], 'cancelled');
}

async function checkRestart(world: World, queue: QueueRef): Promise<void> {
  const run = async () =>
    pick(
      (await post(world, 'getMergeQueueTestingDetails', { ...queue, pr: { number: 1 } })).json,
      'testRunId',
    );
  const before = await run();
  const answer = await post(world, 'restartTestsOnPullRequest', { ...queue, pr: { number: 1 } });
  expectOk(world, 'restarting what is under test', answer);
  expectShape(world, 'restart answers the record', problemsOf(answer.json, RECORD), answer.json);
  const after = await eventually(
    () => post(world, 'getMergeQueueTestingDetails', { ...queue, pr: { number: 1 } }),
    (details) => details.status === 200 && pick(details.json, 'testRunId') !== before,
  );
  const isNew = pick(after.json, 'testRunId') !== before;
  world.recorder.check('a new run takes the place of the old', isNew, `still ${String(before)}`);
  const old = await post(world, 'getMergeQueueTestingDetails', { ...queue, testRunId: before });
  expectField(world, 'which is cancelled', old, ['status'], 'cancelled');
  const pushed = await waitForBegunRun(world, queue, 1);
  expectField(world, 'it tests the same', pushed, ['testTreeSha'], pick(old.json, 'testTreeSha'));
  const isFresh = pick(pushed.json, 'testBranchSha') !== pick(old.json, 'testBranchSha');
  world.recorder.check('in a commit of which CI has said nothing', isFresh, brief(pushed.json));
}

async function checkSwitching(world: World, queue: QueueRef): Promise<void> {
  await waitForState(world, queue, 1, ['testing']);
  const update = (more: object) => post(world, 'updateQueue', { ...queue, ...more });
  const switched = await update({ mode: 'parallel' });
  expectField(world, 'a change of mode with a run going on waits', switched, ['state'], 'SWITCHING_MODES');
  const mode = await update({ mode: 'single' });
  expectError(world, 'while switching, mode is refused', mode, 409, 'MODE_CHANGE_IN_PROGRESS');
  const state = await update({ state: 'PAUSED' });
  expectError(world, 'while switching, state is refused', state, 409, 'MODE_CHANGE_IN_PROGRESS');
  expectField(
    world,
    'while switching, the rest is not',
    await update({ concurrency: 9 }),
    ['concurrency'],
    9,
  );
  await cancel(world, queue, 1);
  const done = await eventually(
    () => post(world, 'getQueue', queue),
    (answer) => pick(answer.json, 'state') === 'RUNNING',
  );
  expectField(world, 'with nothing under test it returns to its state', done, ['state'], 'RUNNING');
  expectField(world, 'in the new mode', done, ['mode'], 'parallel');
}

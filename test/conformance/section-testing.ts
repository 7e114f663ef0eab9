/** Testing details, and the conflicts that need a pull request under test (skipped where none gets there). */
import { brief } from './check.ts';
import { show } from './client.ts';
import { UNKNOWN_ID } from './endpoint.ts';
import { expectError, expectField, expectInvalid, expectOk, expectShape } from './expect.ts';
import { pick, pickList } from './json.ts';
import { RECORD, TEST_RUN, problemsOf } from './shape.ts';
import {
  NEVER_REPORTED,
  cancel,
  eventually,
  freshRepo,
  makePausedQueue,
  makeQueue,
  post,
  submit,
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
  const record = await waitForState(world, queue, 1, ['testing'], 8000);
  if (pick(record.json, 'state') !== 'testing')
    return world.recorder.skip(
      names,
      `the deployment brought nothing under test (${String(pick(record.json, 'state'))})`,
    );
  await checkRun(world, queue);
  await checkRestart(world, queue);
  await checkSwitching(world, queue);
}

async function checkRun(world: World, queue: QueueRef): Promise<void> {
  const { recorder } = world;
  const ask = (more: object) => post(world, 'getMergeQueueTestingDetails', { ...queue, ...more });
  const byPr = await eventually(
    () => ask({ pr: { number: 1 } }),
    (answer) => answer.status === 200,
  );
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

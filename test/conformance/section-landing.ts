/** From submitted to merged: what a working queue does by itself, and the proof that it keeps of every landing. */
import { brief } from './check.ts';
import type { Answer } from './client.ts';
import { expectError, expectField, expectInvalid, expectOk, expectShape } from './expect.ts';
import { pick, pickList } from './json.ts';
import { checkMetricsOf } from './section-metrics.ts';
import { LANDING, TEST_RUN, TIMELINE_ENTRY, isSha, problemsOf } from './shape.ts';
import {
  cancel,
  eventually,
  freshRepo,
  getRecord,
  makeManualQueue,
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

/** A commit that nobody has. */
const UNKNOWN_COMMIT = 'd15ea5ed00000000000000000000000000000007';

function getLanding(world: World, queue: QueueRef, by: object): Promise<Answer> {
  return post(world, 'getLanding', { ...queue, ...by });
}

export async function checkLandingQuestions(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'landing-question');
  const ask = (by: object) => getLanding(world, queue, by);
  expectInvalid(world, 'getLanding by neither commit nor pull request', await ask({}), 'commit');
  const both = await ask({ commit: UNKNOWN_COMMIT, pr: { number: 1 } });
  expectInvalid(world, 'getLanding by both', both, 'commit');
  for (const commit of ['', 'main', UNKNOWN_COMMIT.slice(0, 12), `${UNKNOWN_COMMIT}0`, 7, null])
    expectInvalid(world, `getLanding by commit ${brief(commit)}`, await ask({ commit }), 'commit');
  for (const number of [0, 'one', 1.5])
    expectInvalid(world, `getLanding of #${number}`, await ask({ pr: { number } }), 'pr.number');
  for (const by of [{ commit: UNKNOWN_COMMIT }, { commit: 'e'.repeat(64) }, { pr: { number: 1 } }])
    expectError(world, `nothing landed by ${brief(by)}`, await ask(by), 404, 'LANDING_NOT_FOUND');
  const ghost = { repo: freshRepo(world, 'ghost'), targetBranch: 'main' };
  const lost = await getLanding(world, ghost, { pr: { number: 1 } });
  expectError(world, 'getLanding without a queue', lost, 404, 'QUEUE_NOT_FOUND');
  if (!world.hasSandbox) return world.recorder.skip('the landing of what has not landed', 'no sandbox');
  await submit(world, queue, 1);
  const early = await ask({ pr: { number: 1 } });
  expectError(world, 'the landing of what has not landed', early, 404, 'LANDING_NOT_FOUND');
}

/** Nobody does more than submit it. */
export async function checkMerge(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('a pull request that is only submitted', 'no sandbox');
  const queue = { repo: freshRepo(world, 'merge'), targetBranch: 'main' };
  await makeQueue(world, queue);
  const submitted = await submit(world, queue, 1);
  const merged = await waitForState(world, queue, 1, ['merged']);
  if (!expectField(world, 'a pull request that is only submitted is merged', merged, ['state'], 'merged'))
    return;
  expectField(world, 'by the queue', merged, ['conclusionReason'], 'MERGE_GRAPH_MERGE');
  expectField(world, 'under the id of its submission', merged, ['id'], pick(submitted.json, 'id'));
  expectField(world, 'at the head that was submitted', merged, ['prSha'], pick(submitted.json, 'prSha'));
  expectField(world, 'it is no longer submitted', merged, ['isCurrentlySubmittedToQueue'], false);
  expectField(world, 'it has no position', merged, ['queuePosition'], null);
  expectField(world, 'it waits for nothing', merged, ['waitingFor'], []);
  const runId = pick(merged.json, 'verifiedByTestRun');
  world.recorder.check('it names the run that verified it', typeof runId === 'string', merged.text);
  await checkMergedTimeline(world, queue, runId);
  const run = await checkMergedRun(world, queue, runId);
  await checkProof(world, queue, submitted, run);
  await checkMergedHost(world, queue);
  const numbers = { merged: 1, failed: 0, cancelled: 0, live: 0 };
  await checkMetricsOf(world, queue, 'after a merge', numbers);
}

async function checkMergedTimeline(world: World, queue: QueueRef, runId: unknown): Promise<void> {
  const { recorder } = world;
  const told = await getRecord(world, queue, 1, { includeTimeline: true });
  const timeline = pickList(told.json, 'timeline');
  const problems = timeline.flatMap((entry) => problemsOf(entry, TIMELINE_ENTRY));
  expectShape(world, 'entries of its timeline', problems, timeline);
  const column = (key: string) => timeline.map((entry) => pick(entry, key));
  const states = ['merged', 'tests_passed', 'testing', 'pending', 'not_ready'];
  recorder.equal('its timeline tells every state, newest first', column('state'), states);
  const reasons = ['MERGE_GRAPH_MERGE', null, null, 'MERGE_ITEM_NOW_READY', null];
  recorder.equal('with their reasons', column('reason'), reasons);
  recorder.equal('all on the first trip', [...new Set(column('trip'))], [1]);
  const runs = timeline.slice(0, 3).map((entry) => pick(entry, 'testRunId'));
  recorder.equal('and the run that tested it', runs, [runId, runId, runId]);
  const times = column('timestamp').map(String);
  recorder.equal('in the order of time', times, times.toSorted().toReversed());
  recorder.equal('its end is the change of its state', times[0], pick(told.json, 'stateChangedAt'));
}

async function checkMergedRun(world: World, queue: QueueRef, testRunId: unknown): Promise<Answer> {
  const ask = (more: object) => post(world, 'getMergeQueueTestingDetails', { ...queue, ...more });
  const run = await ask({ testRunId });
  expectShape(world, 'the run that verified it', problemsOf(run.json, TEST_RUN), run.json);
  expectField(world, 'it succeeded', run, ['status'], 'succeeded');
  expectField(world, 'it required what the branch requires', run, ['requiredStatuses'], ['ci/test']);
  expectField(world, 'and says so', run, ['requiredStatusesSource'], 'branch_protection');
  expectField(world, 'what CI said is told', run, ['statusChecks', 0, 'context'], 'ci/test');
  expectField(world, 'and how it ended', run, ['statusChecks', 0, 'state'], 'SUCCESS');
  const isOver = pick(run.json, 'concludedAt') !== null;
  world.recorder.check('and when it ended', isOver, brief(run.json));
  expectField(
    world,
    'it is still the run of its pull request',
    await ask({ pr: { number: 1 } }),
    [],
    run.json,
  );
  expectField(world, 'nothing is under test any more', await ask({}), ['testRuns'], []);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const results = await post(world, 'listMergeQueueTestingResults', { ...queue, since });
  expectField(world, 'it is among the results', results, ['testingResults', 0, 'testRunId'], testRunId);
  expectField(world, 'of which there is one', results, ['totalItems'], 1);
  return run;
}

async function checkProof(world: World, queue: QueueRef, submitted: Answer, run: Answer): Promise<void> {
  const { recorder } = world;
  const landing = await getLanding(world, queue, { pr: { number: 1 } });
  expectOk(world, 'getLanding by pull request', landing);
  expectShape(world, 'a landing', problemsOf(landing.json, LANDING), landing.json);
  const of = (key: string) => pick(landing.json, key);
  const ofRun = (key: string) => pick(run.json, key);
  recorder.equal('the landed tree is the tested tree', of('landedTreeSha'), of('testedTreeSha'));
  recorder.equal('which is the tree of the run', of('testedTreeSha'), ofRun('testTreeSha'));
  recorder.equal('what landed is what was on the test branch', of('landedSha'), ofRun('testBranchSha'));
  const same = ['testRunId', 'testBranchSha', 'baseSha', 'requiredStatuses', 'statusChecks'];
  for (const key of same) recorder.equal(`${key} is that of the run`, of(key), ofRun(key));
  const manner = { proof: of('proof'), landingMode: of('landingMode'), mergeMethod: of('mergeMethod') };
  const expected = { proof: 'exact', landingMode: 'fast_forward', mergeMethod: 'squash' };
  recorder.equal('the way it landed', manner, expected);
  const prSha = pick(submitted.json, 'prSha');
  const member = { prNumber: 1, prSha, landedSha: of('landedSha'), forced: false };
  recorder.equal('whose change it was', of('members'), [member]);
  const commit = String(of('landedSha'));
  for (const [how, sha] of Object.entries({ commit, 'commit in upper case': commit.toUpperCase() })) {
    const found = await getLanding(world, queue, { commit: sha });
    recorder.equal(`getLanding by ${how}`, found.json, landing.json, found.asked);
  }
  const base = await getLanding(world, queue, { commit: of('baseSha') });
  expectError(world, 'what was there before was not landed', base, 404, 'LANDING_NOT_FOUND');
  const { otherToken: token } = world.options;
  if (!token) return recorder.skip('getLanding of what landed elsewhere', '--other-token');
  for (const by of [{ commit }, { pr: { number: 1 } }]) {
    const other = await post(world, 'getLanding', { ...queue, ...by }, { token });
    expectError(world, `getLanding by ${Object.keys(by)[0]} elsewhere`, other, 404, 'QUEUE_NOT_FOUND');
  }
}

async function checkMergedHost(world: World, queue: QueueRef): Promise<void> {
  const { repo } = queue;
  const pr = { number: 1 };
  const landing = await getLanding(world, queue, { pr });
  const main = [{ name: 'main', sha: pick(landing.json, 'landedSha') }];
  // Test branches are removed a moment later.
  const shown = await eventually(
    () => sandbox(world, 'getRepository', { repo }),
    (answer) => pickList(answer.json, 'branches').length === 1,
  );
  expectField(world, 'the branch is where it landed, and no test branch is left', shown, ['branches'], main);
  const onHost = await sandbox(world, 'getPullRequest', { repo, pr });
  expectField(world, 'its host shows it as merged', onHost, ['pullRequest', 'state'], 'merged');
  const queued = await post(world, 'getQueue', queue);
  expectField(world, 'the queue is empty', queued, ['enqueuedPullRequests'], []);
  expectField(world, 'and runs', queued, ['state'], 'RUNNING');
  const again = await submit(world, queue, 1);
  expectError(world, 'submitting what landed', again, 409, 'PULL_REQUEST_NOT_ENQUEUEABLE');
  const cancelled = await cancel(world, queue, 1);
  expectError(world, 'cancelling what landed', cancelled, 409, 'PULL_REQUEST_NOT_IN_QUEUE');
  const restart = await post(world, 'restartTestsOnPullRequest', { ...queue, pr });
  expectError(world, 'restarting tests of what landed', restart, 409, 'TESTS_NOT_RESTARTABLE');
}

/** One slot, and CI that says what it is told to say: the first passes, the second fails, and then passes. */
export async function checkVerdicts(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('what passes lands, what fails does not', 'no sandbox');
  const queue = await makeManualQueue(world, 'verdict', { strategy: 'manual', concurrency: 1 });
  await submit(world, queue, 1);
  await waitForState(world, queue, 1, ['testing']);
  await submit(world, queue, 2);
  const second = await waitForState(world, queue, 2, ['pending']);
  expectField(world, 'with one slot the second waits', second, ['state'], 'pending');
  expectField(world, 'behind the first', second, ['queuePosition'], 1);
  const details = (number: number) =>
    post(world, 'getMergeQueueTestingDetails', { ...queue, pr: { number } });
  expectError(world, 'what is pending has no run', await details(2), 404, 'TEST_RUN_NOT_FOUND');
  const entries = pickList((await post(world, 'getQueue', queue)).json, 'enqueuedPullRequests');
  const line = entries.map((entry) => [pick(entry, 'prNumber'), pick(entry, 'state')]);
  const expected = [
    [1, 'testing'],
    [2, 'pending'],
  ];
  world.recorder.equal('what is under test is listed ahead of what is pending', line, expected);
  await checkMetricsOf(world, queue, 'under test', {
    merged: 0,
    failed: 0,
    cancelled: 0,
    live: 2,
    testing: 1,
  });
  await report(world, queue, 1, 'success');
  const merged = await waitForState(world, queue, 1, ['merged']);
  expectField(world, 'what CI passes is merged', merged, ['state'], 'merged');
  await checkFailure(world, queue);
  const numbers = { merged: 2, failed: 1, cancelled: 0, live: 0 };
  await checkMetricsOf(world, queue, 'after a failure', numbers);
}

/** Says what CI says of the newest run of a pull request, as soon as it is there to be tested. */
async function report(world: World, queue: QueueRef, number: number, state: string): Promise<Answer> {
  const run = await waitForBegunRun(world, queue, number);
  const said = { repo: queue.repo, testRunOf: number, name: 'ci/test', state };
  const answer = await sandbox(world, 'setCheck', said);
  const sha = pick(run.json, 'testBranchSha');
  expectField(world, `CI reports ${state} for #${number} on its test branch`, answer, ['sha'], sha);
  return run;
}

async function checkFailure(world: World, queue: QueueRef): Promise<void> {
  const first = await getLanding(world, queue, { pr: { number: 1 } });
  const tip = pick(first.json, 'landedSha');
  await waitForState(world, queue, 2, ['testing']);
  const run = await report(world, queue, 2, 'failure');
  expectField(world, 'the next is tested on what landed', run, ['baseSha'], tip);
  const failed = await waitForState(world, queue, 2, ['failed']);
  expectField(world, 'what CI fails is failed', failed, ['state'], 'failed');
  const reason = 'TEST_RUN_REQUIRED_STATUS_FAILED';
  expectField(world, 'with its reason', failed, ['conclusionReason'], reason);
  expectField(world, 'and is no longer submitted', failed, ['isCurrentlySubmittedToQueue'], false);
  expectField(world, 'verified by no run', failed, ['verifiedByTestRun'], null);
  const ended = await post(world, 'getMergeQueueTestingDetails', { ...queue, pr: { number: 2 } });
  expectField(world, 'its run failed', ended, ['status'], 'failed');
  expectField(world, 'and says which check', ended, ['statusChecks', 0, 'state'], 'FAILURE');
  const none = await getLanding(world, queue, { pr: { number: 2 } });
  expectError(world, 'what failed has no landing', none, 404, 'LANDING_NOT_FOUND');
  const shown = await sandbox(world, 'getRepository', { repo: queue.repo });
  const main = pickList(shown.json, 'branches').find((branch) => pick(branch, 'name') === 'main');
  world.recorder.equal('and did not move the branch', pick(main, 'sha'), tip);
  const again = await submit(world, queue, 2);
  expectField(world, 'what failed may be submitted again', again, ['state'], 'not_ready');
  await waitForState(world, queue, 2, ['testing']);
  const repeated = await report(world, queue, 2, 'success');
  const isNew = pick(repeated.json, 'testRunId') !== pick(ended.json, 'testRunId');
  world.recorder.check('and is tested anew', isNew, brief(repeated.json));
  const merged = await waitForState(world, queue, 2, ['merged']);
  expectField(world, 'to be merged', merged, ['state'], 'merged');
  const second = await getLanding(world, queue, { pr: { number: 2 } });
  expectField(world, 'on top of the first', second, ['baseSha'], tip);
  const landed = pick(second.json, 'landedSha');
  world.recorder.check('with a commit of its own', isSha(landed) && landed !== tip, brief(second.json));
}

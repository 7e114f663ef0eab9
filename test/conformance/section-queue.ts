/** Queues: created with their defaults, read, changed, listed in order, and deleted only when empty. */
import { brief } from './check.ts';
import { expectEmpty, expectError, expectField, expectInvalid, expectOk, expectShape } from './expect.ts';
import { has, pick, pickList } from './json.ts';
import { ENQUEUED, problemsOf } from './shape.ts';
import {
  NEVER_REPORTED,
  PATIENCE_MS,
  cancel,
  eventually,
  freshRepo,
  makePausedQueue,
  makeQueue,
  post,
  submit,
  type QueueRef,
  type World,
} from './world.ts';

const DEFAULTS: Readonly<Record<string, unknown>> = {
  mode: 'single',
  concurrency: 5,
  bisectionConcurrency: 0,
  testingTimeoutMinutes: 300,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: false,
  batch: false,
  batchingMaxWaitTimeMinutes: 5,
  batchingMinSize: 4,
  mergeMethod: 'squash',
  landingMode: 'auto',
  directMergeMode: 'off',
  optimizationMode: 'off',
  createPrsForTestingBranches: false,
  commentsEnabled: true,
  commandsEnabled: true,
  statusCheckEnabled: true,
  enqueueingLabel: 'signalbox-submit',
  labelCommandsEnabled: true,
  stateLabelsEnabled: false,
  extensionEnabled: true,
  requiredStatuses: null,
  notReadyTimeoutHours: 0,
  state: 'RUNNING',
};

/** Something else than the default for every setting that creation takes. */
const OTHERS: Readonly<Record<string, unknown>> = {
  mode: 'parallel',
  concurrency: 7,
  bisectionConcurrency: 2,
  testingTimeoutMinutes: 60,
  pendingFailureDepth: 3,
  canOptimisticallyMerge: true,
  batch: true,
  batchingMaxWaitTimeMinutes: 9,
  batchingMinSize: 6,
  mergeMethod: 'rebase',
  landingMode: 'host',
  directMergeMode: 'always',
  optimizationMode: 'bisection_skip_redundant_tests',
  createPrsForTestingBranches: true,
  commentsEnabled: false,
  commandsEnabled: false,
  statusCheckEnabled: false,
  enqueueingLabel: 'ship-it',
  labelCommandsEnabled: false,
  stateLabelsEnabled: true,
  extensionEnabled: false,
  requiredStatuses: ['ci/build', 'ci/test'],
  notReadyTimeoutHours: 24,
};

export async function checkQueueLife(world: World): Promise<void> {
  const { recorder } = world;
  const queue = { repo: freshRepo(world, 'queue'), targetBranch: 'main' };
  for (const name of [
    'getQueue',
    'updateQueue',
    'deleteQueue',
    'listPullRequests',
    'getMergeQueueTestingDetails',
  ])
    expectError(world, `${name} without a queue`, await post(world, name, queue), 404, 'QUEUE_NOT_FOUND');
  const made = await makeQueue(world, queue);
  expectOk(world, 'createQueue with nothing but its branch', made);
  for (const [key, value] of Object.entries(DEFAULTS))
    expectField(world, `default of ${key}`, made, [key], value);
  expectField(world, 'createQueue answers the repository', made, ['repo'], queue.repo);
  expectField(world, 'createQueue answers targetBranch', made, ['targetBranch'], 'main');
  expectField(world, 'createQueue answers branch', made, ['branch'], 'main');
  const hasEntries = has(made.json, 'enqueuedPullRequests') || has(made.json, 'deleteRequiredStatuses');
  recorder.check('createQueue leaves out the enqueued list', !hasEntries, brief(made.json));
  const read = await post(world, 'getQueue', queue);
  const expected = {
    ...(made.json as object),
    isHostAway: false,
    repositoryFetch: null,
    enqueuedPullRequests: [],
  };
  recorder.equal(
    'getQueue is what createQueue answered, with its host and an empty list',
    read.json,
    expected,
  );
  const again = await post(world, 'createQueue', queue);
  expectError(world, 'a second queue for the branch', again, 409, 'QUEUE_ALREADY_EXISTS');
  const second = await makeQueue(world, { ...queue, targetBranch: 'next' });
  expectOk(world, 'a queue for another branch', second);
  expectEmpty(world, 'deleteQueue of an empty queue', await post(world, 'deleteQueue', queue));
  expectError(
    world,
    'getQueue after deleteQueue',
    await post(world, 'getQueue', queue),
    404,
    'QUEUE_NOT_FOUND',
  );
  expectError(world, 'deleteQueue twice', await post(world, 'deleteQueue', queue), 404, 'QUEUE_NOT_FOUND');
  expectOk(world, 'createQueue after deleteQueue', await post(world, 'createQueue', queue));
}

export async function checkQueueUpdates(world: World): Promise<void> {
  const { recorder } = world;
  const queue = { repo: freshRepo(world, 'full'), targetBranch: 'main' };
  const made = await makeQueue(world, queue, OTHERS);
  for (const [key, value] of Object.entries(OTHERS))
    expectField(world, `${key} can be set at creation`, made, [key], value);
  const read = async () => (await post(world, 'getQueue', queue)).json;
  const stored = await read();
  recorder.equal(
    'and is stored',
    {
      ...(stored as object),
      isHostAway: undefined,
      repositoryFetch: undefined,
      enqueuedPullRequests: undefined,
    },
    {
      ...(made.json as object),
      isHostAway: undefined,
      repositoryFetch: undefined,
      enqueuedPullRequests: undefined,
    },
  );
  const nothing = await post(world, 'updateQueue', queue);
  recorder.equal('updateQueue with nothing changes nothing', nothing.json, made.json, nothing.asked);
  const one = await post(world, 'updateQueue', { ...queue, concurrency: 11 });
  const expected = { ...(made.json as object), concurrency: 11 };
  recorder.equal('updateQueue changes just what is given', one.json, expected, one.asked);
  const bad = await post(world, 'updateQueue', {
    ...queue,
    concurrency: 0,
    batchingMinSize: 0,
    mode: 'both',
    batch: 1,
  });
  expectInvalid(world, 'four bad settings at once', bad, 'concurrency', 'batchingMinSize', 'mode', 'batch');
  const half = await post(world, 'updateQueue', { ...queue, concurrency: 12, batchingMinSize: 0 });
  expectInvalid(world, 'one bad setting among good ones', half, 'batchingMinSize');
  recorder.equal('a refused update changes nothing', pick(await read(), 'concurrency'), 11);
  const mode = await post(world, 'updateQueue', { ...queue, mode: 'single' });
  expectField(world, 'a change of mode with nothing under test is at once', mode, ['mode'], 'single');
  expectField(world, 'and the queue goes on running', mode, ['state'], 'RUNNING');
  const early = { repo: queue.repo, targetBranch: 'born-paused' };
  const born = await makeQueue(world, early, { state: 'PAUSED' });
  const isNotSet = born.status === 400 || pick(born.json, 'state') === 'RUNNING';
  recorder.check('state cannot be set at creation', isNotSet, `got ${born.status} ${brief(born.json)}`);
}

export async function checkQueueStates(world: World): Promise<void> {
  const queue = { repo: freshRepo(world, 'state'), targetBranch: 'main' };
  await makeQueue(world, queue);
  for (const state of ['PAUSED', 'DRAINING', 'RUNNING', 'DRAINING', 'PAUSED', 'RUNNING']) {
    const answer = await post(world, 'updateQueue', { ...queue, state });
    expectField(world, `updateQueue to ${state}`, answer, ['state'], state);
    expectField(world, `getQueue says ${state}`, await post(world, 'getQueue', queue), ['state'], state);
  }
  const quiet = await post(world, 'updateQueue', { ...queue, state: 'paused' });
  expectField(
    world,
    'a state is accepted in lower case and answered in upper case',
    quiet,
    ['state'],
    'PAUSED',
  );
  for (const state of ['SWITCHING_MODES', 'switching_modes', 'STOPPED', '', 1, true]) {
    const answer = await post(world, 'updateQueue', { ...queue, state });
    expectInvalid(world, `state ${JSON.stringify(state)} cannot be written`, answer, 'state');
  }
}

export async function checkQueueEntries(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('the enqueued list and QUEUE_NOT_EMPTY', 'no sandbox');
  const queue = await makePausedQueue(world, 'entries');
  await submit(world, queue, 31, { priority: 'low' });
  await submit(world, queue, 32, { priority: 'urgent' });
  await submit(world, queue, 33);
  const read = await post(world, 'getQueue', queue);
  const entries = pickList(read.json, 'enqueuedPullRequests');
  const numbers = entries.map((entry) => pick(entry, 'prNumber'));
  world.recorder.equal('what is not ready is listed in submission order', numbers, [31, 32, 33]);
  expectShape(world, 'an enqueued pull request', problemsOf(entries[0], ENQUEUED), entries[0]);
  world.recorder.equal('its state', pick(entries[0], 'state'), 'not_ready');
  const used = entries.map((entry) => pick(entry, 'usedDefaultPriorityName'));
  world.recorder.equal('the default priority is named only where it was used', used, [
    undefined,
    undefined,
    'medium',
  ]);
  for (const number of [31, 32, 33]) {
    const refused = await post(world, 'deleteQueue', queue);
    expectError(world, `deleteQueue while #${number} is in it`, refused, 409, 'QUEUE_NOT_EMPTY');
    await cancel(world, queue, number);
  }
  const empty = await post(world, 'getQueue', queue);
  expectField(world, 'what was cancelled is no longer listed', empty, ['enqueuedPullRequests'], []);
  expectEmpty(world, 'deleteQueue once it is empty', await post(world, 'deleteQueue', queue));
}

function isAdmitted(entries: readonly unknown[]): boolean {
  return entries.length > 0 && entries.every((entry) => pick(entry, 'state') !== 'not_ready');
}

/** Admits five pull requests at once, then pauses: what is still pending is in the order it will be considered. */
export async function checkQueueOrder(world: World): Promise<void> {
  const name = 'pending pull requests are in order of priority, then of submission';
  if (!world.hasSandbox) return world.recorder.skip(name, 'no sandbox');
  const queue = await makePausedQueue(world, 'order', { concurrency: 1, ...NEVER_REPORTED });
  const priorities = { 41: 200, 42: 100, 43: 10, 44: 100, 45: 42 };
  for (const [number, priority] of Object.entries(priorities))
    await submit(world, queue, Number(number), { priority });
  await post(world, 'updateQueue', { ...queue, state: 'RUNNING' });
  const admitted = await eventually(
    () => post(world, 'getQueue', queue),
    (answer) => isAdmitted(pickList(answer.json, 'enqueuedPullRequests')),
    PATIENCE_MS,
    40,
  );
  await post(world, 'updateQueue', { ...queue, state: 'PAUSED' });
  const entries = pickList(admitted.json, 'enqueuedPullRequests');
  world.recorder.check('a running queue admits what is ready', isAdmitted(entries), brief(entries));
  await comparePending(world, queue, name, [43, 45, 42, 44, 41]);
  await submit(world, queue, 42, { priority: 100 });
  await comparePending(world, queue, 'submitting again keeps the place among equals', [43, 45, 42, 44, 41]);
  await submit(world, queue, 44, { priority: 'low' });
  await comparePending(
    world,
    queue,
    'a new priority takes its place by first submission',
    [43, 45, 42, 41, 44],
  );
}

async function comparePending(
  world: World,
  queue: QueueRef,
  name: string,
  order: readonly number[],
): Promise<void> {
  const read = await post(world, 'getQueue', queue);
  const pending = pickList(read.json, 'enqueuedPullRequests').filter(
    (entry) => pick(entry, 'state') === 'pending',
  );
  const numbers = pending.map((entry) => Number(pick(entry, 'prNumber')));
  if (numbers.length < 3)
    return world.recorder.skip(name, 'too few were left pending by the time of the pause');
  const expected = order.filter((number) => numbers.includes(number));
  world.recorder.equal(name, numbers, expected, read.asked);
}

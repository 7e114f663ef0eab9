/** The table of queue settings, row by row: bounds, types, enums. */
import { brief } from './check.ts';
import { expectField, expectInvalid, expectOk } from './expect.ts';
import { pick } from './json.ts';
import { freshRepo, makeQueue, post, type QueueRef, type World } from './world.ts';

const NUMBERS: readonly { readonly key: string; readonly min: number; readonly max: number }[] = [
  { key: 'concurrency', min: 1, max: 1000 },
  { key: 'bisectionConcurrency', min: 0, max: 1000 },
  { key: 'testingTimeoutMinutes', min: 0, max: 10_080 },
  { key: 'pendingFailureDepth', min: 0, max: 1000 },
  { key: 'batchingMaxWaitTimeMinutes', min: 0, max: 10_080 },
  { key: 'batchingMinSize', min: 1, max: 1000 },
  { key: 'notReadyTimeoutHours', min: 0, max: 720 },
];

const FLAGS = [
  'canOptimisticallyMerge',
  'batch',
  'createPrsForTestingBranches',
  'commentsEnabled',
  'commandsEnabled',
  'statusCheckEnabled',
  'labelCommandsEnabled',
  'stateLabelsEnabled',
  'extensionEnabled',
];

const ENUMS: Readonly<Record<string, readonly string[]>> = {
  mode: ['parallel', 'single'],
  mergeMethod: ['merge_commit', 'rebase', 'squash'],
  landingMode: ['fast_forward', 'host', 'auto'],
  directMergeMode: ['always', 'off'],
  optimizationMode: ['bisection_skip_redundant_tests', 'off'],
};

export async function checkQueueSettings(world: World): Promise<void> {
  const queue = { repo: freshRepo(world, 'setting'), targetBranch: 'main' };
  expectOk(world, 'createQueue', await makeQueue(world, queue));
  const set = (key: string, value: unknown) => post(world, 'updateQueue', { ...queue, [key]: value });
  for (const { key, min, max } of NUMBERS) {
    for (const value of [min - 1, max + 1, min + 0.5, String(min), true, [min]])
      expectInvalid(world, `${key} ${JSON.stringify(value)}`, await set(key, value), key);
    for (const value of [max, min])
      expectField(world, `${key} ${value}`, await set(key, value), [key], value);
    const atCreation = await post(world, 'createQueue', {
      repo: queue.repo,
      targetBranch: 'bad',
      [key]: max + 1,
    });
    expectInvalid(world, `${key} ${max + 1} at creation`, atCreation, key);
  }
  for (const key of FLAGS) {
    for (const value of ['yes', 1])
      expectInvalid(world, `${key} ${JSON.stringify(value)}`, await set(key, value), key);
    for (const value of [true, false])
      expectField(world, `${key} ${value}`, await set(key, value), [key], value);
  }
  for (const [key, values] of Object.entries(ENUMS)) {
    for (const value of ['no_such_value', '', 1])
      expectInvalid(world, `${key} ${JSON.stringify(value)}`, await set(key, value), key);
    for (const value of values) {
      expectField(world, `${key} ${value}`, await set(key, value.toUpperCase()), [key], value);
    }
  }
  await checkLabels(world, queue);
  await checkRequiredStatuses(world, queue);
  const bad = await post(world, 'getQueue', { repo: queue.repo, targetBranch: 'bad' });
  world.recorder.equal('a refused createQueue creates nothing', bad.status, 404, bad.asked);
}

async function checkLabels(world: World, queue: QueueRef): Promise<void> {
  const set = (enqueueingLabel: unknown) => post(world, 'updateQueue', { ...queue, enqueueingLabel });
  for (const label of ['', 'x'.repeat(51), 7])
    expectInvalid(world, `enqueueingLabel ${brief(label)}`, await set(label), 'enqueueingLabel');
  for (const label of ['x'.repeat(50), 'x'])
    expectField(world, `enqueueingLabel of ${label.length}`, await set(label), ['enqueueingLabel'], label);
}

async function checkRequiredStatuses(world: World, queue: QueueRef): Promise<void> {
  const set = (more: object) => post(world, 'updateQueue', { ...queue, ...more });
  const key = 'requiredStatuses';
  const hundred = Array.from({ length: 100 }, (_, index) => `ci/${index}`);
  expectField(world, '100 required statuses', await set({ [key]: hundred }), [key], hundred);
  const tooMany = await set({ [key]: [...hundred, 'ci/100'] });
  expectInvalid(world, '101 required statuses', tooMany, key);
  for (const value of ['ci/build', [1], { name: 'x' }])
    expectInvalid(world, `requiredStatuses ${brief(value)}`, await set({ [key]: value }), key);
  expectField(world, 'no required statuses at all stays a list', await set({ [key]: [] }), [key], []);
  await set({ [key]: ['ci/build'] });
  const kept = await set({ deleteRequiredStatuses: false });
  expectField(world, 'deleteRequiredStatuses false keeps them', kept, [key], ['ci/build']);
  const deleted = await set({ deleteRequiredStatuses: true });
  expectField(world, 'deleteRequiredStatuses true sets them back to null', deleted, [key], null);
  expectField(world, 'deleteRequiredStatuses is write only', deleted, ['deleteRequiredStatuses'], undefined);
  await set({ [key]: ['ci/build'] });
  expectField(world, 'requiredStatuses null', await set({ [key]: null }), [key], null);
  const wrong = await set({ deleteRequiredStatuses: 'yes' });
  expectInvalid(world, 'deleteRequiredStatuses "yes"', wrong, 'deleteRequiredStatuses');
  const read = await post(world, 'getQueue', queue);
  world.recorder.equal(
    'the stored queue holds the last values',
    pick(read.json, 'enqueueingLabel'),
    'x',
    read.asked,
  );
}

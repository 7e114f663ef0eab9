/** Priorities by name and by number, and what submitting again rewrites. */
import { brief } from './check.ts';
import { expectField, expectInvalid } from './expect.ts';
import { has, pick } from './json.ts';
import { makePausedQueue, submit, type QueueRef, type World } from './world.ts';

/** Given, value, name. */
const TABLE: readonly (readonly [string | number, number, string])[] = [
  ['urgent', 0, 'urgent'],
  ['high', 10, 'high'],
  ['medium', 100, 'medium'],
  ['low', 200, 'low'],
  ['URGENT', 0, 'urgent'],
  ['High', 10, 'high'],
  ['mEdIuM', 100, 'medium'],
  [0, 0, 'urgent'],
  [10, 10, 'high'],
  [100, 100, 'medium'],
  [200, 200, 'low'],
  [1, 1, '1'],
  [42, 42, '42'],
  [255, 255, '255'],
];

export async function checkPriorities(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'priority');
  for (const priority of [-1, 256, 1.5, 'asap', '', true, ['high'], {}]) {
    const answer = await submit(world, queue, 1, { priority });
    expectInvalid(world, `priority ${JSON.stringify(priority)}`, answer, 'priority');
  }
  for (const noBatch of ['yes', 1])
    expectInvalid(
      world,
      `noBatch ${JSON.stringify(noBatch)}`,
      await submit(world, queue, 1, { noBatch }),
      'noBatch',
    );
  if (!world.hasSandbox) return world.recorder.skip('the table of priorities', 'no sandbox');
  await checkTable(world, queue);
  await checkResubmission(world, queue);
}

async function checkTable(world: World, queue: QueueRef): Promise<void> {
  for (const [index, [priority, value, name]] of TABLE.entries()) {
    const answer = await submit(world, queue, 100 + index, { priority });
    const got = {
      priorityValue: pick(answer.json, 'priorityValue'),
      priorityName: pick(answer.json, 'priorityName'),
      skipTheLine: pick(answer.json, 'skipTheLine'),
    };
    const expected = { priorityValue: value, priorityName: name, skipTheLine: value === 0 };
    world.recorder.equal(`priority ${JSON.stringify(priority)}`, got, expected, answer.asked);
    const isNamed = has(answer.json, 'usedDefaultPriorityName');
    world.recorder.check(`priority ${JSON.stringify(priority)} is no default`, !isNamed, brief(answer.json));
  }
  const plain = await submit(world, queue, 200);
  expectField(world, 'no priority is medium', plain, ['priorityName'], 'medium');
  expectField(world, 'no priority is 100', plain, ['priorityValue'], 100);
  expectField(world, 'no priority names the default', plain, ['usedDefaultPriorityName'], 'medium');
}

async function checkResubmission(world: World, queue: QueueRef): Promise<void> {
  const first = await submit(world, queue, 201, { priority: 'low', noBatch: true });
  expectField(world, 'noBatch is stored', first, ['noBatch'], true);
  const second = await submit(world, queue, 201, { priority: 7, noBatch: false });
  expectField(world, 'submitting again rewrites the priority', second, ['priorityValue'], 7);
  expectField(world, 'submitting again rewrites the batching', second, ['noBatch'], false);
  expectField(world, 'submitting again keeps the id', second, ['id'], pick(first.json, 'id'));
  expectField(world, 'submitting again keeps the state', second, ['state'], 'not_ready');
  const since = pick(first.json, 'stateChangedAt');
  expectField(world, 'submitting again is no change of state', second, ['stateChangedAt'], since);
  const third = await submit(world, queue, 201);
  expectField(world, 'submitting again without a priority is the default', third, ['priorityValue'], 100);
  expectField(world, 'and names it', third, ['usedDefaultPriorityName'], 'medium');
}

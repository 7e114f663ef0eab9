/** listPullRequests, getSubmittedPullRequests and listMergeQueueTestingResults. */
import { brief } from './check.ts';
import { expectError, expectField, expectInvalid, expectShape } from './expect.ts';
import { has, pick, pickList } from './json.ts';
import { RECORD, problemsOf } from './shape.ts';
import { cancel, freshRepo, makePausedQueue, post, submit, type QueueRef, type World } from './world.ts';

const NUMBERS = [51, 52, 53, 54, 55];

function numbersOf(json: unknown): readonly unknown[] {
  return pickList(json, 'pullRequests').map((record) => pick(record, 'prNumber'));
}

function ascending(a: unknown, b: unknown): number {
  return Number(a) - Number(b);
}

function many(length: number): readonly { number: number }[] {
  return Array.from({ length }, (_, index) => ({ number: index + 1 }));
}

export async function checkListBounds(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'list-bounds');
  const list = (more: object) => post(world, 'listPullRequests', { ...queue, ...more });
  for (const take of [0, 101, -1, 1.5, 'many'])
    expectInvalid(world, `take ${take}`, await list({ take }), 'take');
  for (const key of ['since', 'until'])
    for (const value of ['yesterday', 7, '2026-13-45T00:00:00.000Z'])
      expectInvalid(world, `${key} ${value}`, await list({ [key]: value }), key);
  expectInvalid(world, 'an unknown state', await list({ state: 'lost' }), 'state');
  const cursor = await list({ cursor: 'no-such-cursor' });
  expectError(world, 'a cursor that is none', cursor, 400, 'INVALID_PAGE_TOKEN', 'VALIDATION_FAILED');
  expectField(world, 'an empty queue lists nothing', await list({}), ['pullRequests'], []);
  const several = (prs: unknown) => post(world, 'getSubmittedPullRequests', { ...queue, prs });
  expectInvalid(world, '51 pull requests at once', await several(many(51)), 'prs');
  expectInvalid(world, 'a bad number among them', await several([{ number: 1 }, { number: 0 }]), 'prs');
  const fifty = await several(many(50));
  world.recorder.equal('50 pull requests at once', pickList(fifty.json, 'notFound').length, 50, fifty.asked);
  expectField(world, 'none of them was submitted', fifty, ['pullRequests'], []);
  await checkResults(world, queue);
  const ghost = {
    repo: freshRepo(world, 'ghost'),
    targetBranch: 'main',
    prs: [{ number: 1 }],
    since: '2026-01-01T00:00:00.000Z',
  };
  for (const name of ['getSubmittedPullRequests', 'listMergeQueueTestingResults'])
    expectError(world, `${name} without a queue`, await post(world, name, ghost), 404, 'QUEUE_NOT_FOUND');
}

async function checkResults(world: World, queue: QueueRef): Promise<void> {
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const results = (more: object) => post(world, 'listMergeQueueTestingResults', { ...queue, ...more });
  const none = await results({ since });
  world.recorder.equal(
    'a queue without runs has no results',
    none.json,
    { testingResults: [], totalItems: 0 },
    none.asked,
  );
  expectInvalid(world, 'results since "then"', await results({ since: 'then' }), 'since');
  expectInvalid(world, 'results until "now"', await results({ since, until: 'now' }), 'until');
  expectInvalid(world, 'results with offset -1', await results({ since, offset: -1 }), 'offset');
  expectInvalid(world, 'results with take -1', await results({ since, take: -1 }), 'take');
  expectField(
    world,
    'results with every option',
    await results({ since, until: new Date().toISOString(), offset: 0, take: 10 }),
    ['totalItems'],
    0,
  );
}

export async function checkLists(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('lists of pull requests', 'no sandbox');
  const { recorder } = world;
  const queue = await makePausedQueue(world, 'list');
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  for (const number of NUMBERS) await submit(world, queue, number);
  const list = (more: object) => post(world, 'listPullRequests', { ...queue, ...more });
  const all = await list({});
  recorder.equal('listPullRequests is newest first', numbersOf(all.json), NUMBERS.toReversed(), all.asked);
  recorder.check(
    'a whole list has no next cursor',
    !pick(all.json, 'nextCursor'),
    brief(pick(all.json, 'nextCursor')),
  );
  const first = pick(all.json, 'pullRequests', 0);
  expectShape(world, 'listPullRequests lists records', problemsOf(first, RECORD), first);
  await checkCursor(world, queue);
  await cancel(world, queue, 52);
  await cancel(world, queue, 54);
  for (const state of ['cancelled', 'CANCELLED']) {
    const ended = await list({ state });
    recorder.equal(`only state ${state}`, numbersOf(ended.json).toSorted(ascending), [52, 54], ended.asked);
  }
  const live = await list({ state: 'not_ready' });
  recorder.equal('only state not_ready', numbersOf(live.json), [55, 53, 51], live.asked);
  const until = new Date(Date.now() + 60_000).toISOString();
  const window = await list({ since: startedAt, until });
  recorder.equal(
    'since and until are about the conclusion',
    numbersOf(window.json).toSorted(ascending),
    [52, 54],
    window.asked,
  );
  const past = await list({ since: '2020-01-01T00:00:00.000Z', until: '2020-01-02T00:00:00.000Z' });
  expectField(world, 'nothing concluded in a past window', past, ['pullRequests'], []);
  const later = await list({ since: until });
  expectField(world, 'nothing concluded after now', later, ['pullRequests'], []);
  await checkSeveral(world, queue);
}

async function checkCursor(world: World, queue: QueueRef): Promise<void> {
  const seen: unknown[] = [];
  const sizes: number[] = [];
  let cursor: unknown;
  do {
    const page = await post(world, 'listPullRequests', { ...queue, take: 2, ...(cursor ? { cursor } : {}) });
    const numbers = numbersOf(page.json);
    seen.push(...numbers);
    sizes.push(numbers.length);
    cursor = pick(page.json, 'nextCursor');
  } while (cursor && sizes.length < 10);
  world.recorder.equal('pages of two hold all, each once', seen, NUMBERS.toReversed());
  world.recorder.equal('the last page is the rest', sizes, [2, 2, 1]);
}

async function checkSeveral(world: World, queue: QueueRef): Promise<void> {
  const prs = [{ number: 51 }, { number: 999 }, { number: 52 }];
  const several = await post(world, 'getSubmittedPullRequests', { ...queue, prs });
  world.recorder.equal(
    'getSubmittedPullRequests finds what was submitted',
    numbersOf(several.json).toSorted(ascending),
    [51, 52],
    several.asked,
  );
  // An element is either the number or the reference that was asked for.
  const notFound = pickList(several.json, 'notFound').map((item) => pick(item, 'number') ?? item);
  world.recorder.equal('and names what was not', notFound.map(Number), [999], several.asked);
  const record = pickList(several.json, 'pullRequests').find((item) => pick(item, 'prNumber') === 52);
  expectShape(world, 'getSubmittedPullRequests lists records', problemsOf(record, RECORD), record);
  world.recorder.check('without a timeline', record !== undefined && !has(record, 'timeline'), brief(record));
}

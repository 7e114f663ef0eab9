/** listQueues: every queue of the organization once, with what is in it. */
import { brief } from './check.ts';
import { expectError, expectInvalid, expectShape } from './expect.ts';
import { pick, pickList } from './json.ts';
import { LISTED_QUEUE, problemsOf } from './shape.ts';
import { freshRepo, makePausedQueue, makeQueue, post, submit, type World } from './world.ts';

const keyOf = (listed: unknown): string =>
  `${String(pick(listed, 'repo', 'name'))}@${String(pick(listed, 'targetBranch'))}`;

/** All pages; a deployment may have many queues besides those of this run. */
async function listAll(world: World, take: number, token?: string): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  let cursor: unknown;
  do {
    const call = token === undefined ? {} : { token };
    const page = await post(world, 'listQueues', { take, ...(cursor ? { cursor } : {}) }, call);
    const queues = pickList(page.json, 'queues');
    world.recorder.always('a page of queues holds no more than asked for', queues.length <= take, page.asked);
    seen.push(...queues);
    cursor = pick(page.json, 'nextCursor');
  } while (cursor);
  return seen;
}

export async function checkQueueList(world: World): Promise<void> {
  const { recorder } = world;
  for (const take of [0, 101, 1.5, 'many'])
    expectInvalid(world, `take ${take}`, await post(world, 'listQueues', { take }), 'take');
  const bad = await post(world, 'listQueues', { cursor: 'no-such-cursor' });
  expectError(world, 'a cursor that is none', bad, 400, 'INVALID_PAGE_TOKEN');

  const paused = await makePausedQueue(world, 'queue-list');
  const other = { repo: freshRepo(world, 'queue-list'), targetBranch: 'next' };
  await makeQueue(world, other, { mode: 'parallel' });
  if (world.hasSandbox) await submit(world, paused, 1);
  const own = (listed: unknown) => pick(listed, 'repo', 'name') === paused.repo.name;
  const all = await listAll(world, 100);
  const ours = all.filter(own);
  recorder.equal('the queues of a repository are listed by branch', ours.map(keyOf), [
    `${paused.repo.name}@main`,
    `${paused.repo.name}@next`,
  ]);
  recorder.equal('no queue is listed twice', new Set(all.map(keyOf)).size, all.length);
  recorder.equal(
    'pages of two hold the same',
    (await listAll(world, 2)).filter(own).map(keyOf),
    ours.map(keyOf),
  );
  for (const listed of ours)
    expectShape(world, `listQueues lists ${keyOf(listed)}`, problemsOf(listed, LISTED_QUEUE), listed);
  recorder.equal(
    'with their states',
    ours.map((listed) => pick(listed, 'state')),
    ['PAUSED', 'RUNNING'],
  );
  recorder.equal(
    'and modes',
    ours.map((listed) => pick(listed, 'mode')),
    ['single', 'parallel'],
  );
  if (world.hasSandbox)
    recorder.equal(
      'and what was submitted',
      Number(pick(ours[0], 'depth')) + Number(pick(ours[0], 'notReady')),
      1,
    );

  const deleted = await post(world, 'deleteQueue', other);
  recorder.equal('a queue is deleted', deleted.status, 200);
  recorder.equal('and listed no more', (await listAll(world, 100)).filter(own).map(keyOf), [keyOf(ours[0])]);

  const { otherToken } = world.options;
  if (!otherToken) return recorder.skip('queues across organizations', '--other-token');
  const theirs = (await listAll(world, 100, otherToken)).filter(own);
  recorder.check('another organization lists none of them', theirs.length === 0, brief(theirs));
}

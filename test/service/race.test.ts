import { expect, it, onTestFinished } from 'vitest';
import type { Check } from '#core/queue/check.ts';
import { recordChecks } from '#db/run/check-store.ts';
import { enqueueAtHost, enqueueReconciles, enqueueRefresh } from '#db/job/job.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { holdRuns, recordPushed } from '#db/run/run-store.ts';
import { withTransaction } from '#db/transaction.ts';
import type { QueueId, RepositoryId, RunId } from '#base/id.ts';
import { openTestCell } from '../support/database.ts';
import { takeJobs } from '../support/taken-job.ts';
import { insertRows, sql } from '../support/sql.ts';

/** A queue with a row of its own, and nothing in it. */
async function aQueue({
  db,
}: Cell): Promise<{ readonly repositoryId: RepositoryId; readonly queueId: QueueId }> {
  const repositoryId = '01940000-0000-7000-8000-0000000000a1' as RepositoryId;
  const organization = '01940000-0000-7000-8000-0000000000a0';
  const queueId = '01940000-0000-7000-8000-0000000000a2' as QueueId;
  const names = { host: 'h', owner: 'o', name: 'n', host_key: 'h', owner_key: 'o', name_key: 'n' };
  await insertRows(db, 'organization', [{ id: organization, slug: 'race', name: 'race' }]);
  await insertRows(db, 'repository', [{ id: repositoryId, organization_id: organization, ...names }]);
  await insertRows(db, 'queue', [
    { id: queueId, repository_id: repositoryId, branch: 'main', settings: '{}' },
  ]);
  return { repositoryId, queueId };
}

const aRun = ({ db }: Cell, queueId: QueueId, sha: string, required: object): Promise<void> =>
  insertRows(db, 'test_run', [
    {
      queue_id: queueId,
      id: '01940000-0000-7000-8000-0000000000a3',
      number: 1,
      phase: 'pushed',
      test_branch: 'signalbox/main/pr-1/x',
      test_branch_sha: sha,
      started_at: new Date(),
      ...required,
    },
  ]);

/** A check run of one suite; without a conclusion it is under way. */
const checkRun = (name: string, conclusion: string | null, app = '7'): Check => ({
  kind: 'check',
  suite: '1',
  name,
  status: conclusion === null ? 'in_progress' : 'completed',
  conclusion,
  url: '',
  at: 1,
  app,
});

it('the last two check updates of a run, recorded at the same time, mark its queue', async () => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const { repositoryId, queueId: queue } = await aQueue(cell);
  const sha = 'c'.repeat(40);
  await aRun(cell, queue, sha, { required_statuses: ['a', 'b'] });
  const word = (name: string) => {
    const check: Check = { kind: 'status', name, state: 'success', url: '', at: 1 };
    return { repositoryId, sha, check };
  };
  const recorded = Promise.withResolvers<void>();
  const both = Promise.withResolvers<void>();
  const first = withTransaction(cell, async (tx) => {
    const found = await recordChecks(tx, [word('a')]);
    recorded.resolve();
    await both.promise;
    return found;
  });
  await recorded.promise;
  const second = withTransaction(cell, (tx) => recordChecks(tx, [word('b')]));
  // Long enough for the second to have read what is there, if it does not wait.
  setTimeout(both.resolve, 200);
  expect(await first).toEqual([]);
  expect(await second).toEqual([queue]);
});

it.each<[what: string, checks: readonly Check[], isMarked: boolean]>([
  ['a required check that is reported by another app', [checkRun('a', 'success', '8')], false],
  ['a failure in a check suite that is under way', [checkRun('a', 'failure'), checkRun('b', null)], false],
  ['a failure in a check suite that is over', [checkRun('a', 'failure'), checkRun('b', 'success')], true],
  ['a skipped check that must not be skipped', [checkRun('a', 'skipped')], true],
  ['a neutral check', [checkRun('a', 'neutral')], true],
])('%s marks its queue exactly if the verdict is no longer open', async (_what, checks, isMarked) => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const { repositoryId, queueId } = await aQueue(cell);
  const sha = 'c'.repeat(40);
  await aRun(cell, queueId, sha, { required_statuses: ['a'], required_sources: ['app:7'] });
  const updates = checks.map((check) => ({ repositoryId, sha, check }));
  const marked = await withTransaction(cell, (tx) => recordChecks(tx, updates));
  expect(marked).toEqual(isMarked ? [queueId] : []);
});

it.each([
  ['a look', (tx: Tx, queueId: QueueId) => enqueueReconciles(tx, [queueId])],
  ['work at a host', (tx: Tx, queueId: QueueId) => enqueueAtHost(tx, 'publish-runs', { queueId })],
])('%s that a worker takes while it is asked for again is asked for again', async (_what, ask) => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const queueId = '01940000-0000-7000-8000-0000000000b1' as QueueId;
  await withTransaction(cell, (tx) => ask(tx, queueId));
  const taken = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  // As a worker does, and not committed yet when the others begin.
  const worker = withTransaction(cell, async (tx) => {
    await sql(tx)`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'w', attempts = 1`;
    taken.resolve();
    await go.promise;
  });
  await taken.promise;
  const asked = withTransaction(cell, (tx) => ask(tx, queueId));
  setTimeout(go.resolve, 200);
  await Promise.all([worker, asked]);
  const rows = await sql<{ waiting: boolean }>(cell.db)`
    select locked_at is null as waiting from graphile_worker._private_jobs order by id`;
  expect(rows.map(({ waiting }) => waiting)).toEqual([false, true]);
});

it('queues are marked dirty side by side, however many, without waiting in a circle', async () => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const ids = Array.from(
    { length: 40 },
    (_, index) => `01940000-0000-7000-8000-0000000001${String(index).padStart(2, '0')}` as QueueId,
  );
  const mark = (order: readonly QueueId[]) => withTransaction(cell, (tx) => enqueueReconciles(tx, order));
  await mark(ids);
  const rounds = Array.from({ length: 40 }, (_, round) => mark(round % 2 === 0 ? ids : ids.toReversed()));
  await expect(Promise.all(rounds)).resolves.toHaveLength(40);
});

it('queues are marked dirty in the order of their ids, also beside a release that adds one job after the other', async () => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const ids = Array.from(
    { length: 12 },
    (_, index) => `01940000-0000-7000-8000-0000000001${String(index).padStart(2, '0')}` as QueueId,
  );
  const add = (tx: Tx, id: QueueId) =>
    sql(tx)`select graphile_worker.add_job('reconcile-queue', '{}', job_key := ${`reconcile:${id}`}::text)`;
  // The last of them is under way, the others are pending.
  await add(cell.db, ids.at(-1)!);
  await takeJobs(cell, ['reconcile-queue']);
  for (const id of ids.slice(0, -1)) await add(cell.db, id);
  const first = Promise.withResolvers<void>();
  const other = withTransaction(cell, async (tx) => {
    await add(tx, ids[0]!);
    first.resolve();
    // Long enough for the list to have locked what it can.
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const id of ids.slice(1)) await add(tx, id);
  });
  await first.promise;
  const list = withTransaction(cell, (tx) => enqueueReconciles(tx, ids.toReversed()));
  await expect(Promise.all([other, list])).resolves.toHaveLength(2);
});

it('pull requests are asked for side by side, in whatever order, without waiting in a circle', async () => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const repositoryId = '01940000-0000-7000-8000-0000000000a1' as RepositoryId;
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
  const ask = (order: readonly number[]) =>
    withTransaction(cell, (tx) =>
      Promise.all(order.map((number) => enqueueRefresh(tx, repositoryId, number))),
    );
  await ask(numbers);
  const rounds = Array.from({ length: 20 }, (_, round) =>
    ask(round % 2 === 0 ? numbers : numbers.toReversed()),
  );
  await expect(Promise.all(rounds)).resolves.toHaveLength(20);
});

it('runs are written side by side, by whoever has news of them, without waiting in a circle', async () => {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const { repositoryId, queueId } = await aQueue(cell);
  const runs = Array.from({ length: 30 }, (_, index) => ({
    id: `01940000-0000-7000-8000-0000000002${String(index).padStart(2, '0')}` as RunId,
    sha: index.toString(16).padStart(40, 'd'),
  }));
  await insertRows(
    cell.db,
    'test_run',
    runs.map(({ id, sha }, index) => ({
      queue_id: queueId,
      id,
      number: index,
      phase: 'asked',
      test_branch: `signalbox/main/pr-${index}/x`,
      test_branch_sha: sha,
      required_statuses: ['a'],
    })),
  );
  const word = (sha: string, at: number, state: 'pending' | 'success') => {
    const check: Check = { kind: 'status', name: 'a', state, url: '', at };
    return { repositoryId, sha, check };
  };
  const news = (round: number) => {
    const order = round % 2 === 0 ? runs : runs.toReversed();
    return withTransaction(cell, async (tx) => {
      if (round % 4 < 2) {
        const words = order.map(({ sha }, index) =>
          word(sha, round, index % 3 === 0 ? 'success' : 'pending'),
        );
        await recordChecks(tx, words);
      } else {
        await holdRuns(tx, queueId);
        await recordPushed(
          tx,
          queueId,
          order.map(({ id }) => ({ id, testPr: null })),
          new Date(),
        );
      }
    });
  };
  await expect(Promise.all(Array.from({ length: 60 }, (_, round) => news(round)))).resolves.toHaveLength(60);
});

// The prediction of failures on a real database: what it learns from, when it is used, and how far it can be believed.
import { describe, expect, it } from 'vitest';
import type { QueueId } from '#base/id.ts';
import { type Client, main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';
import { insertRows, sql } from '../support/sql.ts';

const minute = 60_000;

/** One pull request of each author, with all attempts; ben's fail every other time, ada's never. */
async function insertPast(world: World, queueId: string, failures: number): Promise<void> {
  const { db } = world.cell;
  const now = world.clock.now().getTime();
  await insertRows(
    db,
    'queue_entry',
    ['ada', 'ben'].map((author, index) => ({
      queue_id: queueId,
      pr_number: 901 + index,
      id: `01940000-0000-7000-8000-00000000090${index}`,
      state: 'merged',
      seniority: index + 1,
      concluded_at: new Date(now),
      pr_title: 'Earlier',
      pr_sha: 'a'.repeat(40),
      pr_base_branch: 'main',
      pr_author: author,
      pr_url: 'https://sandbox.example',
      pr_mergeability: 'mergeable',
    })),
  );
  const count = 8 * failures;
  const attempts = Array.from({ length: count }, (_, at) => {
    const isBen = at % 4 === 0;
    const concluded = now - (count - at) * 1_000;
    return {
      queue_id: queueId,
      concluded_at: new Date(concluded),
      pr_number: isBen ? 902 : 901,
      attempt: 1,
      conclusion: isBen && at % 8 === 0 ? 'failed' : 'merged',
      submitted_at: new Date(concluded - minute),
      head_sha: 'a'.repeat(40),
    };
  });
  for (let from = 0; from < count; from += 400)
    await insertRows(db, 'attempt', attempts.slice(from, from + 400));
  await insertRows(db, 'attempt', [
    {
      queue_id: queueId,
      concluded_at: new Date(now - 500),
      pr_number: 902,
      attempt: 1,
      conclusion: 'cancelled',
      submitted_at: new Date(now - minute),
      head_sha: 'a'.repeat(40),
    },
  ]);
}

/** The pull requests of the past are not at the Git host: nothing may be written there. */
const silent = {
  commentsEnabled: false,
  statusCheckEnabled: false,
  stateLabelsEnabled: false,
  labelCommandsEnabled: false,
};

async function openQueue(
  settings: object,
  failures: number,
): Promise<{ world: World; client: Client; queueId: QueueId }> {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual', durationMs: 0 } });
  await client.call('createQueue', { ...main, ...silent, ...settings });
  await world.runJobs();
  const [queue] = await sql<{ id: QueueId }>(world.cell.db)`select id from queue`;
  await insertPast(world, queue!.id, failures);
  return { world, client, queueId: queue!.id };
}

async function submit({ world, client }: { world: World; client: Client }, number: number, author: string) {
  await client.call('sandboxCreatePullRequest', { ...pr(number), author });
  await client.call('submitPullRequest', pr(number));
  await world.runJobs();
}

/** What the planner remembers; null: nothing is predicted. */
async function oddsOf({ cell }: World, number: number): Promise<number | null> {
  const [row] = await sql<{ odds: number | null }>(
    cell.db,
  )`select (plan ->> 'odds')::float8 as odds from queue_entry where pr_number = ${number}`;
  return row!.odds;
}

const predicting = { strategy: 'adaptive', predictFailures: true };

describe('a queue that predicts failures', () => {
  it('counts each pull request with its own odds from when it is submitted, and forgets them when it stops', async () => {
    const queue = await openQueue(predicting, 110);
    const { world, client } = queue;
    await submit(queue, 1, 'ada');
    await submit(queue, 2, 'ben');
    await submit(queue, 3, 'cleo');
    const [ada, ben, cleo] = await Promise.all([1, 2, 3].map((number) => oddsOf(world, number)));
    expect(ada).toBeGreaterThan(0.93);
    expect(ben).toBeLessThan(0.75);
    expect(cleo).toBeGreaterThan(ben!);
    expect(cleo).toBeLessThan(ada!);
    await client.call('updateQueue', { ...main, predictFailures: false });
    await world.runJobs();
    expect(await Promise.all([1, 2, 3].map((number) => oddsOf(world, number)))).toEqual([null, null, null]);
    await submit(queue, 4, 'ben');
    expect(await oddsOf(world, 4)).toBeNull();
  });

  it('counts all alike before 100 have failed, and where the settings form the batches', async () => {
    const young = await openQueue(predicting, 99);
    await submit(young, 1, 'ben');
    expect(await oddsOf(young.world, 1)).toBeNull();
    const manual = await openQueue({ ...predicting, strategy: 'manual' }, 110);
    await submit(manual, 1, 'ben');
    expect(await oddsOf(manual.world, 1)).toBeNull();
  });

  it('explains that its batches depend on it', async () => {
    const queue = await openQueue({ ...predicting, concurrency: 1 }, 110);
    for (const number of [1, 2]) await submit(queue, number, 'ada');
    const { waitingFor } = await queue.client.call('getSubmittedPullRequest', pr(2));
    expect(waitingFor.join(' ')).toContain('A batch is smaller if failures are predicted');
  });
});

describe('getFailurePredictions', () => {
  it('compares what the queue would have predicted with what happened, also while it is off', async () => {
    const { client, world } = await openQueue({ strategy: 'adaptive' }, 150);
    const answer = await client.call('getFailurePredictions', main);
    expect(answer).toMatchObject({ enabled: false, attempts: 1_200, failures: 150, failuresNeeded: 100 });
    // 100 failures are seen after 800 attempts, and a verdict takes a minute.
    expect(answer.predictions).toBeGreaterThan(300);
    expect(answer.predictions).toBeLessThanOrEqual(400);
    expect(answer.parts.reduce((sum, part) => sum + part.predictions, 0)).toBe(answer.predictions);
    expect(answer.parts).toHaveLength(10);
    expect(answer.parts.at(-1)!.observed).toBeGreaterThan(0.2);
    expect(answer.parts[0]!.observed).toBe(0);
    expect(answer.calibrationError).toBeLessThan(0.1);
    expect(answer.skill).toBeGreaterThan(0.2);
    expect(JSON.stringify(answer)).not.toContain('ben');
    const stranger = await world.client('globex');
    expect((await stranger.refusal('getFailurePredictions', main, 404)).code).toBe('QUEUE_NOT_FOUND');
    const uploader = await world.client('acme', ['upload', 'submit', 'admin']);
    expect((await uploader.refusal('getFailurePredictions', main, 403)).code).toBe('INSUFFICIENT_SCOPE');
  });

  it('says how many failures are missing while nothing can be predicted', async () => {
    const { client } = await openQueue(predicting, 3);
    expect(await client.call('getFailurePredictions', main)).toEqual({
      enabled: true,
      attempts: 24,
      failures: 3,
      failuresNeeded: 100,
      predictions: 0,
      calibrationError: null,
      skill: null,
      parts: [],
    });
  });
});

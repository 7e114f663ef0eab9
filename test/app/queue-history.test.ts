import { describe, expect, it } from 'vitest';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { type Client, main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';
import { insertRows, sql } from '../support/sql.ts';

const range = { since: '2026-03-01T00:00:00.000Z', until: '2026-03-04T00:00:00.000Z' };
const minute = 60_000;

type Wish = {
  readonly at: string;
  readonly conclusion?: string;
  readonly reason?: string;
  readonly inQueueMs?: number;
  readonly waitMs?: number;
  readonly testMs?: number;
  readonly restarts?: number;
  readonly sha?: string;
};

/** A queue with these attempts in its history, numbered from 1. */
async function openHistory(
  wishes: readonly Wish[],
): Promise<{ world: World; client: Client; queueId: string }> {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  const { db } = world.cell;
  const [queue] = await sql<{ id: string }>(db)`select id from queue`;
  const queueId = queue!.id;
  await sql(
    db,
  )`create table attempt_sample partition of attempt for values from ('2026-03-01') to ('2026-04-01')`;
  await insertRows(
    db,
    'attempt',
    wishes.map((wish, index) => ({
      queue_id: queueId,
      concluded_at: new Date(wish.at),
      pr_number: index + 1,
      attempt: 1,
      conclusion: wish.conclusion ?? 'merged',
      reason: wish.reason ?? 'MERGE_GRAPH_MERGE',
      submitted_at: new Date(wish.at),
      queued_at: new Date(wish.at),
      in_queue_ms: wish.inQueueMs ?? 0,
      wait_ms: wish.waitMs ?? 0,
      test_ms: wish.testMs ?? 0,
      restarts: wish.restarts ?? 0,
      head_sha: wish.sha ?? '',
    })),
  );
  return { world, client, queueId };
}

type History = ResponseOf<'getQueueHistory'>;

/** Every page of what a figure counts. */
async function numbersOf(client: Client, asked: object): Promise<readonly number[]> {
  const numbers: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.call('listTrips', { ...main, ...asked, take: 2, ...(cursor && { cursor }) });
    numbers.push(...page.trips.map(({ prNumber }) => prNumber));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return numbers;
}

const countsByBucket = ({ buckets }: History) =>
  buckets.map(({ from, merged, failed, cancelled }) => [from, merged, failed, cancelled]);

describe('the history of a queue', () => {
  const story: readonly Wish[] = [
    ...[1, 2, 3, 4].map((n) => ({
      at: '2026-03-01T10:00:00Z',
      inQueueMs: n * 10 * minute,
      waitMs: n * minute,
      testMs: n * 5 * minute,
      restarts: 1,
    })),
    { at: '2026-03-01T23:59:59.999Z', conclusion: 'failed', reason: 'TEST_RUN_TIMEOUT', inQueueMs: 9e9 },
    { at: '2026-03-03T00:00:00Z', conclusion: 'cancelled', reason: 'USER_REQUESTED' },
    {
      at: '2026-03-03T12:00:00Z',
      conclusion: 'failed',
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
      restarts: 3,
    },
    { at: '2026-03-03T12:00:00Z', conclusion: 'failed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' },
    // Outside.
    { at: '2026-03-04T00:00:00Z' },
  ];

  it('counts by day, conclusion and reason, with exact percentiles of what merged', async () => {
    const { client, world, queueId } = await openHistory(story);
    await insertRows(
      world.cell.db,
      'test_run',
      [7, 13].map((length, index) => ({
        queue_id: queueId,
        id: `01940000-0000-7000-8000-00000000000${index}`,
        number: index,
        status: 'succeeded',
        test_branch: 'signalbox/main',
        created_at: new Date('2026-03-01T09:59:00Z'),
        pushed_at: new Date('2026-03-01T10:00:00Z'),
        concluded_at: new Date(Date.parse('2026-03-01T10:00:00Z') + length * minute),
      })),
    );
    const history = await client.call('getQueueHistory', { ...main, ...range, bucket: 'day' });
    expect(countsByBucket(history)).toEqual([
      ['2026-03-01T00:00:00.000Z', 4, 1, 0],
      ['2026-03-02T00:00:00.000Z', 0, 0, 0],
      ['2026-03-03T00:00:00.000Z', 0, 2, 1],
    ]);
    expect(history).toMatchObject({ bucket: 'day', timeZone: 'UTC', ...range });
    expect(history.buckets[0]).toMatchObject({
      to: '2026-03-02T00:00:00.000Z',
      restarts: 4,
      timeInQueueSeconds: { p50: 1_500, p95: 2_310, p99: 2_382 },
      waitSeconds: { p50: 150, p95: 231 },
      testSeconds: { p50: 750, p95: 1_155 },
      ciMinutes: 20,
      ciMinutesPerMerged: 5,
    });
    expect(history.buckets[1]).toMatchObject({
      outcomes: [],
      restarts: 0,
      timeInQueueSeconds: null,
      waitSeconds: null,
      testSeconds: null,
      ciMinutes: 0,
      ciMinutesPerMerged: null,
    });
    expect(history.buckets[2]!.outcomes).toEqual([
      { conclusion: 'failed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', count: 2 },
      { conclusion: 'cancelled', reason: 'USER_REQUESTED', count: 1 },
    ]);
    expect(history.totals).toMatchObject({
      merged: 4,
      failed: 3,
      cancelled: 1,
      restarts: 7,
      timeInQueueSeconds: { p50: 1_500, p95: 2_310, p99: 2_382 },
      ciMinutes: 20,
    });
  });

  it('lists exactly the pull requests that each figure counts', async () => {
    const { client } = await openHistory(story);
    const history = await client.call('getQueueHistory', { ...main, ...range });
    expect(history.bucket).toBe('hour');
    expect(history.buckets).toHaveLength(72);
    const all: number[] = [];
    for (const { from, to, outcomes, merged, failed, cancelled } of history.buckets) {
      const listed = await numbersOf(client, { since: from, until: to });
      expect(listed).toHaveLength(merged + failed + cancelled);
      all.push(...listed);
      for (const { conclusion, reason, count } of outcomes)
        expect(await numbersOf(client, { since: from, until: to, conclusion, reason })).toHaveLength(count);
    }
    expect(all.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const [attempt] = (await client.call('listTrips', { ...main, ...range, conclusion: 'failed' })).trips;
    expect(attempt).toEqual({
      prNumber: 8,
      prTitle: '',
      prAuthor: '',
      trip: 1,
      conclusion: 'failed',
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
      submittedAt: '2026-03-03T12:00:00.000Z',
      concludedAt: '2026-03-03T12:00:00.000Z',
      timeInQueueSeconds: 0,
      waitSeconds: 0,
      testSeconds: 0,
      restarts: 0,
      headSha: '',
      priorityValue: 100,
      noBatch: false,
    });
  });

  it('lets days begin where people are, also on the day that has 23 hours', async () => {
    const { client } = await openHistory([
      { at: '2026-03-28T22:59:59Z' },
      { at: '2026-03-28T23:00:00Z' },
      { at: '2026-03-29T21:59:59Z' },
      { at: '2026-03-29T22:00:00Z' },
    ]);
    const asked = { since: '2026-03-28T12:00:00.000Z', until: '2026-03-30T12:00:00.000Z', bucket: 'day' };
    const local = { ...main, ...asked, timeZone: 'Europe/Berlin' };
    expect(countsByBucket(await client.call('getQueueHistory', local))).toEqual([
      ['2026-03-28T12:00:00.000Z', 1, 0, 0],
      ['2026-03-28T23:00:00.000Z', 2, 0, 0],
      ['2026-03-29T22:00:00.000Z', 1, 0, 0],
    ]);
    expect(countsByBucket(await client.call('getQueueHistory', { ...main, ...asked }))).toEqual([
      ['2026-03-28T12:00:00.000Z', 2, 0, 0],
      ['2026-03-29T00:00:00.000Z', 2, 0, 0],
      ['2026-03-30T00:00:00.000Z', 0, 0, 0],
    ]);
  });

  it('is narrowed to what impacts a target', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(40));
    const { client } = await openHistory([
      { at: '2026-03-01T10:00:00Z', sha: a! },
      { at: '2026-03-01T11:00:00Z', sha: b! },
      { at: '2026-03-01T12:00:00Z', sha: c! },
      { at: '2026-03-01T13:00:00Z', sha: a! },
    ]);
    const impact = (number: number, sha: string, impactedTargets: unknown) =>
      client.call('setImpactedTargets', { ...main, pr: { number, sha }, impactedTargets });
    await impact(1, a!, ['//lib/one', '//lib/two', '//lib/three']);
    await impact(2, b!, 'ALL');
    await impact(3, c!, ['//lib/two']);
    const asked = { ...range, impactedTarget: '//lib/three' };
    const { totals } = await client.call('getQueueHistory', { ...main, ...asked });
    expect(totals).toMatchObject({ merged: 2, ciMinutes: null, ciMinutesPerMerged: null });
    expect(await numbersOf(client, asked)).toEqual([2, 1]);
    expect(await numbersOf(client, { ...asked, impactedTarget: '//lib' })).toEqual([2]);
  });
});

it('counts an attempt as soon as it ends, with the commit that it was about', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  await client.call('sandboxCreatePullRequest', {
    repo: widgets,
    pr: { number: 1 },
    title: 'Told',
    author: 'ada',
  });
  await client.call('submitPullRequest', pr(1));
  await client.call('setImpactedTargets', { ...pr(1), impactedTargets: ['//here'] });
  await client.call('cancelPullRequest', pr(1));
  const now = Date.now();
  const asked = {
    ...main,
    since: new Date(now - 60 * minute).toISOString(),
    until: new Date(now + minute).toISOString(),
    impactedTarget: '//here',
  };
  expect((await client.call('getQueueHistory', asked)).totals).toMatchObject({ cancelled: 1, merged: 0 });
  const { trips } = await client.call('listTrips', asked);
  expect(trips).toMatchObject([
    { prNumber: 1, prTitle: 'Told', prAuthor: 'ada', conclusion: 'cancelled', reason: 'USER_REQUESTED' },
  ]);
});

type Told = 'getQueueHistory' | 'listTestRuns' | 'listTrips';

describe.each(['getQueueHistory', 'listTestRuns', 'listTrips'] as const)('%s', (operation) => {
  it('is refused to those who may not read, and of queues that are not theirs', async () => {
    const { world, client } = await openHistory([]);
    const asked = { ...main, ...range };
    await client.call(operation, asked);
    const uploader = await world.client('acme', ['upload', 'submit', 'admin']);
    expect((await uploader.refusal(operation, asked, 403)).code).toBe('INSUFFICIENT_SCOPE');
    const stranger = await world.client('globex');
    expect((await stranger.refusal(operation, asked, 404)).code).toBe('QUEUE_NOT_FOUND');
    const { status } = await client.send({
      path: `/v1/${operation}`,
      headers: { 'x-api-token': '', 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect(status).toBe(401);
  });

  it('tells what is wrong with a range', async () => {
    const { client } = await openHistory([]);
    expect(await problemsOf(client, operation, { since: 'yesterday' })).toEqual(['since']);
    expect(await problemsOf(client, operation, { until: range.since })).toEqual(['until']);
    expect(await problemsOf(client, operation, { since: '2025-01-01T00:00:00Z' })).toEqual(['until']);
    if (operation === 'listTestRuns') return;
    expect(await problemsOf(client, operation, { impactedTarget: '' })).toEqual(['impactedTarget']);
  });
});

async function problemsOf(client: Client, operation: Told, asked: object) {
  const { details } = await client.refusal(operation, { ...main, ...range, ...asked }, 400);
  return details?.map(({ path }) => path);
}

it('tells what is wrong with the parts of a history, and with a list of attempts', async () => {
  const { client } = await openHistory([]);
  const zone = { bucket: 'minute', timeZone: 'Mars/Olympus' };
  expect(await problemsOf(client, 'getQueueHistory', zone)).toEqual(['bucket', 'timeZone']);
  const fine = { since: '2026-02-01T00:00:00Z', bucket: 'hour' };
  expect(await problemsOf(client, 'getQueueHistory', fine)).toEqual(['bucket']);
  const unknown = { conclusion: 'lost', reason: 'NONE', take: 101 };
  expect(await problemsOf(client, 'listTrips', unknown)).toEqual(['conclusion', 'reason', 'take']);
  const lost = await client.refusal('listTrips', { ...main, ...range, cursor: 'x' }, 400);
  expect(lost.code).toBe('INVALID_PAGE_TOKEN');
});

it('lists test runs, the last first, page by page, with what was in them', async () => {
  const { client, world, queueId } = await openHistory([]);
  const { db } = world.cell;
  const idOf = (index: number) => `01940000-0000-7000-8000-00000000000${index}`;
  const at = (minutes: number) => new Date(Date.parse(range.since) + minutes * minute);
  await insertRows(
    db,
    'test_run',
    [0, 1, 2].map((index) => ({
      queue_id: queueId,
      id: idOf(index),
      number: index,
      kind: index === 2 ? 'bisection' : 'main',
      status: index === 2 ? 'in_progress' : 'succeeded',
      test_branch: 'signalbox/main',
      // The ids distinguish two of the same instant.
      created_at: at(Math.min(index, 1)),
      pushed_at: index === 2 ? null : at(2),
      concluded_at: index === 2 ? null : at(9),
    })),
  );
  await insertRows(
    db,
    'test_run_member',
    [9, 4, 7].map((pr, position) => ({
      queue_id: queueId,
      test_run_id: idOf(1),
      position,
      pr_number: pr,
      head_sha: 'a',
      under_test: position > 0,
    })),
  );
  const first = await client.call('listTestRuns', { ...main, ...range, take: 2 });
  expect(first.testRuns).toMatchObject([
    { testRunId: idOf(2), queueType: 'bisection', status: 'in_progress', pushedAt: null, concludedAt: null },
    {
      testRunId: idOf(1),
      tested: [4, 7],
      ahead: [9],
      pushedAt: at(2).toISOString(),
      failedByFlakyTests: null,
    },
  ]);
  const cursor = first.nextCursor!;
  const rest = await client.call('listTestRuns', { ...main, ...range, take: 2, cursor });
  expect(rest.testRuns.map(({ testRunId }) => testRunId)).toEqual([idOf(0)]);
  expect(rest.nextCursor).toBeUndefined();
  const other = { ...main, ...range, until: at(5).toISOString(), cursor };
  expect((await client.refusal('listTestRuns', other, 400)).code).toBe('INVALID_PAGE_TOKEN');
  expect(await problemsOf(client, 'listTestRuns', { take: 501 })).toEqual(['take']);
});

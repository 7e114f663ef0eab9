// How often verdicts were right: from uploads, repeated runs and decisions of people, over HTTP on a real database.
import { expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { endpoints, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { ensurePartitions } from '#db/partition.ts';
import { revisitTests } from '#job/health/revisit-tests.ts';
import { type Client, clientOf, main, widgets } from '../support/harness.ts';
import { insertRows, sql } from '../support/sql.ts';
import { type HealthWorld, openHealthWorld, passing, shaOf } from './world.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };
const slow = { fail: 'Timed out after 5000 ms' };

type Kind = ResponseOf<'getTestAccuracy'>['verdicts'][number]['kind'];

const accuracyOf = async (client: Client, kind: Kind) =>
  (await client.call('getTestAccuracy', asked)).verdicts.find((one) => one.kind === kind)!;

/** These tests fail and then pass on a commit of main. */
async function contradict(
  { upload }: HealthWorld,
  number: number,
  ...names: readonly string[]
): Promise<void> {
  for (const outcome of [slow, 'pass'] as const) {
    const results = Object.fromEntries(['again', 'once'].map((name) => [name, 'pass' as const]));
    const shown = Object.fromEntries(names.map((name) => [name, outcome]));
    await upload({ sha: shaOf(number), results: { ...passing(50), ...results, ...shown } });
  }
}

async function advance({ world: { cell, clock } }: HealthWorld, days: number): Promise<void> {
  clock.advance(days * dayMs);
  await ensurePartitions(cell.db, clock.now());
  await revisitTests({ cell, clock });
}

/** Two flaky tests, of which one shows it again. */
async function openFlaky() {
  const health = await openHealthWorld();
  await ensurePartitions(health.world.cell.db, health.world.clock.now());
  for (const number of [1, 2]) await contradict(health, number, 'again');
  for (const number of [3, 4]) await contradict(health, number, 'once');
  return { health, client: await health.world.client() };
}

it('confirms a flaky test that shows it again, and overturns one that never does', async () => {
  const { health, client } = await openFlaky();
  expect([await health.statusOf('again'), await health.statusOf('once')]).toMatchObject([
    { status: 'flaky' },
    { status: 'flaky' },
  ]);
  expect(await accuracyOf(client, 'flaky')).toMatchObject({ confirmed: 0, overturned: 0, open: 2 });
  await contradict(health, 5, 'again');
  expect(await accuracyOf(client, 'flaky')).toMatchObject({ confirmed: 1, overturned: 0, open: 1 });
  await advance(health, 8);
  expect([await health.statusOf('again'), await health.statusOf('once')]).toMatchObject([
    { status: 'healthy' },
    { status: 'healthy' },
  ]);
  expect(await accuracyOf(client, 'flaky')).toEqual({
    kind: 'flaky',
    confirmed: 1,
    overturned: 1,
    open: 0,
    share: null,
  });
  expect(await accuracyOf(client, 'recovered')).toMatchObject({ confirmed: 0, overturned: 0, open: 2 });
  for (const number of [6, 7]) await contradict(health, number, 'again');
  expect(await accuracyOf(client, 'recovered')).toMatchObject({ confirmed: 0, overturned: 1, open: 1 });
  await advance(health, 14);
  expect(await accuracyOf(client, 'recovered')).toMatchObject({ confirmed: 1, overturned: 1, open: 1 });
});

it('leaves a verdict open that ended before its repeats were counted', async () => {
  const { health, client } = await openFlaky();
  await advance(health, 8);
  await sql(health.world.cell.db)`update test_fact set repeats = null`;
  expect(await accuracyOf(client, 'flaky')).toMatchObject({ confirmed: 0, overturned: 0, open: 2 });
});

it('confirms a broken test that fails again on the default branch', async () => {
  const health = await openHealthWorld();
  const client = await health.world.client();
  const breaks = (number: number, outcome: 'pass' | typeof slow) =>
    health.upload({ sha: shaOf(number), results: { ...passing(50), breaks: outcome } });
  for (let number = 0; number < 12; number++) await breaks(number, 'pass');
  let number = 12;
  for (; (await health.statusOf('breaks')).status !== 'broken'; number++) await breaks(number, slow);
  expect(await accuracyOf(client, 'broken')).toMatchObject({ confirmed: 0, overturned: 0, open: 1 });
  await breaks(number, slow);
  expect(await accuracyOf(client, 'broken')).toMatchObject({ confirmed: 1, overturned: 0, open: 0 });
});

it('counts what people do with flaky tests, and no verdict of theirs', async () => {
  const { health, client } = await openFlaky();
  const ids = new Map(
    (await sql<{ id: string; name: string }>(health.world.cell.db)`select id, name from test_case`).map(
      ({ id, name }) => [name, id],
    ),
  );
  const test = (name: string) => ({ ...asked, test_case_id: ids.get(name) });
  await client.call('flagTest', { ...test('again'), status: 'flaky' });
  await client.call('flagTest', { ...test('once'), status: 'healthy' });
  await client.call('flagTest', { ...test('passes 1'), status: 'broken' });
  expect(await accuracyOf(client, 'people')).toMatchObject({ confirmed: 1, overturned: 1, open: 0 });
  expect(await accuracyOf(client, 'broken')).toMatchObject({ confirmed: 0, overturned: 0, open: 0 });
  expect(await accuracyOf(client, 'flaky')).toMatchObject({ confirmed: 0, overturned: 0, open: 2 });
});

it('counts runs that the queue ran again, and names a share from ten on', async () => {
  const health = await openHealthWorld();
  const { cell, clock } = health.world;
  const client = await health.world.client();
  await client.call('createQueue', main);
  const [{ id }] = (await sql<{ id: string }>(cell.db)`select id from queue`) as [{ id: string }];
  const run = (number: number, composition: string, outcome: string | null, more: object = {}) => ({
    queue_id: id,
    id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    number,
    status: outcome === null ? 'in_progress' : outcome === 'passed' ? 'succeeded' : 'failed',
    phase: 'closed',
    outcome,
    composition,
    test_branch: `signalbox/main/${number}`,
    created_at: clock.now(),
    rerun_at: null,
    rerun_refusal: null,
    ...more,
  });
  const rerun = { rerun_at: clock.now() };
  await insertRows(cell.db, 'test_run', [
    run(1, 'a', 'flaky'),
    run(2, 'a', 'passed'),
    run(3, 'b', 'flaky'),
    run(4, 'b', 'failed'),
    run(5, 'c', 'passed', rerun),
    run(6, 'd', 'failed', rerun),
    run(7, 'e', 'flaky'),
    run(8, 'f', null, rerun),
    // The Git host refused, and the run counts as it ended.
    run(9, 'g', 'failed', { ...rerun, rerun_refusal: 'forbidden' }),
    run(10, 'h', 'passed'),
  ]);
  expect(await accuracyOf(client, 'rerun')).toEqual({
    kind: 'rerun',
    confirmed: 2,
    overturned: 2,
    open: 2,
    share: null,
  });
  await insertRows(
    cell.db,
    'test_run',
    Array.from({ length: 6 }, (_, index) => run(20 + index, `more ${index}`, 'passed', rerun)),
  );
  const { confirmed, overturned, share } = await accuracyOf(client, 'rerun');
  expect([confirmed, overturned, share!.value]).toEqual([8, 2, 0.8]);
  expect(share!.low).toBeCloseTo(0.49, 2);
  expect(share!.high).toBeCloseTo(0.943, 2);
});

it('answers everyone who may read this organization, and no one else', async () => {
  const { health, client } = await openFlaky();
  await (await health.world.client('acme', ['read'])).call('getTestAccuracy', asked);
  await client.refusal('getTestAccuracy', { ...asked, repo: 7 }, 400);
  await (await health.world.client('acme', ['upload'])).refusal('getTestAccuracy', asked, 403);
  const stranger = await health.world.client('globex');
  expect((await stranger.refusal('getTestAccuracy', asked, 404)).code).toBe('ORGANIZATION_NOT_FOUND');
  const { verdicts } = await stranger.call('getTestAccuracy', { ...asked, org_url_slug: 'globex' });
  expect(verdicts.every(({ confirmed, overturned, open }) => confirmed + overturned + open === 0)).toBe(true);
  const { path } = endpoints.getTestAccuracy;
  const anonymous = clientOf(health.world.server, '');
  expect((await anonymous.send({ path, body: JSON.stringify(asked) })).status).toBe(401);
});

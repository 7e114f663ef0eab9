// Settings tried on stored histories: over HTTP on a real database, against what production decides, and on many tests.
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { dayMs, hourMs } from '#base/duration.ts';
import { trySettings } from '#command/try-settings.ts';
import { endpoints, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { emptyHistory, record } from '#core/health/history.ts';
import { encodeHistory } from '#core/health/history-bytes.ts';
import { revisitTests } from '#job/health/revisit-tests.ts';
import { clientOf, widgets } from '../support/harness.ts';
import { insertRows, sql } from '../support/sql.ts';
import { type HealthWorld, openHealthWorld, type Outcome, passing, shaOf } from './world.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };
const slow = { fail: 'Timed out after 5000 ms' };
const wrong = { fail: 'expected 4, got 5' };

type Trial = ResponseOf<'tryHealthSettings'>;
const names = (tests: Trial['flaky']['tests_more']) => tests.map(({ name }) => name).toSorted();

/** By test, the commits on which it failed and then passed, and those on which it only failed. */
const contradicted: Readonly<Record<string, readonly number[]>> = { often: [6, 10, 14, 18], twice: [7, 15] };
const failed: Readonly<Record<string, readonly number[]>> = {
  fails: [8, 12, 16],
  breaks: [19, 20, 21, 22, 23],
};

/** A week of main. After every upload and every hour of quiet, `look` sees the tests. */
async function playWeek(health: HealthWorld, look: () => Promise<void> = async () => {}): Promise<void> {
  for (let number = 0; number < 24; number++) {
    const isIn = (table: typeof failed, name: string) => table[name]!.includes(number);
    const results = (isRerun: boolean): Record<string, Outcome> => ({
      ...passing(60),
      ...Object.fromEntries(
        Object.keys(contradicted).map((name) => [name, isIn(contradicted, name) && !isRerun ? slow : 'pass']),
      ),
      ...Object.fromEntries(Object.keys(failed).map((name) => [name, isIn(failed, name) ? wrong : 'pass'])),
    });
    await health.upload({ sha: shaOf(number), results: results(false) });
    await look();
    if (Object.values(contradicted).some((commits) => commits.includes(number))) {
      await health.upload({ sha: shaOf(number), results: results(true) });
      await look();
    }
    health.world.clock.advance(4 * hourMs);
    await revisitTests(health.world);
    await look();
  }
}

const other = {
  monitors: {
    pass_on_retry: { sources_min: 3 },
    failure_count_flaky: { is_on: true, failures_min: 3, window_days: 14 },
  },
  quarantine: { enabled: true },
};

it('finds the tests that production finds with the same settings from the beginning on', async () => {
  const [saved, tried] = [await openHealthWorld(), await openHealthWorld()];
  const client = await saved.world.client();
  await (await tried.world.client()).call('updateHealthSettings', { ...asked, settings: other });
  await playWeek(saved);
  const seen = { flaky: new Set<string>(), broken: new Set<string>(), quarantined: new Set<string>() };
  await playWeek(tried, async () => {
    const rows = await sql<{ name: string; status: 'healthy' | 'flaky' | 'broken'; quarantined: boolean }>(
      tried.world.cell.db,
    )`select name, status, quarantined_at is not null as quarantined from test_case`;
    for (const { name, status, quarantined } of rows) {
      if (status !== 'healthy') seen[status].add(name);
      if (quarantined) seen.quarantined.add(name);
    }
  });

  const trial = await client.call('tryHealthSettings', { ...asked, settings: other });
  expect(trial).toMatchObject({ days: 14, tests: 4, is_cut: false, not_tried: [] });
  expect(names(trial.flaky.tests_more)).toEqual(['fails']);
  expect(names(trial.flaky.tests_fewer)).toEqual(['twice']);
  expect([...seen.flaky].toSorted()).toEqual(['fails', 'often']);
  expect(trial.flaky).toMatchObject({ saved: 2, tried: 2, more: 1, fewer: 1 });
  expect([...seen.broken]).toEqual(['breaks']);
  expect(trial.broken).toMatchObject({ saved: 1, tried: 1, more: 0, fewer: 0 });
  expect(names(trial.quarantined.tests_more)).toEqual([...seen.quarantined].toSorted());
  expect(trial.quarantined).toMatchObject({ saved: 0, fewer: 0, more: seen.quarantined.size });
  expect(seen.quarantined.size).toBeGreaterThan(0);
  const [test] = trial.flaky.tests_more;
  expect(test!.reason).toMatch(/^Flaky: failed 3 times on the default branch in 14 days/);
  expect(test!.html_url).toContain(`/app/tests/${test!.id}?repo=`);
});

it('saves nothing, and says what saving changes at once', async () => {
  const health = await openHealthWorld();
  const { cell } = health.world;
  const client = await health.world.client();
  await playWeek(health);
  const before = await client.call('getHealthSettings', asked);
  const state = async () => [
    await sql(cell.db)`select id, status, status_reason, quarantined_at from test_case order by id`,
    await sql(cell.db)`select test_case_id, body, active_monitors from test_history order by ordinal`,
    await health.count('test_fact'),
    await health.count('audit'),
  ];
  const was = await state();
  const trial = await client.call('tryHealthSettings', { ...asked, settings: other });
  expect(await state()).toEqual(was);
  expect(await client.call('getHealthSettings', asked)).toEqual(before);

  expect([trial.flaky.more, trial.quarantined.more]).not.toContain(0);
  await client.call('updateHealthSettings', { ...asked, settings: other });
  const rows = await sql<{ id: string; status: string; quarantined: boolean }>(cell.db)`
    select id, status, quarantined_at is not null as quarantined from test_case`;
  for (const kind of ['flaky', 'quarantined'] as const)
    for (const { id, if_saved } of [...trial[kind].tests_more, ...trial[kind].tests_fewer])
      expect(rows.find((row) => row.id === id)).toEqual({ id, ...if_saved });
  const earlier = new Map(
    (was[0] as { id: string; status: string; quarantined_at: Date | null }[]).map((row) => [row.id, row]),
  );
  const changed = rows.filter(({ id, status, quarantined }) => {
    const row = earlier.get(id)!;
    return row.status !== status || (row.quarantined_at !== null) !== quarantined;
  });
  expect(trial.changes_on_save).toBe(changed.length);
  expect(changed.length).toBeGreaterThan(0);
});

it('leaves out tests without a failure in the last 14 days, and says which settings cannot be tried', async () => {
  const health = await openHealthWorld();
  const client = await health.world.client();
  await playWeek(health);
  health.world.clock.advance(15 * dayMs);
  const settings = { default_branches: ['release/*'], quarantine: { enabled: true } };
  const trial = await client.call('tryHealthSettings', { ...asked, settings });
  expect(trial).toMatchObject({ tests: 0, not_tried: ['default_branches'] });
  const nothing = await client.call('tryHealthSettings', { ...asked, settings: { default_branches: null } });
  expect(nothing.not_tried).toEqual([]);
});

it('answers everyone who may read, and refuses the same settings as an update', async () => {
  const health = await openHealthWorld();
  const reader = await health.world.client('acme', ['read']);
  const input = { ...asked, settings: other };
  expect((await reader.call('tryHealthSettings', input)).tests).toBe(0);
  const bad = { ...asked, settings: { monitors: { pass_on_retry: { sources_min: 1 } } } };
  expect((await reader.refusal('tryHealthSettings', bad, 400)).details?.[0]?.path).toBe(
    'settings.monitors.pass_on_retry.sources_min',
  );
  await (await health.world.client('acme', ['upload'])).refusal('tryHealthSettings', input, 403);
  const stranger = await health.world.client('globex');
  expect((await stranger.refusal('tryHealthSettings', input, 404)).code).toBe('ORGANIZATION_NOT_FOUND');
  const anonymous = clientOf(health.world.server, '');
  const { path } = endpoints.tryHealthSettings;
  expect((await anonymous.send({ path, body: JSON.stringify(input) })).status).toBe(401);
});

/** So many watched tests, each contradicted on three commits of the last days. */
async function fill({ world, repositoryId }: HealthWorld, count: number): Promise<void> {
  const now = world.clock.now().getTime();
  let history = emptyHistory;
  for (let number = 0; number < 60; number++)
    for (const outcome of number % 20 === 3 ? (['failed', 'passed'] as const) : (['passed'] as const))
      history = record(history, {
        at: now - (60 - number) * 5 * hourMs,
        source: shaOf(number),
        branchClass: 'default',
        prNumber: null,
        outcome,
        isSuspect: false,
        fingerprint: outcome === 'passed' ? null : '00112233aabbccdd',
        failing: 1,
        tests: 1_000,
      });
  const body = Buffer.from(encodeHistory(history));
  const last_failed_at = new Date(history.lastFailureAt);
  const idOf = (number: number) =>
    createHash('md5')
      .update(String(number))
      .digest('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  for (let from = 0; from < count; from += 1_000) {
    const some = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => from + index);
    const ofRepository = (ordinal: number) => ({ repository_id: repositoryId, ordinal });
    await insertRows(
      world.cell.db,
      'test_case',
      some.map((ordinal) => ({ ...ofRepository(ordinal), id: idOf(ordinal), name: `test ${ordinal}` })),
    );
    await insertRows(
      world.cell.db,
      'test_history',
      some.map((ordinal) => ({
        ...ofRepository(ordinal),
        test_case_id: idOf(ordinal),
        body,
        last_failed_at,
      })),
    );
  }
}

/** The longest time that the process computed without a turn of its event loop, in milliseconds of its own work. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  const state = { isOver: false };
  const over = work.finally(() => (state.isOver = true));
  let before = process.threadCpuUsage();
  while (!state.isOver) {
    await nextTurn();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
  }
  await over;
  return longest;
}

it('tries many tests without stopping the process, and says when it left some out', async () => {
  const health = await openHealthWorld();
  const { cell, clock } = health.world;
  await fill(health, 1_500);
  const change = { monitors: { pass_on_retry: { sourcesMin: 20 } } };
  const trial = (testsMax: number, timeMs: number) =>
    trySettings(cell.reader, health.repositoryId, change, clock.now(), { testsMax, timeMs });
  const running = trial(10_000, 300_000);
  expect(await longestTurn(running)).toBeLessThan(100);
  const all = await running;
  expect(all).toMatchObject({ tests: 1_500, isCut: false });
  expect(all.differences.flaky).toMatchObject({ saved: 1_500, tried: 0 });
  expect(all.differences.flaky.fewer).toHaveLength(1_500);

  expect(await trial(700, 300_000)).toMatchObject({ tests: 700, isCut: true });
  expect((await trial(10_000, 1)).isCut).toBe(true);
  expect(await trial(1_500, 300_000)).toMatchObject({ tests: 1_500, isCut: false });
});

it('names at most 100 tests of a list, and counts all', async () => {
  const health = await openHealthWorld();
  await fill(health, 120);
  const client = await health.world.client();
  const settings = { monitors: { pass_on_retry: { sources_min: 20 } } };
  const { flaky } = await client.call('tryHealthSettings', { ...asked, settings });
  expect([flaky.fewer, flaky.tests_fewer.length]).toEqual([120, 100]);
});

it('counts for a save only as many quarantined tests as the limits allow', async () => {
  const health = await openHealthWorld();
  await fill(health, 12);
  const client = await health.world.client();
  const change = (max_tests: number) => ({
    settings: { quarantine: { enabled: true, max_tests, max_share: 1 } },
  });
  const all = await client.call('tryHealthSettings', { ...asked, ...change(500) });
  expect(all.quarantined.more).toBe(12);
  const { quarantined } = await client.call('tryHealthSettings', { ...asked, ...change(4) });
  expect(quarantined.more).toBe(12);
  expect(quarantined.tests_more.filter(({ if_saved }) => if_saved.quarantined)).toHaveLength(4);
});

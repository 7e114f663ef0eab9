// One test over time as the API tells it: what uploads say comes back by day and branch, by way to fail, by pull request.
import { expect, it } from 'vitest';
import { endpoints, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { type Client, clientOf, widgets } from '../support/harness.ts';
import { type HealthWorld, openHealthWorld, type Outcome, passing, shaOf } from './world.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };
const waits = 'waits';
const timeout = { fail: 'Timeout of 5000ms exceeded' };
const wrong = { fail: 'expected 4, got 5' };
const steady = passing(40);

const results = (outcome: Outcome) => ({ ...steady, [waits]: outcome });

async function openWatched() {
  const health = await openHealthWorld();
  const client = await health.world.client();
  await client.call('createQueue', { repo: widgets, targetBranch: 'main' });
  return { ...health, client };
}

async function idOf(client: Client, name = waits): Promise<string> {
  const { tests } = await client.call('searchTests', { org_url_slug: 'acme', query: name });
  return tests[0]!.id;
}

const historyOf = async (client: Client, more: object = {}): Promise<ResponseOf<'getTestHistory'>> =>
  client.call('getTestHistory', { ...asked, test_id: await idOf(client), ...more });

/** It fails and passes on so many commits of the default branch. */
async function flake({ upload }: Pick<HealthWorld, 'upload'>, from: number, commits: number): Promise<void> {
  for (let number = from; number < from + commits; number++) {
    await upload({ sha: shaOf(number), results: results(timeout) });
    await upload({ sha: shaOf(number), results: results('pass') });
  }
}

const totals = (days: ResponseOf<'getTestHistory'>['days'], branch: string) =>
  days
    .filter(({ branch_class }) => branch_class === branch)
    .reduce(
      (sum, day) => ({
        runs: sum.runs + (day.runs ?? 0),
        failed: sum.failed + day.failed,
        flaky: sum.flaky + day.flaky,
        contradicted: sum.contradicted + day.contradicted,
      }),
      { runs: 0, failed: 0, flaky: 0, contradicted: 0 },
    );

it('counts runs, failures and flaky runs by day and class of branch', async () => {
  const { upload, client } = await openWatched();
  await flake({ upload }, 1, 2);
  await upload({ sha: shaOf(50), results: results(wrong), branch: 'feature', pr: 7 });
  await upload({ sha: shaOf(51), results: results({ flake: timeout.fail }), branch: 'feature', pr: 8 });
  await upload({ sha: shaOf(52), results: results(timeout), branch: 'signalbox/main/pr-9' });
  await upload({ sha: shaOf(53), results: results('pass'), branch: 'elsewhere' });
  const { days, is_cut, since } = await historyOf(client);
  expect(totals(days, 'default')).toEqual({ runs: 4, failed: 2, flaky: 0, contradicted: 2 });
  expect(totals(days, 'pull_request')).toEqual({ runs: 2, failed: 1, flaky: 1, contradicted: 1 });
  expect(totals(days, 'queue')).toEqual({ runs: 1, failed: 1, flaky: 0, contradicted: 0 });
  expect(totals(days, 'other')).toEqual({ runs: 1, failed: 0, flaky: 0, contradicted: 0 });
  expect(is_cut).toBe(false);
  expect(Date.now() - Date.parse(since)).toBeGreaterThan(28 * 86_400_000);
});

it('knows failures of days whose runs are forgotten, and no day before those asked for', async () => {
  const { world, upload, client } = await openWatched();
  await upload({ sha: shaOf(1), results: results(timeout) });
  world.clock.advance(20 * 86_400_000);
  await upload({ sha: shaOf(2), results: results(timeout) });
  const { days } = await historyOf(client);
  expect(days.map(({ runs, failed }) => [runs, failed])).toEqual([
    [null, 1],
    [1, 1],
  ]);
  const short = await historyOf(client, { days: 2 });
  expect(short.days.map(({ runs, failed }) => [runs, failed])).toEqual([[1, 1]]);
  expect(short.days[0]?.day).toBe(days[1]?.day);
});

it('tells ways to fail apart, with their text, and which of them is the flake', async () => {
  const { upload, client } = await openWatched();
  await flake({ upload }, 1, 2);
  await upload({ sha: shaOf(50), results: results(wrong), branch: 'feature', pr: 7 });
  await upload({ sha: shaOf(51), results: results(wrong), branch: 'feature', pr: 7 });
  await upload({ sha: shaOf(52), results: results(timeout), branch: 'other-feature', pr: 8 });
  const { failures } = await historyOf(client);
  expect(
    failures.map(({ summary, occurrence_count, is_flake, pull_requests }) => ({
      summary,
      occurrence_count,
      is_flake,
      pull_requests,
    })),
  ).toEqual([
    {
      summary: expect.stringContaining('Timeout') as string,
      occurrence_count: 3,
      is_flake: true,
      pull_requests: 1,
    },
    {
      summary: expect.stringContaining('expected <number>') as string,
      occurrence_count: 2,
      is_flake: false,
      pull_requests: 1,
    },
  ]);
  expect(failures[1]?.text).toContain('expected 4, got 5');
  expect(failures[1]?.text).toContain('at widgets.test.ts:12');
});

it('names the pull requests that were hit, the last first, with the queue that they are in', async () => {
  const { upload, client } = await openWatched();
  await client.call('submitPullRequest', { repo: widgets, targetBranch: 'main', pr: { number: 8 } });
  await upload({ sha: shaOf(1), results: results('pass') });
  await upload({ sha: shaOf(2), results: results(wrong), branch: 'feature', pr: 7 });
  const last = await upload({ sha: shaOf(3), results: results(wrong), branch: 'feature-8', pr: 8 });
  await upload({ sha: shaOf(4), results: results(wrong), branch: 'fork', pr: 9, trust: 'untrusted' });
  const { pull_requests } = await historyOf(client);
  expect(pull_requests).toMatchObject([
    { number: 8, failures: 1, upload_id: last.id, target_branches: ['main'], was_quarantined: false },
    { number: 7, failures: 1, verdict: 'new', target_branches: [] },
  ]);
});

it('shows each monitor with what it sees, and what is muted until when', async () => {
  const { world, upload, client } = await openWatched();
  await flake({ upload }, 1, 3);
  const { monitors, all_muted_until, changes } = await historyOf(client);
  expect(
    monitors.map(({ monitor, says, is_on, is_active }) => [monitor, says, is_on, is_active]).slice(0, 6),
  ).toEqual([
    ['pass_on_retry', 'flaky', true, true],
    ['failure_rate_flaky', 'flaky', false, false],
    ['failure_count_flaky', 'flaky', false, false],
    ['failure_rate_broken', 'broken', true, false],
    ['failure_count_broken', 'broken', false, false],
    ['changepoint', 'broken', true, false],
  ]);
  expect(monitors[0]?.sees).toMatch(/^Passed and failed on the same commit 3 times in 14 days .*\.$/);
  expect(monitors[3]?.sees).toMatch(/^Failed in 3 of 6 runs \(50 %\) on the default branch in a day; fires/);
  expect(monitors[5]?.sees).toBe('Passed in the latest run on the default branch.');
  expect(all_muted_until).toBeNull();
  expect(
    changes.map(({ kind, monitor, before, after, trigger }) => [kind, monitor, before, after, trigger]),
  ).toEqual([
    ['status_changed', null, 'healthy', 'flaky', 'upload'],
    ['monitor_status_changed', 'pass_on_retry', 'quiet', 'active', 'upload'],
  ]);
  expect(changes[0]?.reason).toMatch(/^Flaky: passed and failed/);
  expect(changes[0]?.upload_id).not.toBeNull();

  const test = { ...asked, test_case_id: await idOf(client) };
  await client.call('muteMonitor', { ...test, monitor: 'pass_on_retry', hours: 2, reason: 'Known' });
  await client.call('muteMonitor', { ...test, monitor: '*', hours: 1 });
  const muted = await historyOf(client);
  expect(muted.monitors[0]).toMatchObject({ is_active: true, mute_reason: 'Known' });
  expect(Date.parse(muted.monitors[0]!.muted_until!) - world.clock.now().getTime()).toBeGreaterThan(
    3_600_000,
  );
  expect(muted.monitors[5]?.muted_until).toBeNull();
  expect(muted.all_muted_until).not.toBeNull();
  expect(muted.changes[0]).toMatchObject({ after: 'healthy', trigger: 'person', upload_id: null });
  expect(muted.changes[0]?.actor).not.toBeNull();
  world.clock.advance(2 * 3_600_000);
  const later = await historyOf(client);
  expect([later.all_muted_until, later.monitors[0]?.muted_until]).toEqual([null, null]);
});

it('says of a test that no upload named that no monitor looks at it', async () => {
  const { client } = await openWatched();
  await client.call('sandboxPutTestCases', { repo: widgets, testCases: [{ name: waits, status: 'flaky' }] });
  expect(await historyOf(client)).toMatchObject({ monitors: [], days: [], changes: [] });
});

it('refuses what is no test, who may not read, and another organization', async () => {
  const { world, upload, client } = await openWatched();
  await upload({ sha: shaOf(1), results: results(timeout) });
  const input = { ...asked, test_id: await idOf(client) };
  for (const days of [0, 91, 1.5]) await client.refusal('getTestHistory', { ...input, days }, 400);
  const none = { ...input, test_id: '01940000-0000-5000-8000-000000000000' };
  expect((await client.refusal('getTestHistory', none, 404)).code).toBe('TEST_CASE_NOT_FOUND');
  const uploader = await world.client('acme', ['upload']);
  const stranger = await world.client('globex');
  const anonymous = clientOf(world.server, '');
  for (const operation of ['getTestHistory', 'getQuarantineSummary'] as const) {
    await uploader.refusal(operation, input, 403);
    expect((await stranger.refusal(operation, input, 404)).code).toBe('ORGANIZATION_NOT_FOUND');
    const { path } = endpoints[operation];
    expect((await anonymous.send({ path, body: JSON.stringify(input) })).status).toBe(401);
  }
  const own = { ...input, org_url_slug: 'globex' };
  expect((await stranger.refusal('getTestHistory', own, 404)).code).toBe('TEST_CASE_NOT_FOUND');
  expect((await stranger.call('getQuarantineSummary', own)).quarantined_tests).toBe(0);
});

it('counts what quarantine excused, of each test and of all', async () => {
  const { world, upload, client } = await openWatched();
  await flake({ upload }, 1, 4);
  await client.call('updateHealthSettings', { ...asked, settings: { quarantine: { enabled: true } } });
  await upload({ sha: shaOf(50), results: results(timeout), branch: 'feature', pr: 7 });
  await upload({ sha: shaOf(51), results: results(timeout), branch: 'feature', pr: 7 });
  await upload({ sha: shaOf(52), results: results(timeout), branch: 'feature', pr: 8 });
  // It is not known to fail so: that one counts.
  await upload({ sha: shaOf(53), results: results(wrong), branch: 'feature', pr: 9 });
  const list = async () =>
    (await client.call('listQuarantinedTests', { ...asked, page_query: {} })).quarantined_tests;
  expect(await list()).toMatchObject([
    {
      name: waits,
      failures_excused_last_30d: 3,
      pull_requests_spared_last_30d: 2,
      quarantine_expires_at: expect.any(String) as string,
      quarantine_owners: [],
    },
  ]);
  expect(await client.call('getQuarantineSummary', asked)).toEqual({
    is_enabled: true,
    quarantined_tests: 1,
    held_back_tests: 0,
    set_by_people: 0,
    expiring_within_7d: 0,
    failures_excused_last_30d: 3,
    pull_requests_spared_last_30d: 2,
    is_cut: false,
  });

  const expires_at = new Date(world.clock.now().getTime() + 3 * 86_400_000).toISOString();
  const test_case_id = await idOf(client);
  const wish = { expires_at, owner: 'ada', note: 'Until Monday' };
  await client.call('setQuarantine', {
    ...asked,
    test_case_id,
    quarantine_setting: 'ALWAYS_QUARANTINE',
    ...wish,
  });
  const override = {
    quarantine_expires_at: expires_at,
    quarantine_owner: 'ada',
    quarantine_note: 'Until Monday',
  };
  // Whoever says always answers for all of its failures.
  expect(await list()).toMatchObject([
    { ...override, failures_excused_last_30d: 4, pull_requests_spared_last_30d: 3 },
  ]);
  const summary = await client.call('getQuarantineSummary', asked);
  expect(summary).toMatchObject({ set_by_people: 1, expiring_within_7d: 1, failures_excused_last_30d: 4 });
  await client.call('flagTest', { ...asked, test_case_id, status: 'flaky' });
  const { test } = await client.call('getTestDetails', { ...asked, test_id: test_case_id });
  expect(test).toMatchObject({
    ...override,
    quarantine_setting: 'ALWAYS_QUARANTINE',
    manual_status: 'flaky',
    ticket_id: null,
  });
});

it('lists the uploads of one state, and those with problems', async () => {
  const { upload, store, client } = await openWatched();
  const good = await upload({ sha: shaOf(1), results: results('pass') });
  const cut = await upload({
    sha: shaOf(2),
    results: {},
    bytes: Buffer.from('<testsuites><testsuite name="a"><testcase name="b" classname="c"/>'),
  });
  const bad = await upload({ sha: shaOf(3), results: {}, bytes: Buffer.from('no report') });
  const waiting = await store({ sha: shaOf(4), results: results('pass') });
  const list = async (more: object) =>
    (await client.call('listUploads', { ...asked, page_query: {}, ...more })).uploads.map(({ id }) => id);
  expect(await list({})).toEqual([waiting, bad.id, cut.id, good.id]);
  expect(await list({ state: 'ingested' })).toEqual([cut.id, good.id]);
  expect(await list({ state: 'failed' })).toEqual([bad.id]);
  expect(await list({ state: 'STORED' })).toEqual([waiting]);
  expect(await list({ with_problems: true })).toEqual([bad.id, cut.id]);
  expect(await list({ with_problems: true, state: 'ingested' })).toEqual([cut.id]);
  const first = await client.call('listUploads', {
    ...asked,
    page_query: { page_size: 1 },
    with_problems: true,
  });
  const token = { page_size: 1, page_token: first.page.next_page_token };
  expect(await list({ page_query: token, with_problems: true })).toEqual([cut.id]);
  const other = { ...asked, page_query: token };
  expect((await client.refusal('listUploads', other, 400)).code).toBe('INVALID_PAGE_TOKEN');
  expect((await client.refusal('listUploads', { ...asked, page_query: {}, state: 'odd' }, 400)).code).toBe(
    'VALIDATION_FAILED',
  );
});

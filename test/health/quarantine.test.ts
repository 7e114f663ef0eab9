// From uploads to the answer that turns a red run green, and what people may say about it; all of it over HTTP.
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { type Client, openWorldForTest, widgets, type World } from '../support/harness.ts';
import { bundleOf, junit, type Outcome } from './bundle.ts';
import { sql } from '../support/sql.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };
const named = { repo: widgets, orgUrlSlug: 'acme' };

const idOf = (name: string): string =>
  v5(`acme#sandbox.example/acme/widgets#test/sum.test.ts#Sum#calculator#${name}#JUNIT_TESTCASE`, v5.URL);

const steady: readonly Outcome[] = Array.from({ length: 40 }, (_, index) => ({ name: `steady ${index}` }));
const sha = (number: number): string => number.toString(16).padStart(40, '0');

/** Sends a bundle as existing uploaders do, and has it read. */
async function send(world: World, client: Client, number: number, outcome: Outcome, attempt = 1) {
  // What fails on two commits is not one incident.
  world.clock.advance(attempt === 1 ? 3 * 3_600_000 : 60_000);
  const { url, id } = await client.call('createBundleUpload', named);
  const { pathname, search } = new URL(url);
  const bundle = bundleOf({
    repo: widgets,
    reports: [junit([...steady, outcome])],
    sha: sha(number),
    at: number * 10 + attempt,
    envs: { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: String(number), GITHUB_RUN_ATTEMPT: String(attempt) },
  });
  const answer = await world.server.inject({ method: 'PUT', url: pathname + search, payload: bundle });
  expect(answer.statusCode).toBe(200);
  await world.runJobs();
  expect(world.jobErrors).toEqual([]);
  return (await client.call('getUpload', { ...asked, upload_id: id })).upload;
}

const failing: Outcome = { name: 'waits', failure: 'Timeout of 5000ms exceeded' };
const passing: Outcome = { name: 'waits' };

/** The test fails and then passes on so many commits. */
async function flake(world: World, client: Client, commits: number): Promise<void> {
  for (let number = 1; number <= 5; number++) await send(world, client, 100 + number, passing);
  for (let number = 1; number <= commits; number++) {
    await send(world, client, number, failing);
    await send(world, client, number, passing, 2);
  }
}

async function openFlakyWorld(scopes?: Parameters<World['client']>[1]) {
  const world = await openWorldForTest();
  const admin = await world.client();
  const client = await world.client('acme', scopes);
  const ask = async (testIdentifiers: readonly object[] = []) =>
    admin.call('getQuarantineConfig', { ...named, remoteUrls: [], testIdentifiers });
  const update = (settings: object) => admin.call('updateHealthSettings', { ...asked, settings });
  return { world, admin, client, ask, update };
}

it('a failed test has its page in the details of the upload', async () => {
  const { world, client } = await openFlakyWorld();
  const { failures } = await send(world, client, 1, failing);
  expect(failures.map(({ html_url: page }) => page)).toEqual([
    expect.stringMatching(
      `^https?://[^/]+/app/tests/${idOf('waits')}\\?repo=sandbox\\.example%2Facme%2Fwidgets$`,
    ),
  ]);
});

describe('a flaky test', () => {
  it('is quarantined once it is known, if that is on, and only for failures that are known', async () => {
    const { world, admin, client, ask, update } = await openFlakyWorld();
    await flake(world, client, 3);
    const { tests } = await admin.call('listUnhealthyTests', { ...asked, page_query: {}, status: 'FLAKY' });
    expect(tests.map(({ id, name }) => [id, name])).toEqual([[idOf('waits'), 'waits']]);
    expect(await ask()).toEqual({ isDisabled: true, testIds: [] });

    await update({ quarantine: { enabled: true } });
    const id = idOf('waits');
    expect(await ask()).toEqual({ isDisabled: false, testIds: [id] });
    const byParts = {
      name: 'waits',
      parentName: 'calculator',
      className: 'Sum',
      file: 'test/sum.test.ts',
    };
    expect((await ask([byParts])).testIds).toEqual([id]);
    expect((await ask([{ id, failure_message: 'Timeout of 5003ms exceeded' }])).testIds).toEqual([id]);
    expect((await ask([{ ...byParts, failure_message: 'expected 4, got 5' }])).testIds).toEqual([]);
    expect((await ask([{ id: idOf('steady 1') }, { name: 'nobody' }])).testIds).toEqual([]);
    const both = [
      { id, failure_message: 'Timeout of 1ms exceeded' },
      { id, failure_message: 'other' },
    ];
    expect((await ask(both)).testIds).toEqual([]);
  });

  it('of a fork alone is shown and never classified', async () => {
    const { world, admin, client, ask, update } = await openFlakyWorld(['upload']);
    await update({ quarantine: { enabled: true } });
    await flake(world, client, 3);
    const { uploads } = await admin.call('listUploads', { ...asked, page_query: { page_size: 1 } });
    expect(uploads[0]).toMatchObject({ trust: 'untrusted', state: 'ingested', tests: 41 });
    for (const status of ['FLAKY', 'BROKEN'])
      expect((await admin.call('listUnhealthyTests', { ...asked, page_query: {}, status })).tests).toEqual(
        [],
      );
    expect((await ask()).testIds).toEqual([]);
  });
});

describe('what people say of a test', () => {
  it('counts at once, until it is over, and is in the audit log', async () => {
    const { world, admin, client, ask, update } = await openFlakyWorld();
    await send(world, client, 1, passing);
    await update({ quarantine: { enabled: true } });
    const test = { ...asked, test_case_id: idOf('waits') };
    const expires_at = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
    const wish = { quarantine_setting: 'always_quarantine', expires_at, owner: 'ada', note: 'being fixed' };
    expect(await admin.call('setQuarantine', { ...test, ...wish })).toMatchObject({
      quarantine_setting: 'ALWAYS_QUARANTINE',
      quarantined: true,
      expires_at,
      owner: 'ada',
      note: 'being fixed',
      status: 'healthy',
    });
    expect((await ask([{ id: test.test_case_id, failure_message: 'anything' }])).testIds).toHaveLength(1);
    world.clock.advance(3_600_000);
    expect((await ask()).testIds).toEqual([]);

    expect(await admin.call('flagTest', { ...test, status: 'BROKEN' })).toMatchObject({
      status: 'broken',
      manual_status: 'broken',
      quarantined: false,
    });
    expect(await admin.call('flagTest', { ...test, status: null })).toMatchObject({
      status: 'healthy',
      manual_status: null,
    });
    const never = { ...test, quarantine_setting: 'NEVER_QUARANTINE' };
    expect(await admin.call('setQuarantine', never)).toMatchObject({ quarantined: false });

    const { entries, nextCursor } = await admin.call('listAuditLog', { take: 3 });
    expect(entries.map(({ action }) => action)).toEqual(['test.quarantine', 'test.flag', 'test.flag']);
    expect(entries[0]).toMatchObject({
      actor: expect.stringMatching(/^api:/) as string,
      subject: expect.stringContaining(test.test_case_id) as string,
      after: { setting: 'NEVER_QUARANTINE' },
    });
    const rest = await admin.call('listAuditLog', { cursor: nextCursor });
    expect(rest.entries.map(({ action }) => action)).toEqual(['test.quarantine', 'health.settings']);
    expect(rest.nextCursor).toBeUndefined();
    const rows = await sql<{ kind: string }>(world.cell.db)`select distinct kind from test_fact`;
    expect(rows.map(({ kind }) => kind).toSorted()).toEqual([
      'quarantining_setting_changed',
      'status_changed',
    ]);
  });

  it('may mute a monitor, for a while', async () => {
    const { world, admin, client } = await openFlakyWorld();
    await flake(world, client, 3);
    const test = { ...asked, test_case_id: idOf('waits') };
    const statusOf = async () =>
      (await admin.call('getTestDetails', { ...asked, test_id: test.test_case_id })).test.status.value;
    expect(await statusOf()).toBe('flaky');
    const muted = await admin.call('muteMonitor', {
      ...test,
      monitor: 'PASS_ON_RETRY',
      hours: 2,
      reason: 'x',
    });
    expect(muted.muted_until).not.toBeNull();
    expect(await statusOf()).toBe('healthy');
    const unmuted = await admin.call('muteMonitor', { ...test, monitor: 'pass_on_retry', hours: 0 });
    expect(unmuted.muted_until).toBeNull();
    expect(await statusOf()).toBe('flaky');
    const { code } = await admin.refusal('muteMonitor', { ...test, monitor: 'pass_on_retry' }, 400);
    expect(code).toBe('VALIDATION_FAILED');
  });

  it('needs an admin, and a test that is there', async () => {
    const { world, admin, client } = await openFlakyWorld(['read', 'submit', 'upload']);
    await send(world, client, 1, passing);
    const test = { ...asked, test_case_id: idOf('waits') };
    const change = { ...test, quarantine_setting: 'ALWAYS_QUARANTINE' };
    expect((await client.refusal('setQuarantine', change, 403)).code).toBe('INSUFFICIENT_SCOPE');
    expect((await client.refusal('listAuditLog', {}, 403)).code).toBe('INSUFFICIENT_SCOPE');
    const unknown = { ...change, test_case_id: idOf('nobody') };
    expect((await admin.refusal('setQuarantine', unknown, 404)).code).toBe('TEST_CASE_NOT_FOUND');
    expect((await admin.call('listAuditLog', {})).entries).toEqual([]);
  });
});

describe('who owns a test', () => {
  it('is what CODEOWNERS says, wherever it stands in the bundle, and what it says later', async () => {
    const { world, admin, client } = await openFlakyWorld();
    const ownersOf = async (name: string) =>
      (await admin.call('getTestDetails', { ...asked, test_id: idOf(name) })).test.codeowners;
    const sent = async (number: number, names: readonly string[], codeowners: string, branch = 'main') => {
      world.clock.advance(60_000);
      const { pathname, search } = new URL((await client.call('createBundleUpload', named)).url);
      const reports = [junit(names.map((name) => ({ name })))];
      const payload = bundleOf({ repo: widgets, reports, sha: sha(number), codeowners, branch });
      await world.server.inject({ method: 'PUT', url: pathname + search, payload });
      await world.runJobs();
      expect(world.jobErrors).toEqual([]);
    };
    await sent(1, ['one'], '* @acme/all\n/test/ @acme/track\n');
    expect(await ownersOf('one')).toEqual(['@acme/track']);
    await sent(2, ['one', 'two'], '* @acme/all\n/test/ @acme/track\n');
    expect(await ownersOf('two')).toEqual(['@acme/track']);
    await sent(3, ['one'], '* @acme/nobody\n', 'feature');
    expect(await ownersOf('one')).toEqual(['@acme/track']);
    await sent(4, ['one'], '* @acme/all\n');
    expect([await ownersOf('one'), await ownersOf('two')]).toEqual([['@acme/all'], ['@acme/all']]);
  });
});

describe('settings', () => {
  it('are the defaults until they are changed, a part at a time', async () => {
    const { admin, update } = await openFlakyWorld();
    const { settings: before } = await admin.call('getHealthSettings', asked);
    expect(before.quarantine).toEqual({
      enabled: false,
      auto: true,
      days: 30,
      max_tests: 500,
      max_share: 0.05,
      critical_tests: [],
      open_issues: false,
      default_owners: [],
    });
    await update({ monitors: { failure_count_broken: { is_on: true, failures_min: 3 } } });
    const { settings } = await update({ quarantine: { auto: false }, default_branches: ['release/*'] });
    expect(settings).toEqual({
      ...before,
      default_branches: ['release/*'],
      quarantine: { ...before.quarantine, auto: false },
      monitors: {
        ...before.monitors,
        failure_count_broken: { ...before.monitors.failure_count_broken, is_on: true, failures_min: 3 },
      },
    });
    expect((await admin.call('getHealthSettings', asked)).settings).toEqual(settings);
    expect((await update({ default_branches: null })).settings.default_branches).toBeNull();
  });
});

// A test is renamed: its history continues under the new name, and is taken back when that is undone. From uploads to the API.
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { decodeHistory } from '#core/health/history-bytes.ts';
import { escaped } from './bundle.ts';
import { type HealthWorld, openHealthWorld, type Outcome, shaOf } from './world.ts';
import { widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

type Files = Readonly<Record<string, Readonly<Record<string, Outcome>>>>;

const asked = { repo: widgets, org_url_slug: 'acme' };
const idOf = (file: string, name: string): string =>
  v5(`acme#sandbox.example/acme/widgets#${file}#Cart##${name}#JUNIT_TESTCASE`, v5.URL);

function junit(files: Files): Buffer {
  const cases = Object.entries(files).flatMap(([file, tests]) =>
    Object.entries(tests).map(([name, outcome]) => {
      const head = `<testcase name="${escaped(name)}" classname="Cart" file="${file}" time="0.012"`;
      if (outcome === 'pass') return `${head}/>`;
      if (outcome === 'skip') return `${head}><skipped/></testcase>`;
      const message = escaped('fail' in outcome ? outcome.fail : outcome.flake);
      return `${head}><failure message="${message}" type="AssertionError"/></testcase>`;
    }),
  );
  return Buffer.from(`<testsuites><testsuite>${cases.join('\n')}</testsuite></testsuites>`);
}

const steady = {
  'src/steady.test.ts': Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`stays the same ${index}`, 'pass' as const]),
  ),
};
const timeout = 'Timeout of 5000ms exceeded';
const cart = (file: string, waits: Outcome = 'pass', name = 'waits for the payment'): Files => ({
  ...steady,
  [file]: { [name]: waits, 'adds an item': 'pass', 'removes an item': 'pass' },
});
const [unit, checkout] = ['unit/cart.test.ts', 'checkout/cart.test.ts'];
const [former, present] = [unit, checkout].map((file) => idOf(file, 'waits for the payment')) as [
  string,
  string,
];

type Send = Partial<Parameters<HealthWorld['upload']>[0]>;

async function openRenameWorld() {
  const health = await openHealthWorld();
  const { world } = health;
  // Every world begins at noon: two that are compared pass midnight with the same upload.
  world.clock.advance(dayMs - ((world.clock.now().getTime() + dayMs / 2) % dayMs));
  const admin = await world.client();
  const send = (number: number, files: Files, about: Send = {}) =>
    health.upload({ sha: shaOf(number), results: {}, bytes: junit(files), ...about });
  await admin.call('updateHealthSettings', { ...asked, settings: { quarantine: { enabled: true } } });
  /** Passes, and then fails and passes on three commits. */
  const flake = async (name?: string) => {
    for (let number = 1; number <= 6; number++) await send(number, cart(unit, 'pass', name));
    for (let number = 11; number <= 13; number++) {
      await send(number, cart(unit, { fail: timeout }, name));
      await send(number, cart(unit, 'pass', name));
    }
  };
  const details = (test_id: string) => admin.call('getTestDetails', { ...asked, test_id });
  const answer = (test_case_id: string, former_test_case_id: string, is_rename: boolean) =>
    admin.call('setTestRename', { ...asked, test_case_id, former_test_case_id, is_rename });
  const excuses = async (id: string, failure_message: string) =>
    (
      await admin.call('getQuarantineConfig', {
        repo: widgets,
        orgUrlSlug: 'acme',
        remoteUrls: [],
        testIdentifiers: [{ id, failure_message }],
      })
    ).testIds.length === 1;
  /** Everything that is stored about a test, but the names. */
  const stored = async (id: string) => {
    const [row] = await sql<{ row: object }>(world.cell.db)`
      select to_jsonb(c) - 'status_changed_at' || jsonb_build_object(
        'history', (select encode(body, 'hex') from test_history h where h.repository_id = c.repository_id and h.test_case_id = c.id),
        'monitors', (select active_monitors from test_history h where h.repository_id = c.repository_id and h.test_case_id = c.id),
        'hours', (select count(*) from test_rollup r where r.repository_id = c.repository_id and r.test_case_id = c.id)) as row
      from test_case c where c.id = ${id}::uuid`;
    return row?.row;
  };
  const renames = () =>
    sql<{ state: string; kind: string; id: string }>(
      world.cell.db,
    )`select state, kind, test_case_id as id from test_rename order by test_case_id`;
  return { ...health, admin, send, flake, details, answer, excuses, stored, renames };
}

describe('a file that moved', () => {
  it('keeps the history and the quarantine of its tests, after two further commits', async () => {
    const { admin, send, flake, details, excuses, renames } = await openRenameWorld();
    await flake();
    const before = (await details(former)).test;
    expect(before).toMatchObject({ status: { value: 'flaky' }, quarantined: true });
    await admin.call('setQuarantine', {
      ...asked,
      test_case_id: former,
      quarantine_setting: 'AUTO_QUARANTINE',
      owner: 'ada',
      expires_at: before.quarantine_expires_at,
    });

    await send(21, cart(checkout));
    expect(await renames()).toEqual([{ state: 'suspected', kind: 'moved', id: present }]);
    expect(await details(present)).toMatchObject({
      test: { status: { value: 'healthy' }, quarantined: false },
      renamed_from: { test_case_id: former, is_carried: false },
    });
    await send(22, cart(checkout));
    expect((await details(present)).test.status.value).toBe('healthy');
    await send(23, cart(checkout));
    const after = await details(present);
    expect(after).toMatchObject({
      test: {
        status: { value: 'flaky' },
        quarantined: true,
        quarantine_owner: 'ada',
        quarantine_expires_at: before.quarantine_expires_at,
      },
      renamed_from: {
        test_case_id: former,
        name: 'waits for the payment',
        file_path: unit,
        how: 'moved',
        commit: shaOf(21),
        is_carried: true,
        carries_quarantine: true,
        confirmed_by: null,
      },
      renamed_to: null,
      recovery: { clean_runs: expect.any(Number) as number },
    });
    expect(after.test.status.reason).toContain('3 times');
    expect((await details(former)).renamed_to).toMatchObject({ test_case_id: present, file_path: checkout });
    expect(await excuses(present, timeout)).toBe(true);
    expect(await excuses(present, 'expected 4, got 5')).toBe(false);

    const { changes } = await admin.call('getTestHistory', { ...asked, test_id: present });
    expect(changes.map(({ kind }) => kind)).toContain('renamed');
    const { tests } = await admin.call('listUnhealthyTests', { ...asked, page_query: {}, status: 'FLAKY' });
    expect(tests.map(({ id }) => id)).toEqual([present]);
  });

  it('is followed until the tests are healthy under their new name', async () => {
    const { send, flake, details, excuses } = await openRenameWorld();
    await flake();
    for (let number = 21; number <= 23; number++) await send(number, cart(checkout));
    const missing = async () => (await details(present)).recovery!.clean_runs_missing!;
    const first = await missing();
    await send(24, cart(checkout));
    expect(await missing()).toBeLessThanOrEqual(first);
    await send(25, cart(checkout, { fail: timeout }));
    await send(25, cart(checkout));
    expect((await details(present)).test.status.reason).toContain('4 times');
    expect(await excuses(present, timeout)).toBe(true);
    // What the default branch fails with is never excused, whatever the former test was known for.
    await send(26, cart(checkout, { fail: timeout }));
    expect(await excuses(present, timeout)).toBe(false);
  });

  it('continues with a second move, and each can be undone', async () => {
    const { send, flake, details, answer, renames } = await openRenameWorld();
    const shop = 'shop/cart.test.ts';
    const last = idOf(shop, 'waits for the payment');
    await flake();
    for (let number = 21; number <= 28; number++) await send(number, cart(checkout));
    for (let number = 31; number <= 33; number++) await send(number, cart(shop));
    expect(await renames()).toMatchObject([{ state: 'active' }, { state: 'active' }]);
    expect((await details(last)).test).toMatchObject({ status: { value: 'flaky' }, quarantined: true });
    await answer(present, former, false);
    expect((await details(last)).test).toMatchObject({ status: { value: 'healthy' }, quarantined: false });
    expect((await details(last)).renamed_from).toMatchObject({ test_case_id: present, is_carried: true });
    await answer(present, former, true);
    expect((await details(last)).test).toMatchObject({ status: { value: 'flaky' } });
  });

  it('keeps the issue of its tests', async () => {
    const { admin, send, flake, world } = await openRenameWorld();
    await admin.call('updateHealthSettings', { ...asked, settings: { quarantine: { open_issues: true } } });
    await flake();
    await world.makeJobsDue();
    await world.runJobs();
    for (let number = 21; number <= 23; number++) await send(number, cart(checkout));
    await world.makeJobsDue();
    await world.runJobs();
    const issues = await sql<{ title: string; body: string }>(
      world.cell.db,
    )`select title, body from sandbox_issue`;
    expect(issues).toHaveLength(1);
    expect(issues[0]!.body).toContain(checkout);
  });

  it('is not carried over by pull requests, forks, single shards or cut reports', async () => {
    const { send, flake, renames } = await openRenameWorld();
    await flake();
    for (let number = 21; number <= 24; number++) {
      await send(number, cart(checkout), { branch: 'feature', pr: 7 });
      await send(number, cart(checkout), { trust: 'untrusted' });
      await send(number, cart(checkout), { job: `other ${number}` });
      const bytes = junit(cart(checkout));
      await send(number, {}, { bytes: bytes.subarray(0, bytes.length - 60) });
    }
    expect(await renames()).toEqual([]);
  });

  it('is no rename if the tests are only skipped, or also run where they were', async () => {
    const { send, flake, renames } = await openRenameWorld();
    await flake();
    const skipped = {
      'adds an item': 'skip',
      'removes an item': 'skip',
      'waits for the payment': 'skip',
    } as const;
    for (let number = 21; number <= 23; number++) await send(number, { ...cart(checkout), [unit]: skipped });
    for (let number = 31; number <= 33; number++) await send(number, { ...cart(checkout), ...cart(unit) });
    expect(await renames()).toEqual([]);
  });

  it('is no rename if the default branch had tests with these names before', async () => {
    const { send, flake, renames } = await openRenameWorld();
    await send(0, cart(checkout), { job: 'nightly' });
    await flake();
    for (let number = 21; number <= 23; number++) await send(number, cart(checkout));
    expect(await renames()).toEqual([]);
  });

  it('is forgotten if the former tests are back before it is certain', async () => {
    const { send, flake, renames, details } = await openRenameWorld();
    await flake();
    await send(21, cart(checkout));
    await send(22, cart(unit));
    expect(await renames()).toEqual([]);
    expect((await details(former)).renamed_to).toBeNull();
  });

  it('that moves back ends the rename: the former test is on its own again, and so is the other one', async () => {
    const { send, flake, details, renames, stored } = await openRenameWorld();
    await flake();
    for (let number = 21; number <= 23; number++) await send(number, cart(checkout));
    await send(31, cart(unit));
    expect(await renames()).toMatchObject([{ state: 'active' }]);
    await send(32, cart(unit));
    expect(await renames()).toMatchObject([{ state: 'ended' }]);
    expect((await details(present)).test).toMatchObject({ status: { value: 'healthy' }, quarantined: false });
    expect((await details(former)).test).toMatchObject({ status: { value: 'flaky' }, quarantined: true });
    expect(await stored(present)).toMatchObject({ history: null, hours: 0 });
  });
});

describe('a rename that is undone', () => {
  it('leaves both tests as if it had never been found, and is not found again', async () => {
    const [one, other] = [await openRenameWorld(), await openRenameWorld()];
    // The other repository never hears of it.
    await sql(
      other.world.cell.db,
    )`create function refuse() returns trigger language plpgsql as 'begin return null; end'`;
    await sql(
      other.world.cell.db,
    )`create trigger refuse before insert on test_rename for each row execute function refuse()`;
    for (const { flake, send } of [one, other]) {
      await flake();
      for (let number = 21; number <= 23; number++) await send(number, cart(checkout));
    }
    expect((await one.details(present)).test.quarantined).toBe(true);
    await one.answer(present, former, false);
    const same = async () => {
      for (const id of [former, present]) {
        const [a, b] = [await one.stored(id), await other.stored(id)];
        expect(comparable(a)).toEqual(comparable(b));
      }
    };
    await same();
    expect((await one.details(present)).renamed_from).toBeNull();
    expect(await one.excuses(present, timeout)).toBe(false);
    for (const { send } of [one, other])
      for (let number = 24; number <= 26; number++) {
        await send(number, cart(checkout, { fail: timeout }));
        await send(number, cart(checkout));
      }
    await same();
    expect(await one.renames()).toMatchObject([{ state: 'undone' }]);
    expect((await one.details(present)).test.status.reason).toContain('3 times');
  });
});

/** Instants and ids of repositories differ from world to world. */
function comparable(row: object | undefined): object {
  const { history, ...known } = row as Record<string, unknown>;
  const body = typeof history === 'string' ? decodeHistory(Buffer.from(history, 'hex')) : null;
  const text = JSON.stringify([known, body], (name, value: unknown) => {
    if (name === 'repository_id' || name === 'day') return '';
    // A test that was not always healthy has a reason for it.
    if (value === 'Healthy: no monitor is active.') return '';
    if (typeof value === 'number' && value > 1e12) return Math.floor((value % 86_400_000) / 3_600_000);
    return typeof value === 'string' ? value.replace(/T\d\d:\d\d:\d\d\.\d+\+00:00$/, '') : value;
  });
  return JSON.parse(text.replaceAll(/\d\d:\d\d UTC/g, '')) as object;
}

describe('a test with a new name', () => {
  const [before, after] = ['waits for the slow payment', 'waits for the slow card payment'];
  const [old, now] = [idOf(unit, before), idOf(unit, after)];

  it('keeps its history, but no quarantine before a person confirms it', async () => {
    const { admin, send, flake, details, excuses, answer } = await openRenameWorld();
    await flake(before);
    expect((await details(old)).test.quarantined).toBe(true);
    for (let number = 21; number <= 23; number++) await send(number, cart(unit, 'pass', after));
    expect(await details(now)).toMatchObject({
      test: { status: { value: 'flaky' }, quarantined: false },
      renamed_from: { how: 'renamed', carries_quarantine: false, is_carried: true },
    });
    expect(await excuses(now, timeout)).toBe(false);
    await answer(now, old, true);
    expect(await details(now)).toMatchObject({
      test: { status: { value: 'flaky' }, quarantined: true },
      renamed_from: { carries_quarantine: true, confirmed_by: expect.any(String) as string },
    });
    expect(await excuses(now, timeout)).toBe(true);
    const { entries } = await admin.call('listAuditLog', {});
    expect(entries.map(({ action }) => action)).toContain('test.rename');
  });

  it('inherits what people set only if a person confirms it, and gives it back', async () => {
    const { admin, send, flake, details, answer, excuses } = await openRenameWorld();
    await flake(before);
    const test = { ...asked, test_case_id: old };
    await admin.call('setQuarantine', { ...test, quarantine_setting: 'ALWAYS_QUARANTINE', owner: 'ada' });
    await admin.call('muteMonitor', { ...test, monitor: 'changepoint', hours: 100, reason: 'known' });
    for (let number = 21; number <= 23; number++) await send(number, cart(unit, 'pass', after));
    expect((await details(now)).test).toMatchObject({
      quarantine_setting: 'AUTO_QUARANTINE',
      quarantined: false,
      quarantine_owner: 'ada',
    });
    await answer(now, old, true);
    expect((await details(now)).test).toMatchObject({
      quarantine_setting: 'ALWAYS_QUARANTINE',
      quarantined: true,
    });
    expect(await excuses(now, 'anything')).toBe(true);
    const muted = async () =>
      (await admin.call('getTestHistory', { ...asked, test_id: now })).monitors.filter(
        ({ muted_until }) => muted_until !== null,
      ).length;
    expect(await muted()).toBe(1);
    await answer(now, old, false);
    expect((await details(now)).test).toMatchObject({
      status: { value: 'healthy' },
      quarantine_setting: 'AUTO_QUARANTINE',
      quarantined: false,
      quarantine_owner: null,
    });
    expect(await muted()).toBe(0);
    expect((await details(old)).test).toMatchObject({ quarantined: true, quarantine_owner: 'ada' });
  });
});

describe('a rename that a person states', () => {
  it('carries over what Signalbox did not find, until it is undone', async () => {
    const { send, flake, details, answer } = await openRenameWorld();
    await flake();
    for (let number = 21; number <= 23; number++)
      await send(number, cart('src/basket.test.ts', 'pass', 'pays'));
    const stated = idOf('src/basket.test.ts', 'pays');
    expect((await details(stated)).renamed_from).toBeNull();
    await answer(stated, former, true);
    expect(await details(stated)).toMatchObject({
      test: { status: { value: 'flaky' }, quarantined: true },
      renamed_from: { how: 'stated', commit: null },
    });
    await answer(stated, former, false);
    expect((await details(stated)).test).toMatchObject({ status: { value: 'healthy' }, quarantined: false });
  });

  it('is about two tests that the repository has', async () => {
    const { flake, answer } = await openRenameWorld();
    await flake();
    const other = idOf(unit, 'adds an item');
    await expect(answer(former, former, true)).rejects.toThrow('VALIDATION_FAILED');
    await expect(answer(former, present, true)).rejects.toThrow('TEST_CASE_NOT_FOUND');
    await expect(answer(former, other, false)).rejects.toThrow('TEST_CASE_NOT_FOUND');
    await answer(other, former, true);
    await expect(answer(former, other, true)).rejects.toThrow('VALIDATION_FAILED');
  });
});

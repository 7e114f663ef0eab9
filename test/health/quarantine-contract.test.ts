// A quarantine has an owner and an end, needs room, and its end is announced: over HTTP, with webhooks.
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '#base/duration.ts';
import { webhookBodies } from '#contract/webhook-event.ts';
import { buildPayload } from '#event/webhook-payload.ts';
import { slackBody } from '#event/webhook-message.ts';
import { ensurePartitions } from '#db/partition.ts';
import { withTransaction } from '#db/transaction.ts';
import { revisitTests } from '#job/health/revisit-tests.ts';
import { widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';
import { openWebhookWorld, type WebhookWorld } from '../webhook/world.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };

async function openContractWorld(settings: object = {}) {
  const world = await openWebhookWorld();
  const { admin } = world;
  const update = (quarantine: object) =>
    admin.call('updateHealthSettings', { ...asked, settings: { quarantine } });
  const put = async (names: readonly string[], about: object = {}) => {
    const testCases = names.map((name) => ({ name, status: 'healthy', ...about }));
    const answer = await admin.call('sandboxPutTestCases', { repo: widgets, testCases });
    return answer.testCases.map(({ id }) => ({ ...asked, test_case_id: id }));
  };
  const flag = (test: object, status: string | null) => admin.call('flagTest', { ...test, status });
  const details = async ({ test_case_id: test_id }: { test_case_id: string }) =>
    (await admin.call('getTestDetails', { ...asked, test_id })).test;
  const revisit = async (days: number) => {
    world.clock.advance(days * dayMs);
    await ensurePartitions(world.cell.db, world.clock.now());
    await revisitTests({ cell: world.cell, clock: world.clock });
  };
  await put(Array.from({ length: 40 }, (_, index) => `steady ${index}`));
  await update({ enabled: true, ...settings });
  return { world, admin, update, put, flag, details, revisit };
}

const inDays = ({ clock }: WebhookWorld, days: number): string =>
  new Date(clock.now().getTime() + days * dayMs).toISOString();

/** The clock runs while a test does. */
const about = ({ clock }: WebhookWorld, days: number): string =>
  expect.toSatisfy(
    (at: string) => Math.abs(Date.parse(at) - clock.now().getTime() - days * dayMs) < hourMs,
  ) as string;

describe('the end of a quarantine', () => {
  it('is set for an automatic one too; then the failures count until the test was healthy', async () => {
    const { world, admin, put, flag, details, revisit } = await openContractWorld();
    const [test] = await put(['waits']);
    expect(await flag(test!, 'flaky')).toMatchObject({
      quarantined: true,
      expires_at: about(world, 30),
      held_back: null,
    });
    await revisit(29);
    expect(await details(test!)).toMatchObject({ quarantined: true, quarantine_held_back: null });
    world.clock.advance(dayMs);
    const config = { repo: widgets, orgUrlSlug: 'acme', remoteUrls: [], testIdentifiers: [] };
    expect((await admin.call('getQuarantineConfig', config)).testIds).toEqual([]);
    await revisit(0);
    expect(await details(test!)).toMatchObject({ quarantined: false, quarantine_held_back: 'ENDED' });
    await revisit(3);
    expect(await details(test!)).toMatchObject({ quarantined: false, quarantine_held_back: 'ENDED' });
    expect(await flag(test!, 'healthy')).toMatchObject({ quarantined: false, held_back: null });
    expect(await flag(test!, 'flaky')).toMatchObject({ quarantined: true, expires_at: about(world, 30) });
  });

  it('is moved by a person who saves the quarantine again', async () => {
    const { world, admin, put, flag, revisit } = await openContractWorld({ days: 10 });
    const [test] = await put(['waits']);
    await flag(test!, 'flaky');
    await revisit(11);
    const again = { ...test!, quarantine_setting: 'AUTO_QUARANTINE' };
    expect(await admin.call('setQuarantine', again)).toMatchObject({
      quarantined: true,
      held_back: null,
      expires_at: about(world, 10),
    });
    const expires_at = inDays(world, 20);
    expect(await admin.call('setQuarantine', { ...again, expires_at })).toMatchObject({ expires_at });
  });

  it('is given to quarantines from before there were ends', async () => {
    const { world, admin, put, details, revisit } = await openContractWorld();
    const [test] = await put(['old']);
    await admin.call('setQuarantine', { ...test!, quarantine_setting: 'ALWAYS_QUARANTINE' });
    await sql(world.cell.db)`update test_case set quarantine_expires_at = null`;
    await revisit(1);
    expect(await details(test!)).toMatchObject({
      quarantined: true,
      quarantine_expires_at: about(world, 30),
    });
  });
});

describe('the owner of a quarantine', () => {
  it('is who was named, else the code owners, else the owners of the settings', async () => {
    const { admin, update, put, flag, details } = await openContractWorld();
    const [owned] = await put(['owned'], { codeowners: ['@acme/track', '@ada'] });
    const [bare] = await put(['bare']);
    for (const test of [owned!, bare!]) await flag(test, 'flaky');
    expect((await details(owned!)).quarantine_owners).toEqual(['@acme/track', '@ada']);
    expect((await details(bare!)).quarantine_owners).toEqual([]);
    await update({ default_owners: ['@acme/ci'] });
    expect((await details(bare!)).quarantine_owners).toEqual(['@acme/ci']);
    const named = { ...owned!, quarantine_setting: 'AUTO_QUARANTINE', owner: 'grace' };
    expect(await admin.call('setQuarantine', named)).toMatchObject({ owners: ['grace'] });
    await admin.call('linkTicketToTestCase', {
      repo: widgets,
      test_case_id: bare!.test_case_id,
      external_ticket_id: 'https://tracker.example/T-7',
    });
    const { quarantined_tests: list } = await admin.call('listQuarantinedTests', {
      ...asked,
      page_query: {},
    });
    expect(list.map((test) => [test.name, test.quarantine_owners, test.ticket?.html_url])).toEqual(
      expect.arrayContaining([
        ['owned', ['grace'], undefined],
        ['bare', ['@acme/ci'], 'https://tracker.example/T-7'],
      ]),
    );
  });
});

describe('the cap', () => {
  it('holds tests back and says so, until there is room', async () => {
    const { admin, update, put, flag, details, revisit } = await openContractWorld({ max_tests: 2 });
    const tests = await put(['one', 'two', 'three']);
    for (const test of tests) await flag(test, 'flaky');
    expect(await details(tests[2]!)).toMatchObject({
      quarantined: false,
      quarantine_held_back: 'CAP_TESTS',
      quarantine_expires_at: null,
    });
    expect(await admin.call('getQuarantineSummary', asked)).toMatchObject({
      quarantined_tests: 2,
      held_back_tests: 1,
    });
    const by = { ...tests[2]!, quarantine_setting: 'ALWAYS_QUARANTINE' };
    expect(await admin.call('setQuarantine', by)).toMatchObject({
      quarantined: false,
      held_back: 'CAP_TESTS',
    });
    await flag(tests[0]!, 'healthy');
    await revisit(0);
    // A person chose always for a test that is not quarantined: the hourly look finds it, as it is flaky.
    expect(await details(tests[2]!)).toMatchObject({ quarantined: true, quarantine_held_back: null });
    await update({ max_tests: 0 });
    expect((await admin.call('getQuarantineSummary', asked)).quarantined_tests).toBe(2);
  });

  it('is also a share of the suite, and holds for one upload with many tests', async () => {
    const { admin, put, update } = await openContractWorld({ auto: false });
    // 5 % of 240 tests are 12.
    await put(Array.from({ length: 180 }, (_, index) => `more ${index}`));
    const tests = await put(Array.from({ length: 20 }, (_, index) => `flaky ${index}`));
    for (const test of tests) await admin.call('flagTest', { ...test, status: 'flaky' });
    await update({ auto: true });
    expect(await admin.call('getQuarantineSummary', asked)).toMatchObject({
      quarantined_tests: 12,
      held_back_tests: 8,
    });
  });

  it('leaves out critical tests, also those that a person quarantines', async () => {
    const { admin, put, flag } = await openContractWorld({ critical_tests: ['test/pay/*'] });
    const [test] = await put(['charges'], { file: 'test/pay/card.test.ts' });
    expect(await flag(test!, 'flaky')).toMatchObject({ quarantined: false, held_back: 'CRITICAL' });
    const always = { ...test!, quarantine_setting: 'ALWAYS_QUARANTINE' };
    expect(await admin.call('setQuarantine', always)).toMatchObject({
      quarantined: false,
      held_back: 'CRITICAL',
    });
  });
});

describe('events of a quarantine', () => {
  it('announce its end 7 days and 1 day before, once each, and what held a test back', async () => {
    const { world, put, flag, revisit } = await openContractWorld({ max_tests: 1 });
    await world.createEndpoint({
      eventTypes: ['test_case.quarantine_ending', 'test_case.quarantine_held_back'],
    });
    const [test, other] = await put(['waits', 'other'], { codeowners: ['@acme/track'] });
    const { expires_at: endsAt } = await flag(test!, 'flaky');
    await flag(other!, 'flaky');
    await flag(other!, 'healthy');
    for (let half = 0; half < 62; half++) await revisit(0.5);
    const rows = await sql<{ type: string; payload: { current: object; test: { name: string } } }>(
      world.cell.db,
    )`select type, payload from webhook_delivery order by created_at`;
    expect(rows.map(({ type, payload }) => [type, payload.test.name, payload.current])).toEqual([
      ['test_case.quarantine_held_back', 'other', { reason: 'CAP_TESTS' }],
      ['test_case.quarantine_ending', 'waits', { days: 7, endsAt }],
      ['test_case.quarantine_ending', 'waits', { days: 1, endsAt }],
      ['test_case.quarantine_held_back', 'waits', { reason: 'ENDED' }],
    ]);
    const bodies = rows.map(({ type, payload }) => buildPayload(type, payload, world.deps.config));
    for (const body of bodies) webhookBodies[body.type]!.parse(body);
    expect(bodies.at(-1)).toMatchObject({
      test: { quarantine_owners: ['@acme/track'], quarantine_held_back: 'ENDED' },
    });
    expect(slackBody(bodies[1]!)).toMatchObject({
      text: expect.stringContaining('leaves quarantine at') as string,
    });
  });

  it('are sent once if the worker is killed in the middle', async () => {
    const { world, put, flag, revisit } = await openContractWorld();
    await world.createEndpoint({ eventTypes: ['test_case.quarantine_ending'] });
    const [test] = await put(['waits']);
    await flag(test!, 'flaky');
    world.clock.advance(23 * dayMs + hourMs);
    await ensurePartitions(world.cell.db, world.clock.now());
    const { db } = world.cell;
    const count = async () =>
      (await sql<{ count: number }>(db)`select count(*) from webhook_delivery`)[0]!.count;
    // The transaction waits for the deliveries' table, and its connection is cut there.
    await withTransaction(world.cell, async (tx) => {
      await tx.run('lock table webhook_delivery in exclusive mode', []);
      const killed = revisit(0).then(
        () => null,
        (error: unknown) => error,
      );
      for (let waiting = 0; waiting === 0;)
        waiting = (
          await sql<{ ended: boolean }>(db)`
            select pg_terminate_backend(pid) as ended from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query ilike '%webhook_delivery%'`
        ).length;
      expect(await killed).toBeInstanceOf(Error);
    });
    expect(await count()).toBe(0);
    await revisit(0);
    await revisit(0);
    expect(await count()).toBe(1);
  });
});

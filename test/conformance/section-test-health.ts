/** Test health: scripted test cases are listed, described, quarantined, linked to tickets, and keep their ids. */
import { randomUUID } from 'node:crypto';
import { brief } from './check.ts';
import { computeTestId } from './identity.ts';
import { expectEmpty, expectError, expectField, expectInvalid, expectOk, expectShape } from './expect.ts';
import { has, pick, pickList } from './json.ts';
import { PAGE, QUARANTINED_TEST, TEST_CASE, TEST_DETAILS, problemsOf } from './shape.ts';
import { freshRepo, post, sandbox, type Repo, type World } from './world.ts';

const HOUR_MS = 3_600_000;
/** Fixed once, so that a run across the full hour speaks of the same hours throughout. */
const THIS_HOUR_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

function hoursAgo(hours: number): string {
  return new Date(THIS_HOUR_MS - hours * HOUR_MS).toISOString();
}

function scriptedTests() {
  return [
    {
      name: 'signals stop',
      file: 'test/signal.test.ts',
      classname: 'SignalTest',
      parent: 'signal suite',
      status: 'flaky',
      reason: 'Failed and passed on the same commit.',
      statusChangedAt: hoursAgo(5),
      quarantineSetting: 'ALWAYS_QUARANTINE',
      pullRequestsImpacted: 9,
      codeowners: ['@acme/track'],
      failures: [
        { summary: 'lamp is dark', at: hoursAgo(2), count: 3 },
        { summary: 'lever is stuck', at: hoursAgo(3), count: 1 },
      ],
      runs: [
        { at: hoursAgo(2), runs: 8, failures: 4 },
        { at: hoursAgo(72), runs: 32, failures: 4 },
      ],
    },
    { name: 'bare', status: 'flaky', statusChangedAt: hoursAgo(9), quarantineSetting: 'NEVER_QUARANTINE' },
    {
      name: 'varied',
      variant: 'linux-arm64',
      status: 'flaky',
      statusChangedAt: hoursAgo(4),
      pullRequestsImpacted: 2,
    },
    { name: 'older of equals', status: 'flaky', statusChangedAt: hoursAgo(8), pullRequestsImpacted: 2 },
    { name: 'always red', status: 'broken', statusChangedAt: hoursAgo(1), pullRequestsImpacted: 4 },
    { name: 'fine', status: 'healthy', statusChangedAt: hoursAgo(1) },
  ];
}

export async function checkTestHealth(world: World): Promise<void> {
  const known = { host: 'host', owner: 'owner', name: 'name' };
  const parts = { file: 'file', classname: 'class_name', parent: 'parent_name', name: 'test_name' };
  const id = computeTestId('org_slug', known, parts);
  world.recorder.equal('the suite computes the known test id', id, 'aad1f138-09ab-5ea9-9c21-af48a03d6edd');
  const repo = freshRepo(world, 'health');
  await checkTestErrors(world, repo);
  if (!world.hasSandbox) return world.recorder.skip('scripted test cases', 'no sandbox');
  const put = await sandbox(world, 'putTestCases', { repo, testCases: scriptedTests() });
  if (!expectOk(world, 'putTestCases', put)) return;
  const ids = new Map(
    pickList(put.json, 'testCases').map((test) => [String(pick(test, 'name')), String(pick(test, 'id'))]),
  );
  for (const test of scriptedTests())
    world.recorder.equal(
      `the id of "${test.name}"`,
      ids.get(test.name),
      computeTestId(world.slug, repo, test),
    );
  await checkUnhealthyLists(world, repo);
  await checkDetails(world, repo, ids);
  await checkQuarantined(world, repo, ids);
  await checkFailing(world, repo, ids);
  await checkTickets(world, repo, ids);
}

function listBody(world: World, repo: Repo) {
  return { repo, org_url_slug: world.slug, page_query: { page_size: 50 } };
}

async function checkTestErrors(world: World, repo: Repo): Promise<void> {
  const common = listBody(world, repo);
  const list = (more: object) =>
    post(world, 'flaky-tests/list-unhealthy-tests', { ...common, status: 'FLAKY', ...more });
  for (const status of ['HEALTHY', 'odd', '', 1])
    expectInvalid(world, `status ${status}`, await list({ status }), 'status');
  const times = { start_time: hoursAgo(5), end_time: hoursAgo(4), test_id: randomUUID(), status: 'BROKEN' };
  const names = ['list-unhealthy-tests', 'get-test-details', 'list-quarantined-tests', 'list-failing-tests'];
  for (const name of names) {
    const wrong = { ...common, ...times, org_url_slug: `${world.slug}-not` };
    expectError(
      world,
      `${name} of another slug`,
      await post(world, `flaky-tests/${name}`, wrong),
      404,
      'ORGANIZATION_NOT_FOUND',
    );
  }
  const details = (test_id: unknown) => post(world, 'flaky-tests/get-test-details', { ...common, test_id });
  expectInvalid(world, 'a test id that is no UUID', await details('not-a-uuid'), 'test_id');
  expectError(world, 'an unknown test case', await details(randomUUID()), 404, 'TEST_CASE_NOT_FOUND');
  const failing = (start_time: unknown, end_time: unknown) =>
    post(world, 'flaky-tests/list-failing-tests', { ...common, start_time, end_time });
  expectInvalid(world, 'a start that is no time', await failing('then', hoursAgo(1)), 'start_time');
  expectInvalid(world, 'an end that is no time', await failing(hoursAgo(1), 'now'), 'end_time');
  const long = await failing(hoursAgo(24 * 7 + 2), hoursAgo(1));
  expectError(world, 'more than 7 days apart', long, 400, 'VALIDATION_FAILED');
  expectOk(world, 'exactly 7 days apart', await failing(hoursAgo(24 * 7 + 1), hoursAgo(1)));
  expectError(
    world,
    'an end before the start',
    await failing(hoursAgo(1), hoursAgo(2)),
    400,
    'VALIDATION_FAILED',
  );
}

async function checkUnhealthyLists(world: World, repo: Repo): Promise<void> {
  const { recorder } = world;
  const list = (status: string) =>
    post(world, 'flaky-tests/list-unhealthy-tests', { ...listBody(world, repo), status });
  const flaky = await list('FLAKY');
  const tests = pickList(flaky.json, 'tests');
  const names = tests.map((test) => pick(test, 'name'));
  const order = ['signals stop', 'varied', 'older of equals', 'bare'];
  recorder.equal('by pull requests impacted, then by the latest change', names, order, flaky.asked);
  expectShape(world, 'page', problemsOf(pick(flaky.json, 'page'), PAGE), pick(flaky.json, 'page'));
  for (const test of tests)
    expectShape(world, `"${String(pick(test, 'name'))}" in the list`, problemsOf(test, TEST_CASE), test);
  const detailed = tests.some(
    (test) => has(test, 'most_common_failures') || has(test, 'failure_rate_last_7d'),
  );
  recorder.check('the list form leaves out what is only in the details', !detailed, brief(tests[0]));
  const broken = await list('BROKEN');
  recorder.equal(
    'only broken',
    pickList(broken.json, 'tests').map((test) => pick(test, 'name')),
    ['always red'],
  );
  recorder.equal('a status in lower case', (await list('flaky')).json, flaky.json);
  const statuses = tests.map((test) => pick(test, 'status', 'value'));
  recorder.equal(
    'each says that it is flaky',
    statuses,
    order.map(() => 'flaky'),
  );
}

async function checkDetails(world: World, repo: Repo, ids: ReadonlyMap<string, string>): Promise<void> {
  const ask = (name: string, at: Repo = repo) =>
    post(world, 'flaky-tests/get-test-details', {
      repo: at,
      org_url_slug: world.slug,
      test_id: ids.get(name),
    });
  const full = await ask('signals stop');
  expectShape(world, 'the details form', problemsOf(pick(full.json, 'test'), TEST_DETAILS), full.json);
  const [scripted] = scriptedTests();
  const expected: Record<string, unknown> = {
    id: ids.get('signals stop'),
    name: 'signals stop',
    variant: '',
    file_path: 'test/signal.test.ts',
    classname: 'SignalTest',
    parent: 'signal suite',
    codeowners: ['@acme/track'],
    pull_requests_impacted_last_7d: 9,
    quarantined: true,
    failure_rate_last_24h: 0.5,
    failure_rate_last_7d: 0.2,
    status: { value: 'flaky', reason: scripted?.reason, timestamp: scripted?.statusChangedAt },
    most_common_failures: [
      { summary: 'lamp is dark', occurrence_count: 3, last_occurrence: scripted?.failures?.[0]?.at },
      { summary: 'lever is stuck', occurrence_count: 1, last_occurrence: scripted?.failures?.[1]?.at },
    ],
  };
  for (const [key, value] of Object.entries(expected))
    expectField(world, `${key} in the details`, full, ['test', key], value);
  const bare = await ask('bare');
  const test = pick(bare.json, 'test');
  const named = ['file_path', 'parent', 'classname', 'ticket'].filter((key) => has(test, key));
  world.recorder.equal('what is unknown is left out', [bare.status, named], [200, []], bare.asked);
  expectField(world, 'no code owners is an empty list', bare, ['test', 'codeowners'], []);
  expectField(world, 'no runs is a rate of 0', bare, ['test', 'failure_rate_last_7d'], 0);
  expectField(world, 'no failures is an empty list', bare, ['test', 'most_common_failures'], []);
  expectField(world, 'never quarantined', bare, ['test', 'quarantined'], false);
  expectField(world, 'a variant is told', await ask('varied'), ['test', 'variant'], 'linux-arm64');
  expectField(
    world,
    'a healthy test has details too',
    await ask('fine'),
    ['test', 'status', 'value'],
    'healthy',
  );
  const elsewhere = await ask('bare', freshRepo(world, 'health-other'));
  expectError(world, 'a test case of another repository', elsewhere, 404, 'TEST_CASE_NOT_FOUND');
}

async function checkQuarantined(world: World, repo: Repo, ids: ReadonlyMap<string, string>): Promise<void> {
  const answer = await post(world, 'flaky-tests/list-quarantined-tests', listBody(world, repo));
  const tests = pickList(answer.json, 'quarantined_tests');
  const always = tests.find((test) => pick(test, 'test_case_id') === ids.get('signals stop'));
  expectShape(world, 'a quarantined test', problemsOf(always, QUARANTINED_TEST), answer.json);
  world.recorder.equal('its setting', pick(always, 'quarantine_setting'), 'ALWAYS_QUARANTINE');
  world.recorder.equal('its status', pick(always, 'status'), 'FLAKY');
  world.recorder.equal('its file', pick(always, 'file'), 'test/signal.test.ts');
  const listed = new Set(tests.map((test) => pick(test, 'name')));
  const isKept = listed.size > 0 && !listed.has('bare') && !listed.has('fine');
  world.recorder.check('neither what is never quarantined nor what is healthy', isKept, brief([...listed]));
  expectShape(world, 'page of quarantined tests', problemsOf(pick(answer.json, 'page'), PAGE), answer.json);
}

function idsOf(json: unknown): readonly unknown[] {
  return pickList(json, 'tests').map((test) => pick(test, 'id'));
}

async function checkFailing(world: World, repo: Repo, ids: ReadonlyMap<string, string>): Promise<void> {
  const ask = (start_time: string, end_time: string) =>
    post(world, 'flaky-tests/list-failing-tests', { ...listBody(world, repo), start_time, end_time });
  const at = await ask(hoursAgo(2), hoursAgo(1));
  world.recorder.equal('the start is inclusive', idsOf(at.json), [ids.get('signals stop')], at.asked);
  const first = pick(at.json, 'tests', 0);
  expectShape(world, 'failing tests are in the details form', problemsOf(first, TEST_DETAILS), at.json);
  const before = await ask(hoursAgo(73), hoursAgo(72));
  world.recorder.equal('the end is exclusive', idsOf(before.json), [], before.asked);
  const offset = await ask(hoursAgo(2).replace('.000Z', '+00:00'), hoursAgo(1));
  const isRead = offset.status === 400 || idsOf(offset.json).length === 1;
  world.recorder.check('an offset is refused or understood', isRead, offset.text);
}

async function checkTickets(world: World, repo: Repo, ids: ReadonlyMap<string, string>): Promise<void> {
  const link = (test_case_id: unknown, external_ticket_id: unknown) =>
    post(world, 'flaky-tests/link-ticket-to-test-case', { repo, test_case_id, external_ticket_id });
  const id = ids.get('bare');
  expectEmpty(world, 'linking a ticket', await link(id, 'https://tracker.example/CONF-42'));
  const body = { repo, org_url_slug: world.slug, test_id: id };
  const url = pick(
    (await post(world, 'flaky-tests/get-test-details', body)).json,
    'test',
    'ticket',
    'html_url',
  );
  world.recorder.check('the ticket is told', typeof url === 'string' && url.includes('CONF-42'), brief(url));
  expectEmpty(world, 'linking another ticket', await link(id, 'https://tracker.example/CONF-43'));
  const next = pick(
    (await post(world, 'flaky-tests/get-test-details', body)).json,
    'test',
    'ticket',
    'html_url',
  );
  world.recorder.check(
    'the last ticket wins',
    typeof next === 'string' && next.includes('CONF-43'),
    brief(next),
  );
  expectError(
    world,
    'a ticket for an unknown test',
    await link(randomUUID(), 'CONF-1'),
    404,
    'TEST_CASE_NOT_FOUND',
  );
  expectInvalid(world, 'a ticket for no UUID', await link('no-uuid', 'CONF-1'), 'test_case_id');
  expectInvalid(world, 'an empty ticket', await link(id, ''), 'external_ticket_id');
}

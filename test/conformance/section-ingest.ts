/** From reports to verdicts: every field of a test case comes from what was uploaded, and quarantine follows from it. */
import { junit, type Outcome } from '../health/bundle.ts';
import { brief } from './check.ts';
import { computeTestId } from './identity.ts';
import { expectEmpty, expectField, expectOk, expectShape } from './expect.ts';
import { pick, pickList } from './json.ts';
import { PAGE, QUARANTINED_TEST, TEST_CASE, TEST_DETAILS, problemsOf } from './shape.ts';
import { readUpload, sendBundle, sendReport } from './upload.ts';
import { freshRepo, post, type Repo, type World } from './world.ts';

const VARIANT = 'linux-x64';
const PLACE = { file: 'test/signal/lamp.test.ts', classname: 'Lamp' };
const FLAKY = { ...PLACE, name: 'lights up' };
const BROKEN = { ...PLACE, name: 'is always red' };
const steady: readonly Outcome[] = Array.from({ length: 30 }, (_, index) => ({
  ...PLACE,
  name: `steady ${index}`,
}));

/** The commits of the story: of each, whether the two tests fail at first. */
const HISTORY = [
  ...Array.from({ length: 12 }, () => ({ isFlaking: false, isBroken: false })),
  ...Array.from({ length: 8 }, (_, index) => ({ isFlaking: index % 2 === 0, isBroken: true })),
];

const failing = (test: Outcome, failure: string, fails: boolean): Outcome =>
  fails ? { ...test, failure } : test;

function reportOf(isFlaking: boolean, isBroken: boolean): string {
  return junit(
    [
      ...steady,
      failing(FLAKY, `Timeout of ${isFlaking ? 5000 : 0}ms exceeded`, isFlaking),
      failing(BROKEN, 'expected green, got red', isBroken),
    ],
    'signals',
  );
}

async function tellHistory(world: World, repo: Repo): Promise<boolean> {
  for (const [index, { isFlaking, isBroken }] of HISTORY.entries()) {
    const sha = (index + 1).toString(16).padStart(40, '0');
    for (const attempt of isFlaking ? [1, 2] : [1]) {
      const answer = await sendBundle(world, repo, {
        reports: [reportOf(isFlaking && attempt === 1, isBroken)],
        sha,
        variant: VARIANT,
        at: 1_700_000_000 + index * 10 + attempt,
        codeowners: '* @acme/all\n/test/signal/ @acme/track\n',
      });
      if (pick(answer.json, 'upload', 'state') !== 'ingested')
        return expectOk(world, `upload ${index}, attempt ${attempt} is read`, { ...answer, status: 0 });
    }
  }
  return true;
}

export async function checkVerdictsOfTests(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('verdicts from reports', 'no sandbox');
  const repo = freshRepo(world, 'ingest');
  const settings = { quarantine: { enabled: true } };
  const changed = { repo, org_url_slug: world.slug, settings };
  const set = await post(world, 'flaky-tests/update-settings', changed);
  expectField(world, 'quarantine is on', set, ['settings', 'quarantine', 'enabled'], true);
  if (!(await tellHistory(world, repo))) return;
  const sent = await sendReport(world, repo, reportOf(true, true), {
    sha: 'f'.repeat(40),
    branch: 'feature',
    pr: '7',
    variant: VARIANT,
  });
  const upload = await readUpload(world, repo, pick(sent.json, 'upload_id'));
  const parts = { parent: 'signals', variant: VARIANT };
  const ids = {
    flaky: computeTestId(world.slug, repo, { ...FLAKY, ...parts }),
    broken: computeTestId(world.slug, repo, { ...BROKEN, ...parts }),
  };
  checkUploadVerdicts(world, upload.json, ids);
  await checkLists(world, repo, ids);
  await checkDetails(world, repo, ids.flaky);
  await checkQuarantineAnswers(world, repo, ids);
  await checkOverrides(world, repo, ids);
}

type Ids = { readonly flaky: string; readonly broken: string };

function checkUploadVerdicts(world: World, json: unknown, ids: Ids): void {
  const failures = pickList(json, 'upload', 'failures');
  const verdictOf = (id: string) =>
    pick(
      failures.find((failure) => pick(failure, 'test_case_id') === id),
      'verdict',
    );
  world.recorder.equal('a failure of a flaky test is told so', verdictOf(ids.flaky), 'flaky');
  world.recorder.equal('a failure of a broken test is told so', verdictOf(ids.broken), 'broken');
}

async function checkLists(world: World, repo: Repo, ids: Ids): Promise<void> {
  const { recorder } = world;
  const body = { repo, org_url_slug: world.slug, page_query: { page_size: 10 } };
  for (const [status, id] of [
    ['FLAKY', ids.flaky],
    ['BROKEN', ids.broken],
  ]) {
    const list = await post(world, 'flaky-tests/list-unhealthy-tests', { ...body, status });
    const found = pickList(list.json, 'tests');
    recorder.equal(
      `the ${status} tests`,
      found.map((test) => pick(test, 'id')),
      [id],
      list.asked,
    );
    expectShape(world, `a ${status} test from reports`, problemsOf(found[0], TEST_CASE), list.json);
    expectShape(world, `the page of ${status}`, problemsOf(pick(list.json, 'page'), PAGE), list.json);
  }
  const quarantined = await post(world, 'flaky-tests/list-quarantined-tests', body);
  const inside = pickList(quarantined.json, 'quarantined_tests');
  const names = inside.map((test) => pick(test, 'test_case_id'));
  recorder.equal('only the flaky one is quarantined', names, [ids.flaky], quarantined.asked);
  expectShape(world, 'a quarantined test from reports', problemsOf(inside[0], QUARANTINED_TEST), inside);
  const now = Date.now();
  const span = {
    start_time: new Date(now - 3_600_000).toISOString(),
    end_time: new Date(now + 3_600_000).toISOString(),
  };
  const failed = await post(world, 'flaky-tests/list-failing-tests', { ...body, ...span });
  const order = pickList(failed.json, 'tests').map((test) => pick(test, 'id'));
  recorder.equal('what failed most comes first', order, [ids.broken, ids.flaky], failed.asked);
}

async function checkDetails(world: World, repo: Repo, id: string): Promise<void> {
  const { recorder } = world;
  const ticket = { repo, test_case_id: id, external_ticket_id: 'https://tracker.example/CONF-7' };
  expectEmpty(world, 'a ticket', await post(world, 'flaky-tests/link-ticket-to-test-case', ticket));
  const body = { repo, org_url_slug: world.slug, test_id: id };
  const answer = await post(world, 'flaky-tests/get-test-details', body);
  const test = pick(answer.json, 'test');
  expectShape(world, 'the details of a test from reports', problemsOf(test, TEST_DETAILS), test);
  const runs = HISTORY.length + HISTORY.filter(({ isFlaking }) => isFlaking).length + 1;
  const failures = HISTORY.filter(({ isFlaking }) => isFlaking).length + 1;
  const expected: Record<string, unknown> = {
    id,
    name: FLAKY.name,
    variant: VARIANT,
    file_path: FLAKY.file,
    classname: FLAKY.classname,
    parent: 'signals',
    codeowners: ['@acme/track'],
    pull_requests_impacted_last_7d: 1,
    quarantined: true,
    ticket: { html_url: 'https://tracker.example/CONF-7' },
    failure_rate_last_7d: failures / runs,
    failure_rate_last_24h: failures / runs,
  };
  for (const [key, value] of Object.entries(expected))
    expectField(world, `${key} from reports`, answer, ['test', key], value);
  expectField(world, 'its status', answer, ['test', 'status', 'value'], 'flaky');
  const reason = pick(test, 'status', 'reason');
  recorder.check('its status has a reason', typeof reason === 'string' && reason.length > 10, brief(reason));
  const links = [pick(test, 'html_url'), pick(test, 'repository', 'html_url')];
  recorder.check(
    'it has links',
    links.every((link) => URL.canParse(String(link))),
    brief(links),
  );
  expectField(world, 'its failures are one', answer, ['test', 'most_common_failures', 'length'], 1);
  const common = ['test', 'most_common_failures', 0];
  expectField(world, 'how often it failed so', answer, [...common, 'occurrence_count'], failures);
  const summary = String(pick(answer.json, ...common, 'summary'));
  recorder.check('what it says when it fails', summary.includes('Timeout of'), summary);
}

async function checkQuarantineAnswers(world: World, repo: Repo, ids: Ids): Promise<void> {
  const ask = (testIdentifiers: readonly object[] | null) =>
    post(world, 'metrics/getQuarantineConfig', {
      repo,
      orgUrlSlug: world.slug,
      remoteUrls: [],
      testIdentifiers,
    });
  expectField(world, 'quarantining is not disabled', await ask([]), ['isDisabled'], false);
  for (const none of [[], null])
    expectField(world, `of ${brief(none)}: all of them`, await ask(none), ['testIds'], [ids.flaky]);
  const { name, file, classname: className } = FLAKY;
  const identifier = { name, file, className, parentName: 'signals', variant: VARIANT, timestamp_millis: 1 };
  expectField(world, 'a test by its parts', await ask([identifier]), ['testIds'], [ids.flaky]);
  const both = await ask([{ id: ids.flaky }, { id: ids.broken }]);
  expectField(world, 'of two by their ids', both, ['testIds'], [ids.flaky]);
  const known = await ask([{ ...identifier, failure_message: 'Timeout of 4711ms exceeded' }]);
  expectField(world, 'a failure that it is known to flake with', known, ['testIds'], [ids.flaky]);
  const other = await ask([{ id: ids.flaky, failure_message: 'the lamp fell off' }]);
  expectField(world, 'a failure that it never had is not excused', other, ['testIds'], []);
}

async function checkOverrides(world: World, repo: Repo, ids: Ids): Promise<void> {
  const test = { repo, org_url_slug: world.slug, test_case_id: ids.flaky };
  const list = { repo, org_url_slug: world.slug, page_query: {}, status: 'FLAKY' };
  const never = { ...test, quarantine_setting: 'never_quarantine', note: 'conformance' };
  const set = await post(world, 'flaky-tests/set-quarantine', never);
  expectField(world, 'an override counts at once', set, ['quarantined'], false);
  const flagged = await post(world, 'flaky-tests/flag-test', { ...test, status: 'healthy' });
  expectField(world, 'a flag counts at once', flagged, ['status'], 'healthy');
  const none = await post(world, 'flaky-tests/list-unhealthy-tests', list);
  expectField(world, 'and in the lists', none, ['tests'], []);
  await post(world, 'flaky-tests/flag-test', { ...test, status: null });
  const mute = { ...test, monitor: 'pass_on_retry', hours: 1, reason: 'conformance' };
  expectOk(world, 'a monitor is muted', await post(world, 'flaky-tests/mute-monitor', mute));
  const unmuted = await post(world, 'flaky-tests/mute-monitor', { ...mute, hours: 0 });
  expectField(world, 'a monitor is unmuted', unmuted, ['muted_until'], null);
  const audit = await post(world, 'listAuditLog', { take: 5 });
  const actions = pickList(audit.json, 'entries').map((entry) => pick(entry, 'action'));
  const expected = ['test.mute', 'test.mute', 'test.flag', 'test.flag', 'test.quarantine'];
  world.recorder.equal('each is in the audit log', actions, expected, audit.asked);
  const cursor = pick(audit.json, 'nextCursor');
  const rest = await post(world, 'listAuditLog', { cursor, take: 1 });
  expectField(world, 'with a page after it', rest, ['entries', 0, 'action'], 'test.ticket');
}

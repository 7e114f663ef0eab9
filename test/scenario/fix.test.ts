// A flaky test is fixed, and CI repeats it in free slots of the queue until that is shown or refuted.

import { expect, it } from 'vitest';
import { webhookBodies } from '#contract/webhook-event.ts';
import { slackBody } from '#event/webhook-message.ts';
import { buildPayload } from '#event/webhook-payload.ts';
import { listOpenVerifications } from '#db/run/fix-store.ts';
import { GitError } from '#git/error.ts';
import { bundleOf } from '../fixture/report/archive.ts';
import { type Outcome, shaOf, withReports } from '../health/world.ts';
import { sql } from '../support/sql.ts';
import { storyTeller } from '../support/story.ts';
import { intercept } from './intercept.ts';

const webhook = { allow: { networks: ['127.0.0.1/32'], hosts: [] }, timeoutMs: 1_000 };
const hooks = intercept();
const openStory = storyTeller({
  ...hooks.options,
  config: { secretKey: Buffer.alloc(32, 7), webhook },
});

const others = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`other ${index}`, 'pass' as const]),
);
const oldWay = { fail: 'expected 3, got 4' } as const;
const newWay = { fail: 'no fixture was loaded' } as const;

type RepositoryOptions = {
  readonly settings?: object;
  readonly canSelectTests?: boolean;
  /** How hostile the name of the test is. */
  readonly name?: string;
};

/** A repository with a queue, whose test passed and failed on three commits of main. */
async function openRepository({
  settings = {},
  canSelectTests = true,
  name = 'adds',
}: RepositoryOptions = {}) {
  hooks.before = () => undefined;
  const story = await openStory({ settings: { requiredStatuses: ['ci/test'], ...settings } });
  const { world, client, repo, git, repository } = story;
  const reports = withReports(world, repository);
  const report = async (outcome: Outcome, sha: string, more = {}) => {
    const id = await reports.store({ sha, results: { ...others, [name]: outcome }, canSelectTests, ...more });
    await story.settle();
    return reports.read(id);
  };
  for (let number = 0; number < 3; number++) {
    await report(oldWay, shaOf(number));
    await report('pass', shaOf(number));
  }
  const [row] = await sql<{ id: string }>(world.cell.db)`
    select id from test_case where repository_id = ${repository.id} and name = ${name}`;
  const test = { repo, org_url_slug: 'acme', test_case_id: row!.id };
  const details = () => client.call('getTestDetails', { repo, org_url_slug: 'acme', test_id: row!.id });
  const fix = async () => (await details()).fix_verification!;
  /** The branches that verify a fix, with their commits. */
  const branches = async () =>
    (await client.call('sandboxGetRepository', { repo })).branches.filter((branch) =>
      branch.name.startsWith('signalbox/main/fix/'),
    );
  const current = async () => {
    const run = (await fix()).runs.find(({ outcome }) => outcome === null);
    if (run === undefined) throw new Error('no run is in progress');
    return run;
  };
  return {
    ...story,
    reports,
    report,
    test,
    details,
    fix,
    branches,
    current,
    tip: () => git('rev-parse', 'main'),
    /** CI asks which tests to run, runs them as often as it is asked, reports, and ends. */
    answer: async (outcome: Outcome, { asksOften = true } = {}) => {
      const { sha, test_branch: branch } = await current();
      const { tests, repeats } = await client.call('getTestSelection', { repo, sha, job: 'unit' });
      expect(tests).toMatchObject([{ name, classname: 'widgets', file: 'src/widgets.test.ts' }]);
      const often = asksOften ? repeats : 1;
      const text = `<testsuite name="widgets"><testcase name="${name}" classname="widgets" file="src/widgets.test.ts" time="1"/></testsuite>`;
      const bytes = bundleOf(
        Array.from({ length: often }, () => text),
        {
          repeats: often,
          can_select_tests: true,
        },
      );
      const passed = outcome === 'pass' && asksOften ? { bytes } : {};
      const id = await reports.store({
        sha,
        branch,
        results: { [name]: outcome },
        canSelectTests,
        ...passed,
      });
      await story.settle();
      await story.ci.say(sha, 'ci/test', outcome === 'pass' ? 'success' : 'failure');
      await story.time.pass(2);
      return reports.read(id);
    },
  };
}

it('confirms a fix by runs that repeat the test, which leave durations and usual tests as they were', async () => {
  const story = await openRepository();
  const { client, world, repo, test, details, fix, branches, answer, tip, git } = story;
  await client.call('createWebhookEndpoint', {
    name: 'hook',
    url: 'http://127.0.0.1:9/',
    repositories: [repo],
  });
  const before = (await details()).recovery!;
  expect(before.clean_runs_missing).toBeGreaterThan(20);
  const count = async (table: string) => story.reports.count(table);
  const counts = async () => [
    await count('test_segment'),
    await count('test_shape_hour'),
    await count('test_job'),
  ];
  const countsBefore = await counts();
  await client.call('verifyFix', test);
  await story.settle();
  const [branch, ...more] = await branches();
  expect(more).toEqual([]);
  // The same files and the same parents as the tip, and a message that names the test.
  expect(await git('rev-parse', `${branch!.sha}^{tree}`)).toBe(await git('rev-parse', 'main^{tree}'));
  expect(await git('log', '-1', '--format=%P', branch!.sha)).toBe(
    await git('log', '-1', '--format=%P', 'main'),
  );
  const message = await git('log', '-1', '--format=%B', branch!.sha);
  expect(message).toContain('Signalbox-Test-Count: 1');
  // Evidence ages, so that a moment later one run less may do.
  const repeats = Number(/^Signalbox-Test-Repeats: (\d+)$/m.exec(message)?.[1]);
  expect([0, 1]).toContain(before.clean_runs_missing! - repeats);
  for (let round = 0; (await fix()).state === 'verifying'; round++) {
    expect(round).toBeLessThan(5);
    expect(await answer('pass')).toMatchObject({ usual_tests: null, missing_tests: null });
  }
  const end = await fix();
  expect(end).toMatchObject({
    state: 'fixed',
    since_sha: await tip(),
    clean_runs: repeats,
  });
  expect((await details()).test.status.value).toBe('healthy');
  expect(await counts()).toEqual(countsBefore);
  expect(await branches()).toEqual([]);
  const { changes } = await client.call('getTestHistory', { ...test, test_id: test.test_case_id });
  expect(changes.filter(({ kind }) => kind === 'fix_verification_changed').map(({ after }) => after)).toEqual(
    ['fixed', 'verifying'],
  );
  const sent = await sql<{ payload: Record<string, unknown> }>(world.cell.db)`
    select payload from webhook_delivery where type = 'test_case.fix_verification_changed' order by created_at`;
  expect(sent.map(({ payload }) => payload['current'])).toEqual([
    { state: 'verifying', fix_sha: null },
    { state: 'fixed' },
  ]);
  const type = 'test_case.fix_verification_changed';
  const bodies = sent.map(({ payload }) =>
    buildPayload(type, payload, { publicUrl: 'https://sb.example', ticketUrl: null }),
  );
  for (const body of bodies) webhookBodies[type]!.parse(body);
  expect(JSON.stringify(bodies.map(slackBody))).toContain('enough clean runs have shown it');
});

it('ends as refuted when the test fails as before, at once and with the commit', async () => {
  const story = await openRepository();
  await story.client.call('verifyFix', story.test);
  await story.settle();
  const { base_sha: base } = await story.current();
  await story.answer(oldWay);
  expect(await story.fix()).toMatchObject({ state: 'refuted', failed_sha: base });
  expect((await story.details()).test.status.value).toBe('flaky');
  // Another attempt may begin.
  await story.client.call('verifyFix', story.test);
  await story.settle();
  expect(await story.fix()).toMatchObject({ state: 'verifying' });
  const { sha } = await story.current();
  await story.client.call('cancelFixVerification', story.test);
  await story.settle();
  expect(await story.branches()).toEqual([]);
  // A job of CI that starts only now has nothing to run.
  expect(await story.client.call('getTestSelection', { repo: story.repo, sha })).toEqual({
    tests: [],
    repeats: 1,
  });
});

it('says apart that the test failed in a way in which it had never failed before', async () => {
  const story = await openRepository();
  await story.client.call('verifyFix', story.test);
  await story.settle();
  await story.answer(newWay);
  expect(await story.fix()).toMatchObject({ state: 'failed_otherwise' });
});

it('is refuted by a usual run of the default branch on a commit with the fix, and not by one from before', async () => {
  const story = await openRepository();
  const first = await story.tip();
  const fixSha = (await story.team.pushToMain({ 'fix.txt': 'fixed' }))!;
  await story.client.call('verifyFix', { ...story.test, fix_sha: fixSha });
  await story.settle();
  await story.report(oldWay, first);
  await story.time.pass(3);
  expect(await story.fix()).toMatchObject({ state: 'verifying' });
  const next = (await story.team.pushToMain({ 'next.txt': 'next' }))!;
  await story.report(oldWay, next);
  await story.time.pass(3);
  expect(await story.fix()).toMatchObject({ state: 'refuted', failed_sha: next });
});

it('waits for the commit of the fix', async () => {
  const story = await openRepository();
  const fixSha = 'f'.repeat(40);
  await story.client.call('verifyFix', { ...story.test, fix_sha: fixSha });
  await story.settle();
  expect(await story.fix()).toMatchObject({ waits_for: 'not_landed', since_sha: null, fix_sha: fixSha });
  expect(await story.branches()).toEqual([]);
  await story.client.call('cancelFixVerification', story.test);
});

it('starts no run while pull requests use every slot, and leaves the slot to them', async () => {
  const story = await openRepository({ settings: { concurrency: 1 } });
  await story.team.submit(1, { title: 'Change 1' });
  await story.client.call('verifyFix', story.test);
  await story.settle();
  expect(await story.fix()).toMatchObject({ waits_for: 'busy', runs: [] });
  await story.ci.pass(1);
  await story.expectMerged(1);
  await story.time.pass(3);
  const { sha } = await story.current();
  await story.team.submit(2, { title: 'Change 2' });
  // The run of the pull request begins at once, whatever the verification does.
  expect(await story.runs()).toHaveLength(1);
  await story.time.pass(2);
  const [run] = (await story.fix()).runs;
  expect(run).toMatchObject({ sha, outcome: 'gave_way' });
  expect(await story.branches()).toEqual([]);
  await story.ci.pass(2);
  await story.expectMerged(2);
  await story.client.call('cancelFixVerification', story.test);
});

it('starts no run in a paused queue, without jobs that can run single tests, or against the settings', async () => {
  const unable = await openRepository({ canSelectTests: false });
  await unable.client.call('verifyFix', unable.test);
  await unable.settle();
  expect(await unable.fix()).toMatchObject({ waits_for: 'cannot_select', runs: [] });
  await unable.client.call('cancelFixVerification', unable.test);

  const story = await openRepository();
  await story.team.configure({ state: 'PAUSED' });
  await story.client.call('verifyFix', story.test);
  await story.settle();
  expect(await story.fix()).toMatchObject({ waits_for: 'queue_stopped', runs: [] });
  await story.team.configure({ state: 'RUNNING', createPrsForTestingBranches: true });
  await story.time.pass(3);
  expect(await story.fix()).toMatchObject({ waits_for: 'draft_pull_requests', runs: [] });
  const settings = { fixes: { runs_per_day: 0 } };
  await story.client.call('updateHealthSettings', { repo: story.repo, org_url_slug: 'acme', settings });
  await story.time.pass(3);
  expect(await story.fix()).toMatchObject({ waits_for: 'off', runs: [] });
  await story.client.call('cancelFixVerification', story.test);
});

it('starts as many runs in a day as the settings allow', async () => {
  const story = await openRepository();
  const settings = { fixes: { runs_per_day: 1 } };
  await story.client.call('updateHealthSettings', { repo: story.repo, org_url_slug: 'acme', settings });
  await story.client.call('verifyFix', story.test);
  await story.settle();
  // A job of an earlier release runs the test once.
  await story.answer('pass', { asksOften: false });
  expect(await story.fix()).toMatchObject({
    waits_for: 'budget',
    clean_runs: 1,
    runs: [{ outcome: 'reported' }],
  });
  await story.time.pass(24 * 60);
  expect((await story.fix()).runs).toHaveLength(2);
  await story.client.call('cancelFixVerification', story.test);
});

it('stops asking after two runs that CI did not report', async () => {
  const story = await openRepository();
  await story.client.call('verifyFix', story.test);
  await story.settle();
  for (let round = 0; round < 2; round++) {
    await story.ci.say((await story.current()).sha, 'ci/test', 'success');
    await story.time.pass(6);
  }
  expect(await story.fix()).toMatchObject({
    state: 'verifying',
    waits_for: 'no_report',
    runs: [{ outcome: 'no_report' }, { outcome: 'no_report' }],
  });
  await story.time.pass(60 * 24 * 15);
  expect(await story.fix()).toMatchObject({ state: 'expired' });
});

it('counts no report of a token that may only upload', async () => {
  const story = await openRepository();
  await story.client.call('verifyFix', story.test);
  await story.settle();
  const { sha, test_branch: branch } = await story.current();
  const { clean_runs: before } = (await story.details()).recovery!;
  await story.report('pass', sha, { branch, trust: 'untrusted', results: { adds: 'pass' } });
  await story.report(oldWay, sha, { branch, trust: 'untrusted', results: { adds: oldWay } });
  await story.time.pass(2);
  expect(await story.fix()).toMatchObject({ state: 'verifying', clean_runs: 0 });
  expect((await story.details()).recovery!.clean_runs).toBe(before);
  await story.client.call('cancelFixVerification', story.test);
});

it('counts only the one test of a job that ran all of them', async () => {
  const story = await openRepository();
  await story.client.call('verifyFix', story.test);
  await story.settle();
  const { sha, test_branch: branch } = await story.current();
  const failing = { ...others, 'other 1': { fail: 'broken' } };
  const upload = await story.reports.store({ sha, branch, results: { ...failing, adds: 'pass' } });
  await story.settle();
  expect(await story.reports.read(upload)).toMatchObject({ tests: 31, failed: 1, missing_tests: null });
  expect(await story.fix()).toMatchObject({ clean_runs: 1 });
  const [row] = await sql<{ failures: number }>(story.world.cell.db)`
    select count(*)::int as failures from test_failure f
    join test_case c on c.repository_id = f.repository_id and c.id = f.test_case_id
    where f.repository_id = ${story.repository.id} and c.name = 'other 1'`;
  expect(row!.failures).toBe(0);
  await story.client.call('cancelFixVerification', story.test);
});

it('names a hostile test without a directive that CI would follow', async () => {
  const name = 'adds [skip ci] ***NO_CI***';
  const story = await openRepository({ name });
  await story.client.call('verifyFix', story.test);
  await story.settle();
  const { sha } = await story.current();
  const message = await story.git('log', '-1', '--format=%B', sha);
  expect(message).not.toMatch(/\[|\*/);
  await story.answer('pass');
  expect((await story.fix()).clean_runs).toBeGreaterThan(1);
  await story.client.call('cancelFixVerification', story.test);
});

it('continues after a crash between the record of a run and its push, and leaves no branch', async () => {
  const story = await openRepository();
  let faults = 1;
  hooks.before = (name: string) => {
    if (name === 'afterPush' && faults-- > 0) throw new Error('the worker was killed');
  };
  await story.client.call('verifyFix', story.test);
  await story.settle();
  story.world.jobErrors.length = 0;
  await story.time.pass(3);
  const runs = (await story.fix()).runs;
  expect(runs.map(({ outcome }) => outcome)).toEqual([null, 'stopped']);
  expect((await story.branches()).map(({ name }) => name)).toEqual([runs[0]!.test_branch]);
  await story.answer('pass');
  await story.client.call('cancelFixVerification', story.test);
});

it('refuses what there is nothing to verify of', async () => {
  const story = await openRepository();
  const { client, test, details } = story;
  await client.call('verifyFix', test);
  expect((await client.refusal('verifyFix', test, 409)).code).toBe('FIX_NOT_VERIFIABLE');
  await client.call('cancelFixVerification', test);
  await client.call('flagTest', { ...test, status: 'flaky' });
  expect((await client.refusal('verifyFix', test, 409)).code).toBe('FIX_NOT_VERIFIABLE');
  await client.call('flagTest', { ...test, status: null });
  const [other] = (
    await client.call('searchTests', { repo: story.repo, org_url_slug: 'acme', query: 'other 1' })
  ).tests;
  const healthy = { ...test, test_case_id: other!.id };
  expect((await client.refusal('verifyFix', healthy, 409)).code).toBe('FIX_NOT_VERIFIABLE');
  const short = await client.refusal('verifyFix', { ...test, fix_sha: 'abcdef1' }, 400);
  expect(short.code).toBe('VALIDATION_FAILED');
  expect((await details()).fix_verification).toMatchObject({ state: 'cancelled' });
  expect(await listOpenVerifications(story.world.cell.db, story.repository.id)).toEqual([]);
});

it('leaves no stray branch, and touches none that only looks like one', async () => {
  const story = await openRepository();
  const { client, repo, git, time } = story;
  const sha = await git('rev-parse', 'main');
  const stray = 'signalbox/main/fix/01940000-0000-7000-8000-000000000482';
  const other = 'signalbox/main/fix/pr-1/01940000-0000-7000-8000-000000000483';
  for (const branch of [stray, other]) await client.call('sandboxCommit', { repo, branch, sha });
  // The poll of the queue comes while a run is in progress.
  await client.call('verifyFix', story.test);
  await story.settle();
  const { test_branch: current } = await story.current();
  await story.world.cell.pool.query(
    `select graphile_worker.add_job('sweep-queue', json_build_object('queueId', id::text)) from queue where repository_id = $1`,
    [story.repository.id],
  );
  await time.wait();
  const names = (await story.branches()).map(({ name }) => name);
  expect(names.toSorted()).toEqual([current, other].toSorted());
  await client.call('cancelFixVerification', story.test);
  await story.settle();
  expect((await story.branches()).map(({ name }) => name)).toEqual([other]);
  await client.call('sandboxCommit', { repo, branch: other, delete: true });
});

it('starts a run after the Git host was unreachable, and does not stop the queue for it', async () => {
  const story = await openRepository();
  hooks.before = (call) => {
    if (call === 'git fetch') throw new GitError('unreachable', 'no route to host');
  };
  await story.client.call('verifyFix', story.test);
  await story.settle();
  expect(await story.fix()).toMatchObject({ state: 'verifying', runs: [] });
  expect((await story.queue()).state).toBe('RUNNING');
  hooks.before = () => undefined;
  await story.host.up();
  await story.time.pass(3);
  await story.current();
  await story.client.call('cancelFixVerification', story.test);
});

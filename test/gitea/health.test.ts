// The life of a flaky test on a real Gitea: it is found, quarantined, and has an issue with its owner; a regression breaks
// it meanwhile, which is not excused, and the pull request that did it is named; it is fixed, runs that repeat it in free
// slots show that, and the issue is closed.

import { expect, it } from 'vitest';
import { bundleOf, junit, type Outcome } from '../health/bundle.ts';
import { shaOf } from '../health/world.ts';
import { openGiteaQueue } from './queue.ts';

const timeout = 'Timeout of 5000ms exceeded';
const wrongSum = 'expected 3, got 4';
const steady: readonly Outcome[] = Array.from({ length: 40 }, (_, index) => ({ name: `steady ${index}` }));
const waits = (failure?: string): Outcome => ({
  name: 'waits',
  ...(failure === undefined ? {} : { failure }),
});

type Issue = { readonly title: string; readonly body: string; readonly state: 'open' | 'closed' };

async function openRepository() {
  const { world, client, main, ask, settle, propose, submit, pass, state } = await openGiteaQueue();
  const { repo } = main;

  let sent = 0;
  /** CI uploads what the tests did on a commit of main, with its CODEOWNERS. The jobs are not run. */
  const report = async (
    sha: string,
    outcome: Outcome,
    {
      attempt = 1,
      repeats = 1,
      branch = 'main',
    }: { attempt?: number; repeats?: number; branch?: string } = {},
  ) => {
    sent += 1;
    // What fails on two commits is not one incident.
    world.clock.advance(attempt === 1 && branch === 'main' ? 3 * 3_600_000 : 60_000);
    const { url } = await client.call('createBundleUpload', { repo, orgUrlSlug: 'matrix' });
    const { pathname, search } = new URL(url);
    const payload = bundleOf({
      repo,
      org: 'matrix',
      reports:
        repeats === 1
          ? [junit([...steady, outcome])]
          : Array.from({ length: repeats }, () => junit([outcome])),
      sha,
      branch,
      repeats,
      codeowners: '/test/ @track\n',
      at: sent,
      envs: { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: sha, GITHUB_RUN_ATTEMPT: String(attempt) },
    });
    const answer = await world.server.inject({ method: 'PUT', url: pathname + search, payload });
    expect(answer.statusCode).toBe(200);
  };
  let commits = 0;
  /** The same of a commit of which nothing else is known. */
  const reportFurther = (outcome: Outcome) => report(shaOf((commits += 1)), outcome);

  /** A pull request lands by the queue. Returns its number and the commit of main. */
  const land = async (branch: string) => {
    const number = await propose(branch);
    await submit(number);
    await pass();
    expect(await state(number)).toBe('merged');
    const { commit } = await ask<{ commit: { id: string } }>('GET', '/branches/main');
    return { number, sha: commit.id };
  };

  const asked = { repo, org_url_slug: 'matrix' };
  const findTest = async () => {
    const { tests } = await client.call('searchTests', { ...asked, query: 'waits' });
    return client.call('getTestDetails', { ...asked, test_id: tests[0]!.id });
  };
  /** How many more reports of further commits it takes until the test has this status. */
  const countUntil = async (status: string, outcome: Outcome) => {
    for (let count = 0; count <= 20; count++) {
      await world.runJobs();
      if ((await findTest()).test.status.value === status) return count;
      await reportFurther(outcome);
    }
    throw new Error(`The test is not ${status} after 20 reports.`);
  };
  return {
    land,
    report,
    reportFurther,
    findTest,
    countUntil,
    settle,
    startQuarantine: () =>
      client.call('updateHealthSettings', {
        ...asked,
        settings: { quarantine: { enabled: true, open_issues: true } },
      }),
    verifyFix: async (id: string, sha: string) => {
      await client.call('verifyFix', { ...asked, test_case_id: id, fix_sha: sha });
      await settle();
    },
    /** The run in progress that repeats the test; undefined: there is none. */
    currentFixRun: async () =>
      (await findTest()).fix_verification!.runs.find(({ outcome }) => outcome === null),
    listFixBranches: async () => {
      const branches = await ask<readonly { name: string; commit: { id: string } }[]>('GET', '/branches');
      return branches
        .filter(({ name }) => name.startsWith('signalbox/main/fix/'))
        .map(({ name, commit }) => ({ name, commit: { id: commit.id } }));
    },
    /** CI asks which tests to run on a commit, and how often. */
    selectTests: (sha: string) => client.call('getTestSelection', { repo, sha }),
    /** The jobs on the commit of a run have ended. */
    endFixRun: async (sha: string) => {
      await ask('POST', `/statuses/${sha}`, { context: 'ci/test', state: 'success' });
      await settle();
      world.clock.advance(2 * 60_000);
      await settle();
    },
    /** Whether a failure with this message does not count in CI. */
    isExcused: async (failure: string) => {
      const { test } = await findTest();
      const { testIds } = await client.call('getQuarantineConfig', {
        repo,
        orgUrlSlug: 'matrix',
        remoteUrls: [],
        testIdentifiers: [{ id: test.id, failure_message: failure }],
      });
      return testIds.length > 0;
    },
    listIssues: () => ask<readonly Issue[]>('GET', '/issues?type=issues&state=all'),
    listComments: async (number: number) => {
      const comments = await ask<readonly { body: string }[]>('GET', `/issues/${number}/comments`);
      return comments.map(({ body }) => body);
    },
  };
}

it('follows a flaky test from its first failures to its repair, and names who broke it meanwhile', async () => {
  const story = await openRepository();
  const { land, report, reportFurther, findTest, countUntil, isExcused, listIssues } = story;
  const { verifyFix, currentFixRun, listFixBranches, selectTests, endFixRun } = story;
  await story.startQuarantine();
  for (let passes = 0; passes < 10; passes++) await reportFurther(waits());

  // It fails and passes on the same commits.
  for (const name of ['one', 'two', 'three']) {
    const { sha } = await land(name);
    await report(sha, waits(timeout));
    await report(sha, waits(), { attempt: 2 });
  }
  await story.settle();
  expect((await findTest()).test).toMatchObject({ status: { value: 'flaky' }, quarantined: true });
  expect(await isExcused(timeout)).toBe(true);
  const [issue, ...others] = await listIssues();
  expect(others).toEqual([]);
  expect(issue).toMatchObject({ title: 'Flaky: waits', state: 'open' });
  expect(issue!.body).toContain('**Owner:** `@track`');

  // A regression fails in another way, which CI counts, before the default branch fails and after it.
  expect(await isExcused(wrongSum)).toBe(false);
  const culprit = await land('breaks-the-sum');
  await report(culprit.sha, waits(wrongSum));
  const { sha: next } = await land('next');
  await report(next, waits(wrongSum));
  const failures = await countUntil('broken', waits(wrongSum));
  expect(failures).toBeLessThanOrEqual(5);
  await story.settle();
  expect(await isExcused(wrongSum)).toBe(false);
  const { breakage } = await findTest();
  // The test failed before too, but never in this way.
  expect(breakage?.culprit).toMatchObject({ pull_request: culprit.number, reason: 'only' });
  const comments = await story.listComments(culprit.number);
  expect(comments.filter((text) => text.includes(`git revert ${culprit.sha}`))).toHaveLength(1);
  expect((await listIssues())[0]!.state).toBe('open');

  // The repair: CI repeats the test in free slots, until enough clean runs have shown it, and not before.
  const { sha: fixed } = await land('mends-the-sum');
  await report(fixed, waits());
  await story.settle();
  const { test, recovery } = await findTest();
  expect(recovery!.clean_runs_missing).toBeGreaterThan(20);
  await verifyFix(test.id, fixed);
  const branches: string[] = [];
  for (let run = await currentFixRun(); run !== undefined; run = await currentFixRun()) {
    branches.push(run.test_branch);
    expect(branches.length).toBeLessThan(5);
    expect(await listFixBranches()).toEqual([{ name: run.test_branch, commit: { id: run.sha } }]);
    const { tests, repeats } = await selectTests(run.sha);
    expect(tests).toMatchObject([{ name: 'waits' }]);
    expect(repeats).toBeGreaterThan(1);
    await report(run.sha, waits(), { repeats, branch: run.test_branch });
    await endFixRun(run.sha);
  }
  expect(branches.length).toBeGreaterThan(0);
  expect((await findTest()).fix_verification).toMatchObject({ state: 'fixed', fix_sha: fixed });
  expect((await findTest()).test.status.value).toBe('healthy');
  expect(await listFixBranches()).toEqual([]);
  expect(await listIssues()).toMatchObject([{ title: 'Flaky: waits', state: 'closed' }]);
  expect(await isExcused(timeout)).toBe(false);
}, 300_000);

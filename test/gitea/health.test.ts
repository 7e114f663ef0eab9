// The life of a flaky test on a real Gitea: it is found, quarantined, and has an issue with its owner; a regression breaks
// it meanwhile, which is not excused, and the pull request that did it is named; it is fixed, and the issue is closed.

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
  const report = async (sha: string, outcome: Outcome, attempt = 1) => {
    sent += 1;
    // What fails on two commits is not one incident.
    world.clock.advance(attempt === 1 ? 3 * 3_600_000 : 60_000);
    const { url } = await client.call('createBundleUpload', { repo, orgUrlSlug: 'matrix' });
    const { pathname, search } = new URL(url);
    const payload = bundleOf({
      repo,
      org: 'matrix',
      reports: [junit([...steady, outcome])],
      sha,
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
  /** How many more reports of further commits it takes until the test has this status; looks after every few. */
  const countUntil = async (status: string, outcome: Outcome, every: number) => {
    for (let count = 0; count <= 100; count += every) {
      await world.runJobs();
      if ((await findTest()).test.status.value === status) return count;
      for (let left = every; left > 0; left--) await reportFurther(outcome);
    }
    throw new Error(`The test is not ${status} after 100 reports.`);
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
  await story.startQuarantine();
  for (let passes = 0; passes < 10; passes++) await reportFurther(waits());

  // It fails and passes on the same commits.
  for (const name of ['one', 'two', 'three']) {
    const { sha } = await land(name);
    await report(sha, waits(timeout));
    await report(sha, waits(), 2);
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
  const failures = await countUntil('broken', waits(wrongSum), 1);
  expect(failures).toBeLessThanOrEqual(5);
  await story.settle();
  expect(await isExcused(wrongSum)).toBe(false);
  const { breakage } = await findTest();
  // The test failed before too, but never in this way.
  expect(breakage?.culprit).toMatchObject({ pull_request: culprit.number, reason: 'only' });
  const comments = await story.listComments(culprit.number);
  expect(comments.filter((text) => text.includes(`git revert ${culprit.sha}`))).toHaveLength(1);
  expect((await listIssues())[0]!.state).toBe('open');

  // The repair: it is healthy when enough clean runs have shown it, and not before.
  const { sha: fixed } = await land('mends-the-sum');
  await report(fixed, waits());
  const clean = await countUntil('healthy', waits(), 10);
  expect(clean).toBeGreaterThan(20);
  await story.settle();
  expect(await listIssues()).toMatchObject([{ title: 'Flaky: waits', state: 'closed' }]);
  expect(await isExcused(timeout)).toBe(false);
}, 300_000);

// A regression lands by the queue, the next reports of the default branch fail, and the pull request that did it is named.

import { expect, it } from 'vitest';
import { recordBreakages } from '#command/record-breakages.ts';
import { webhookBodies } from '#contract/webhook-event.ts';
import { withTestsLock } from '#db/transaction.ts';
import { buildPayload } from '#event/webhook-payload.ts';
import type { HostFor } from '#host/host.ts';
import { shaOf, withReports } from '../health/world.ts';
import { storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';
import { intercept } from './intercept.ts';

/** The used share of the host's write limit. */
let use = 0;
const webhook = { allow: { networks: ['127.0.0.1/32'], hosts: [] }, timeoutMs: 1_000 };
const hooks = intercept();
const wrapHosts =
  (hostFor: HostFor): HostFor =>
  (cell, name) => {
    const host = hooks.options.wrapHosts!(hostFor)(cell, name);
    return host && { ...host, contentUse: () => Promise.resolve(use) };
  };
const openStory = storyTeller({
  ...hooks.options,
  wrapHosts,
  config: { secretKey: Buffer.alloc(32, 7), webhook },
});

const others = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`other ${index}`, 'pass' as const]),
);
const passes = { ...others, adds: 'pass' } as const;
const fails = { ...others, adds: { fail: 'expected 3, got 4' } } as const;

type Candidates = readonly (number | string)[];

/** A repository with a queue, whose test passed on main so far. */
async function openRepository(settings: object = {}) {
  hooks.after = () => undefined;
  use = 0;
  const story = await openStory({ settings });
  const { world, client, repo, git, team, ci, repository } = story;
  const reports = withReports(world, repository);
  const tip = () => git('rev-parse', 'main');
  const report = async (results: Parameters<typeof reports.store>[0]['results'], sha?: string, more = {}) => {
    await reports.store({ sha: sha ?? (await tip()), results, ...more });
    await story.settle();
  };
  const land = async (pr: number, files: Record<string, string> = { [`${pr}.txt`]: String(pr) }) => {
    await team.submit(pr, { title: `Change ${pr}`, files });
    await ci.pass(pr);
    await story.expectMerged(pr);
    return tip();
  };
  /** Reports of further commits of main; which they are does not matter. */
  const reportFurther = async (results: typeof passes | typeof fails, commits: number) => {
    for (let left = commits; left > 0; left--) await reports.store({ sha: shaOf(count++), results });
    await story.settle();
  };
  let count = 0;
  await reportFurther(passes, 40);
  await report(passes);
  const details = async () => {
    const [row] = await sql<{ id: string }>(world.cell.db)`
      select id from test_case where repository_id = ${repository.id} and name = 'adds'`;
    return client.call('getTestDetails', { repo, org_url_slug: 'acme', test_id: row!.id });
  };
  return {
    ...story,
    tip,
    report,
    land,
    details,
    reportFurther,
    /** The test fails on the current commit of main and on two further ones. */
    breakTest: async () => {
      await report(fails);
      await reportFurther(fails, 2);
    },
    /** The comments that name a pull request as the cause. */
    blamed: async (pr: number) =>
      (await story.people.words(pr)).filter((text) => /this pull request (landed|is no longer)/.test(text)),
  };
}

const namesOf = (candidates: readonly { pull_request: number | null; title: string }[]): Candidates =>
  candidates.map(({ pull_request: number, title }) => number ?? title);

it('names the only pull request that landed in between, in API, event and one comment that offers a revert', async () => {
  const story = await openRepository();
  const { world, client, land, tip, breakTest, details, blamed, repo } = story;
  await client.call('createWebhookEndpoint', {
    name: 'hook',
    url: 'http://127.0.0.1:9/',
    repositories: [repo],
  });
  const passed = await tip();
  const failed = await land(1);
  await breakTest();
  const { test, breakage, recovery } = await details();
  expect(test.status.value).toBe('broken');
  expect(recovery).toBeNull();
  expect(breakage).toMatchObject({
    passed_sha: passed,
    failed_sha: failed,
    is_searched: true,
    is_complete: true,
    candidate_count: 1,
    candidates: [{ sha: failed, pull_request: 1, title: 'Change 1' }],
    culprit: { pull_request: 1, reason: 'only', revert_command: `git revert ${failed}` },
  });
  const [comment, ...more] = await blamed(1);
  expect(more).toEqual([]);
  expect(comment).toContain('1 test fails on `main` since this pull request landed');
  expect(comment).toContain('[`adds`](http');
  expect(comment).toContain(`git revert ${failed}`);
  expect(comment).toContain('Nothing else landed in between.');
  expect((await details()).breakage?.culprit?.is_commented).toBe(true);

  const [event] = await sql<{ type: string; payload: Record<string, unknown> }>(world.cell.db)`
    select type, payload from webhook_delivery where type = 'test_case.breakage_located'`;
  const body = buildPayload(event!.type, event!.payload, {
    publicUrl: 'https://sb.example',
    ticketUrl: null,
  });
  webhookBodies[event!.type]!.parse(body);
  expect(body).toMatchObject({
    action: 'breakage_located',
    test: { name: 'adds', status: { value: 'broken' } },
    current: { culprit: 1, reason: 'only', passed_sha: passed, failed_sha: failed, candidate_count: 1 },
    trigger: { kind: 'upload' },
  });
  const history = await client.call('getTestHistory', {
    repo,
    org_url_slug: 'acme',
    test_id: test.id,
  });
  expect(history.changes).toContainEqual(
    expect.objectContaining({ kind: 'breakage_located', after: '#1', trigger: 'upload' }),
  );
});

it('lists two pull requests that are equally likely, and comments on neither', async () => {
  const { land, breakTest, details, blamed } = await openRepository();
  await land(1);
  await land(2);
  await breakTest();
  const { breakage } = await details();
  expect(namesOf(breakage!.candidates)).toEqual([2, 1]);
  expect(breakage).toMatchObject({ culprit: null, is_complete: true, candidate_count: 2 });
  expect([...(await blamed(1)), ...(await blamed(2))]).toEqual([]);
});

it('names the one of two in which the test had failed in the same way', async () => {
  const { land, breakTest, details, blamed, report } = await openRepository();
  await report(fails, 'c'.repeat(40), { branch: 'feature', pr: 1 });
  await report({ ...fails, adds: { fail: 'cannot connect' } }, 'd'.repeat(40), { branch: 'other', pr: 2 });
  await land(1);
  await land(2);
  await breakTest();
  const { breakage } = await details();
  expect(namesOf(breakage!.candidates)).toEqual([1, 2]);
  expect(breakage!.candidates.map(({ failed_before: failed }) => failed)).toEqual([true, false]);
  expect(breakage!.culprit).toMatchObject({ pull_request: 1, reason: 'failed_before' });
  expect(await blamed(1)).toHaveLength(1);
  expect(await blamed(2)).toEqual([]);
});

it('names the one of two that changed the file of the test', async () => {
  const { land, breakTest, details, blamed } = await openRepository();
  await land(1);
  await land(2, { 'src/widgets.test.ts': 'expect(add(1, 2)).toBe(3)' });
  await breakTest();
  const { breakage } = await details();
  expect(breakage!.culprit).toMatchObject({ pull_request: 2, reason: 'changed_file' });
  expect(await blamed(2)).toHaveLength(1);
  expect(await blamed(1)).toEqual([]);
});

it('names a commit that no queue landed as such, and blames no pull request beside it', async () => {
  const { land, breakTest, details, blamed, team } = await openRepository();
  await land(1);
  const foreign = await team.pushToMain({ 'by-hand.txt': 'x' });
  await breakTest();
  const { breakage } = await details();
  expect(breakage).toMatchObject({ culprit: null, is_complete: true, candidate_count: 2 });
  expect(breakage!.candidates.map(({ sha, pull_request: number }) => [sha, number])).toEqual([
    [foreign, null],
    [expect.any(String), 1],
  ]);
  expect(breakage!.candidates[0]!.title).not.toBe('');
  expect(await blamed(1)).toEqual([]);
});

it('says when the test passes again, and keeps the comment to one', async () => {
  const { land, breakTest, details, blamed, reportFurther } = await openRepository();
  await land(1);
  await breakTest();
  expect(await blamed(1)).toHaveLength(1);
  await reportFurther(passes, 3);
  const { test, breakage } = await details();
  expect([test.status.value, breakage]).toEqual(['healthy', null]);
  expect(await blamed(1)).toEqual([
    expect.stringContaining('The tests that failed on `main` after this pull request landed pass again.'),
  ]);
});

it('writes no comment if the test was fixed before the comment was due', async () => {
  const { land, breakTest, blamed, reportFurther, holdBack, release, details } = await openRepository();
  await land(1);
  holdBack('comment-culprit');
  await breakTest();
  expect((await details()).breakage?.culprit?.pull_request).toBe(1);
  await reportFurther(passes, 3);
  await release();
  expect(await blamed(1)).toEqual([]);
});

it('writes no comment if a person has quarantined the test, or comments are off', async () => {
  const quarantined = await openRepository();
  await quarantined.land(1);
  await quarantined.report(fails);
  const { test } = await quarantined.details();
  await quarantined.client.call('setQuarantine', {
    repo: quarantined.repo,
    org_url_slug: 'acme',
    test_case_id: test.id,
    quarantine_setting: 'ALWAYS_QUARANTINE',
  });
  await quarantined.reportFurther(fails, 3);
  expect((await quarantined.details()).breakage?.culprit?.pull_request).toBe(1);
  expect(await quarantined.blamed(1)).toEqual([]);
  const quiet = await openRepository({ commentsEnabled: false });
  await quiet.land(1);
  await quiet.breakTest();
  expect((await quiet.details()).breakage?.culprit?.pull_request).toBe(1);
  expect(await quiet.blamed(1)).toEqual([]);
});

it('comments once although the worker was killed after it had written the comment', async () => {
  const { land, breakTest, blamed, world, holdBack, release, details } = await openRepository();
  await land(1);
  holdBack('comment-culprit');
  await breakTest();
  let kills = 0;
  hooks.after = (call) => {
    if (call !== 'writeComment' || kills > 0) return;
    kills++;
    throw new Error('the worker was killed');
  };
  await release();
  expect([kills, world.jobErrors.length]).toEqual([1, 1]);
  world.jobErrors.length = 0;
  expect((await details()).breakage?.culprit?.is_commented).toBe(false);
  expect(await blamed(1)).toHaveLength(1);
  expect((await details()).breakage?.culprit?.is_commented).toBe(true);
});

it('uses the landings that are stored if the repository cannot be read for a while', async () => {
  const { land, breakTest, details, time, holdBack, release, tip, blamed, team } = await openRepository();
  const passed = await tip();
  const failed = await land(1);
  holdBack('find-culprits');
  await breakTest();
  hooks.isServed = false;
  await release();
  expect((await details()).breakage).toMatchObject({ is_searched: false, candidate_count: 0 });
  for (let tries = 0; tries < 8; tries++) await time.wait();
  expect((await details()).breakage).toMatchObject({
    passed_sha: passed,
    failed_sha: failed,
    is_searched: true,
    is_complete: true,
    culprit: { pull_request: 1, reason: 'only' },
  });
  hooks.isServed = true;
  await time.wait();
  expect(await blamed(1)).toHaveLength(1);
  await team.pushToMain({ 'end.txt': '' });
});

it('keeps one comment for all tests that break with the same pull request', async () => {
  const { land, breakTest, report, blamed } = await openRepository();
  const slow = { job: 'slow' };
  const slowFails = { 'slow sum': { fail: 'expected 3, got 4' } } as const;
  for (let number = 0; number < 12; number++) await report({ 'slow sum': 'pass' }, shaOf(number), slow);
  await report({ 'slow sum': 'pass' }, undefined, slow);
  const failed = await land(1);
  await breakTest();
  expect(await blamed(1)).toEqual([expect.stringContaining('1 test fails on `main`')]);
  // Another job reports later.
  for (const sha of [failed, shaOf(100), shaOf(101)]) await report(slowFails, sha, slow);
  const [comment, ...more] = await blamed(1);
  expect(more).toEqual([]);
  expect(comment).toContain('2 tests fail on `main` since this pull request landed');
  expect(comment).toContain('`slow sum`');
});

it('takes a comment back if the range narrows to other commits, and writes no second one', async () => {
  const { land, report, breakTest, details, blamed, world, repository, settle } = await openRepository();
  await report(fails, 'c'.repeat(40), { branch: 'feature', pr: 1 });
  const first = await land(1);
  const second = await land(2);
  await breakTest();
  const { test, breakage } = await details();
  expect(breakage?.culprit).toMatchObject({ pull_request: 1, reason: 'failed_before' });
  expect(await blamed(1)).toHaveLength(1);
  const narrower = { testCaseId: test.id, edge: { after: first, upTo: second } };
  await withTestsLock(world.cell, repository.id, (tx, lock) =>
    recordBreakages(tx, lock, [{ ...narrower, before: 'broken', status: 'broken' }], world.clock.now()),
  );
  await settle();
  expect((await details()).breakage?.culprit).toMatchObject({ pull_request: 2, reason: 'only' });
  expect(await blamed(1)).toEqual([expect.stringContaining('no longer the likeliest cause')]);
  expect(await blamed(2)).toEqual([]);
});

it('waits with the comment while others use up the write limit of the Git host', async () => {
  const { land, breakTest, blamed, details, time } = await openRepository();
  await land(1);
  use = 0.5;
  await breakTest();
  await time.wait();
  expect((await details()).breakage?.culprit).toMatchObject({ pull_request: 1, is_commented: false });
  use = 0.1;
  expect(await blamed(1)).toHaveLength(1);
});

it('writes no comment for a mass failure, and names the pull request all the same', async () => {
  const { land, report, reportFurther, details, blamed } = await openRepository();
  await land(1);
  const all = Object.fromEntries(Object.keys(passes).map((name) => [name, { fail: 'no disk' }]));
  await report(all);
  await reportFurther(fails, 3);
  expect((await details()).breakage).toMatchObject({ culprit: { pull_request: 1 }, candidate_count: 1 });
  expect(await blamed(1)).toEqual([]);
});

it('counts the failure of a run of the queue for the pull request that it tested', async () => {
  const { land, team, ci, report, breakTest, details } = await openRepository();
  await team.submit(2, { title: 'Change 2', files: { 'b.txt': 'b' } });
  const { testBranchSha, testBranch } = await ci.runOf(2);
  await report(fails, testBranchSha!, { branch: testBranch, job: 'nightly' });
  await report(passes);
  await ci.pass(2);
  await land(3);
  await breakTest();
  const { breakage } = await details();
  expect(namesOf(breakage!.candidates)).toEqual([2, 3]);
  expect(breakage!.culprit).toMatchObject({ pull_request: 2, reason: 'failed_before' });
});

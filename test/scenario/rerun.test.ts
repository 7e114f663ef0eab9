// A run in which only flaky tests failed, on GitHub: its failed jobs run again on the same commit, or all of it if GitHub refuses.

import { expect, it } from 'vitest';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { GithubServerOptions } from '../github-server/server.ts';
import { usualPermissions } from '../github-server/site.ts';
import { withReports } from '../health/world.ts';
import { widgets } from '../host-contract/github-fixture.ts';
import { hostName, movableClock } from '../host-contract/github-world.ts';
import { openGithubQueue } from './github-queue.ts';

const rerunCall = 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs';
const usual = { adds: 'pass', wobbles: 'pass', sorts: 'pass' } as const;
const wobbled = { ...usual, wobbles: { fail: 'timed out' } } as const;

/** A queue in which `wobbles` is known to be flaky, and #1 is under test by the jobs `unit` and `lint` of GitHub Actions. */
async function open(options: GithubServerOptions = {}, settings: object = {}) {
  const clock = movableClock();
  const queue = await openGithubQueue(
    { requiredStatuses: ['unit', 'lint'], strategy: 'manual', ...settings },
    { clock, ...options },
  );
  const { server, world, client, settle, propose, submit } = queue;
  const { rows } = await world.cell.pool.query<{ id: RepositoryId; organization_id: OrganizationId }>(
    'select id, organization_id from repository where id = (select repository_id from queue)',
  );
  const [{ id, organization_id: organizationId }] = rows as [(typeof rows)[0]];
  const { upload } = withReports(world, { id, organizationId });
  for (const letter of ['a', 'b', 'c']) {
    await upload({ sha: letter.repeat(40), results: wobbled });
    await upload({ sha: letter.repeat(40), results: usual, runId: 'again' });
  }
  const { number } = await propose('a');
  await submit(number);
  const pullRequest = {
    repo: { host: hostName, owner: 'acme', name: 'widgets' },
    targetBranch: 'main',
    pr: { number },
  };
  const run = async () => {
    const answer = await client.call('getMergeQueueTestingDetails', pullRequest);
    if (!('testRunId' in answer)) throw new Error('it has a run');
    return { id: answer.testRunId, sha: answer.testBranchSha!, branch: answer.testBranch };
  };
  /** Without results there is no report. */
  const end = async (
    results: typeof usual | typeof wobbled | null,
    jobs: Readonly<Record<string, string>>,
  ) => {
    const { sha, branch } = await run();
    if (results !== null) await upload({ sha, branch, results });
    // Results of GitHub have the second in which they ended.
    clock.advance(5_000);
    for (const [name, conclusion] of Object.entries(jobs))
      await server.completeCheckRun(widgets, sha, { name, conclusion });
    await settle();
  };
  const timeline = async () => {
    const wish = { ...pullRequest, includeTimeline: true };
    return (await client.call('getSubmittedPullRequest', wish)).timeline;
  };
  return { ...queue, number, run, end, timeline, reruns: () => server.callCounts()[rerunCall] ?? 0 };
}

it('runs only the failed jobs again, once, and lands the same commit if they pass', async () => {
  const { end, run, reruns, see, state, landing, number, timeline, settle } = await open();
  const first = await run();
  await end(wobbled, { lint: 'success', unit: 'failure' });
  expect([await state(number), reruns(), await run()]).toEqual(['testing', 1, first]);
  expect((await see(number)).waitingFor.join(' ')).toContain('Only the failed jobs run again.');
  expect(await timeline()).toContainEqual(expect.objectContaining({ reason: 'FLAKY_TESTS_FAILED' }));
  await settle();
  expect([await state(number), reruns()]).toEqual(['testing', 1]);
  await end(usual, { unit: 'success' });
  expect(await state(number)).toBe('merged');
  expect(await landing(number)).toMatchObject({
    testRunId: first.id,
    testBranchSha: first.sha,
    flakyTestRunIds: [first.id],
  });
});

it('counts the failure if the jobs fail again', async () => {
  const { end, reruns, state, number } = await open();
  await end(wobbled, { lint: 'success', unit: 'failure' });
  await end(wobbled, { unit: 'failure' });
  expect([await state(number), reruns()]).toEqual(['failed', 1]);
});

it('does not excuse a second failure by reports about the first', async () => {
  const { end, reruns, state, number } = await open({}, { flakeReruns: 2 });
  await end(wobbled, { lint: 'success', unit: 'failure' });
  await end(null, { unit: 'failure' });
  expect([await state(number), reruns()]).toEqual(['failed', 1]);
});

it('repeats the whole run on another commit if the permission is missing', async () => {
  const permissions = { ...usualPermissions, actions: 'read' } as const;
  const { end, run, reruns, state, number } = await open({ permissions });
  const first = await run();
  await end(wobbled, { lint: 'success', unit: 'failure' });
  const second = await run();
  expect([await state(number), reruns()]).toEqual(['testing', 1]);
  expect([second.id === first.id, second.sha === first.sha]).toEqual([false, false]);
  await end(usual, { lint: 'success', unit: 'success' });
  expect(await state(number)).toBe('merged');
});

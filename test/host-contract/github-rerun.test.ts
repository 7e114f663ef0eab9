// Running the failed jobs of a workflow run again, on the same commit.

import { describe, expect, it } from 'vitest';
import type { GithubServer } from '../github-server/server.ts';
import { usualPermissions } from '../github-server/site.ts';
import { movableClock } from './github-world.ts';
import { openGithub, widgets } from './github-fixture.ts';

const { actions: _, ...otherPermissions } = usualPermissions;
const branch = 'signalbox/main/pr-1/1';
const rerunCall = 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs';

async function open(options: Parameters<typeof openGithub>[0] = {}) {
  const clock = movableClock();
  const opened = await openGithub({ clock, ...options });
  const sha = await fail(opened.server);
  const checks = async () => {
    const found = await opened.host.readChecks(opened.repository, sha);
    return found.flatMap((check) => (check.kind === 'check' ? [check] : []));
  };
  const failed = (await checks()).find(({ name }) => name === 'test')!;
  const jobs = { sha, suites: [failed.suite], after: failed.at };
  return {
    ...opened,
    clock,
    sha,
    checks,
    jobs,
    rerun: () => opened.host.rerunFailedJobs(opened.repository, jobs),
  };
}

/** CI has ended on a test branch, with a job that passed and one that failed. */
async function fail(server: GithubServer): Promise<string> {
  const sha = await server.commit(widgets, { branch, files: { 'a.txt': 'a' } });
  await server.completeCheckRun(widgets, sha, { name: 'lint', conclusion: 'success' });
  await server.completeCheckRun(widgets, sha, { name: 'test', conclusion: 'failure' });
  return sha;
}

describe('running failed jobs again at GitHub', () => {
  it('begins a new attempt of the failed jobs alone, in the same suite', async () => {
    const { clock, checks, jobs, rerun, server, sha } = await open();
    clock.advance(5_000);
    expect(await rerun()).toEqual({ kind: 'requested' });
    const [suite] = jobs.suites;
    const shown = (await checks()).map(({ name, status, conclusion }) => [name, status, conclusion]);
    expect(new Map(shown.map(([name, ...rest]) => [name, rest]))).toEqual(
      new Map([
        ['lint', ['completed', 'success']],
        ['test', ['queued', null]],
      ]),
    );
    const again = (await checks()).find(({ name }) => name === 'test')!;
    expect([again.suite, again.at > jobs.after]).toEqual([suite, true]);
    await server.completeCheckRun(widgets, sha, { name: 'test', conclusion: 'success' });
    expect((await checks()).every(({ conclusion }) => conclusion === 'success')).toBe(true);
  });

  it('requests nothing again that has begun, also if it has ended', async () => {
    const { clock, rerun, server, sha } = await open();
    clock.advance(5_000);
    await rerun();
    expect(await rerun()).toEqual({ kind: 'requested' });
    await server.completeCheckRun(widgets, sha, { name: 'test', conclusion: 'failure' });
    expect(await rerun()).toEqual({ kind: 'requested' });
    expect(server.callCounts()[rerunCall]).toBe(1);
  });

  it('waits until the attempt that failed has ended as a whole', async () => {
    const { rerun, server, sha } = await open();
    await server.completeCheckRun(widgets, sha, { name: 'all-green', conclusion: null });
    expect(await rerun()).toEqual({ kind: 'busy' });
  });

  it('cannot for a check of another App', async () => {
    const { host, repository, server, sha } = await open();
    server.newApp('other-ci');
    await server.completeCheckRun(widgets, sha, { name: 'e2e', conclusion: 'failure', app: 'other-ci' });
    const check = (await host.readChecks(repository, sha)).find(({ name }) => name === 'e2e')!;
    const suites = check.kind === 'check' ? [check.suite] : [];
    expect(await host.rerunFailedJobs(repository, { sha, suites, after: check.at })).toMatchObject({
      kind: 'cannot',
      reason: expect.stringContaining('not of GitHub Actions'),
    });
  });

  it('cannot for a workflow run of more than 30 days ago, and repeats what GitHub says', async () => {
    const { clock, rerun } = await open();
    clock.advance(31 * 86_400_000);
    expect(await rerun()).toMatchObject({ kind: 'cannot', reason: expect.stringContaining('a month ago') });
  });

  it('says which permission is missing', async () => {
    for (const actions of [{}, { actions: 'read' }] as const) {
      const { rerun } = await open({ permissions: { ...otherPermissions, ...actions } });
      expect(await rerun()).toMatchObject({
        kind: 'cannot',
        reason: expect.stringContaining('`actions: write`'),
      });
    }
  });
});

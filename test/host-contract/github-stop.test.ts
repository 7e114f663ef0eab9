// Stopping the workflow runs of a test branch that is no longer needed.

import { expect, it } from 'vitest';
import type { GithubServer } from '../github-server/server.ts';
import { usualPermissions } from '../github-server/site.ts';
import { openGithub, widgets } from './github-fixture.ts';

const { actions: _, ...otherPermissions } = usualPermissions;
const permissions = { ...otherPermissions, actions: 'write' } as const;
const branch = 'signalbox/main/pr-1/1';

/** CI has begun on a test branch, with a job that is still under way and one that has passed. */
async function begin(server: GithubServer): Promise<string> {
  const sha = await server.commit(widgets, { branch, files: { 'a.txt': 'a' } });
  await server.completeCheckRun(widgets, sha, { name: 'lint', conclusion: 'success' });
  await server.completeCheckRun(widgets, sha, { name: 'test', conclusion: null });
  return sha;
}

it('cancels the workflow runs of a commit that are under way, once', async () => {
  const { server, host, repository } = await openGithub({ permissions });
  const sha = await begin(server);
  expect(await host.stopRuns(repository, { branch, sha })).toEqual({ kind: 'stopped', count: 1 });
  const conclusions = (await host.readChecks(repository, sha)).map((check) => [
    check.name,
    check.kind === 'check' ? check.conclusion : null,
  ]);
  expect(new Map(conclusions as [string, string][])).toEqual(
    new Map([
      ['lint', 'success'],
      ['test', 'cancelled'],
    ]),
  );
  expect(await host.stopRuns(repository, { branch, sha })).toEqual({ kind: 'stopped', count: 0 });
});

it('touches no run of another commit, and finds none where CI has not begun', async () => {
  const { server, host, repository } = await openGithub({ permissions });
  const sha = await begin(server);
  const other = { branch: 'signalbox/main/pr-2/1', sha: '0'.repeat(40) };
  expect(await host.stopRuns(repository, other)).toEqual({ kind: 'stopped', count: 0 });
  const open = (await host.readChecks(repository, sha)).filter(
    (check) => check.kind === 'check' && check.status !== 'completed',
  );
  expect(open.map(({ name }) => name)).toEqual(['test']);
});

it('says which permission is missing where the App may not stop runs', async () => {
  for (const actions of [{}, { actions: 'read' }] as const) {
    const { server, host, repository } = await openGithub({
      permissions: { ...otherPermissions, ...actions },
    });
    const sha = await begin(server);
    expect(await host.stopRuns(repository, { branch, sha })).toMatchObject({
      kind: 'cannot',
      reason: expect.stringContaining('`actions: write`'),
    });
  }
});

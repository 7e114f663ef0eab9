import { expect, it } from 'vitest';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';

/** A host that works out for ever whether anything can be merged, and leaves it to be tried. */
async function openTrying() {
  const world = await openWorldForTest({
    wrapHosts: (hostFor) => (cell, name) => {
      const host = hostFor(cell, name);
      if (host === null) return null;
      const readPullRequest: typeof host.readPullRequest = async (query) => {
        const found = await host.readPullRequest(query);
        return found === null ? null : { ...found, mergeability: 'in_progress' };
      };
      return { ...host, leavesMergeToTry: true, readPullRequest };
    },
  });
  const team = await world.client();
  await team.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
  await team.call('createQueue', main);
  const propose = (number: number, files: Readonly<Record<string, string>>) =>
    team.call('sandboxCreatePullRequest', { repo: widgets, pr: { number }, files });
  return { world, team, propose };
}

it('tests what goes together with its branch, though its host never says so', async () => {
  const { world, team, propose } = await openTrying();
  await propose(1, { 'a.txt': 'a\n' });
  await team.call('submitPullRequest', pr(1));
  await world.runJobs();
  expect(await team.call('getSubmittedPullRequest', pr(1))).toMatchObject({
    state: 'testing',
    readiness: { gitHubMergeability: 'mergeable' },
  });
});

it('lets one wait that conflicts, and says so', async () => {
  const { world, team, propose } = await openTrying();
  await propose(2, { 'a.txt': 'two\n' });
  await team.call('sandboxCommit', { repo: widgets, branch: 'main', files: { 'a.txt': 'one\n' } });
  await team.call('submitPullRequest', pr(2));
  await world.runJobs();
  const record = await team.call('getSubmittedPullRequest', pr(2));
  expect(record).toMatchObject({ state: 'not_ready', readiness: { gitHubMergeability: 'not_mergeable' } });
  expect(record.waitingFor.join(' ')).toMatch(/conflicts/);
});

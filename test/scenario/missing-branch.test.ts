import { expect, it } from 'vitest';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';

it('a queue whose branch is not there stops, says so, and leaves the host in peace', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', { ...main, requiredStatuses: [] });
  await client.call('submitPullRequest', pr(1));
  const missing = { repo: widgets, targetBranch: 'release/1.x' };
  await client.call('createQueue', missing);
  // Ends, where it asked on and on before.
  await world.runJobs();
  expect(await client.call('getQueue', missing)).toMatchObject({
    state: 'PAUSED',
    stateReason: 'The Git host has no branch release/1.x. Restore it, then set the queue RUNNING.',
  });
  await client.call('updateQueue', { ...missing, state: 'RUNNING' });
  await world.runJobs();
  expect((await client.call('getQueue', missing)).state).toBe('PAUSED');

  await client.call('sandboxCommit', { repo: widgets, branch: 'release/1.x', files: { 'a.txt': 'a' } });
  await client.call('updateQueue', { ...missing, state: 'RUNNING' });
  await world.runJobs();
  expect(await client.call('getQueue', missing)).toMatchObject({ state: 'RUNNING', stateReason: null });
});

import { expect, it, onTestFinished } from 'vitest';
import { connectRepository } from '../authority/matrix.ts';
import { openWorld } from '../support/harness.ts';
import { createGiteaWorld } from '../host-contract/gitea-world.ts';
import { listRequests } from './meter.ts';
import { callsPerLanding } from './table.ts';

it('asks Gitea no more often for a landing than the table says', async () => {
  const gitea = await createGiteaWorld();
  onTestFinished(gitea.close);
  const place = await gitea.createRepository();
  const { repository } = place;
  const world = await openWorld({
    wrapHosts: (others) => (cell, name) => (name === repository.host ? gitea.host : others(cell, name)),
  });
  onTestFinished(world.close);
  await connectRepository(world, repository);
  const client = await world.client('matrix');
  const { host, owner, name } = repository;
  const main = { repo: { host, owner, name }, targetBranch: 'main' };
  await client.call('createQueue', { ...main, requiredStatuses: ['ci/test'] });
  const author = gitea.people.get(gitea.author)!;
  const asAuthor = (path: string, body: object) =>
    gitea.gitea.call(author.token, 'POST', `/repos/${owner}/${name}${path}`, body);
  const settle = async () => {
    await world.runJobs();
    await world.makeJobsDue();
    await world.runJobs();
  };
  const land = async (branch: string) => {
    const content = Buffer.from(branch).toString('base64');
    await asAuthor(`/contents/${branch}.txt`, { new_branch: branch, message: branch, content });
    const number = await place.openPullRequest({ branch, title: branch });
    const asked = { ...main, pr: { number } };
    const mergeability = async () => (await gitea.host.readPullRequest({ repository, number }))?.mergeability;
    await expect.poll(mergeability).toBe('mergeable');
    // The Host asks through the proxy of its world; people and CI ask Gitea itself.
    return listRequests(gitea.proxy.url, async () => {
      await client.call('submitPullRequest', asked);
      await settle();
      const answer = await client.call('getMergeQueueTestingDetails', main);
      for (const { testBranchSha } of 'testRuns' in answer ? answer.testRuns : [])
        await asAuthor(`/statuses/${testBranchSha!}`, { context: 'ci/test', state: 'success' });
      await settle();
      expect(await client.call('getSubmittedPullRequest', asked)).toMatchObject({ state: 'merged' });
    });
  };
  await land('one');
  await land('two');
  const requests = await land('three');
  // oxlint-disable-next-line no-console -- a person who changes the table reads it here
  console.log(requests.join('\n'));
  expect(requests.length).toBeLessThanOrEqual(callsPerLanding.gitea);
});

// A queue on a real Gitea. Signalbox asks it through the proxy of its world; people and CI ask Gitea itself.

import { expect, onTestFinished } from 'vitest';
import { connectRepository } from '../authority/matrix.ts';
import { createGiteaWorld } from '../host-contract/gitea-world.ts';
import { openWorld } from '../support/harness.ts';

export async function openGiteaQueue() {
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
  const numbered = (number: number) => ({ ...main, pr: { number } });
  await client.call('createQueue', { ...main, requiredStatuses: ['ci/test'] });
  const author = gitea.people.get(gitea.author)!;
  const ask = <Answer>(method: string, path: string, body?: object) =>
    gitea.gitea.call<Answer>(author.token, method, `/repos/${owner}/${name}${path}`, body);
  /** Everything is done that is due, and what was put off too. */
  const settle = async () => {
    await world.runJobs();
    await world.makeJobsDue();
    await world.runJobs();
    expect(world.jobErrors).toEqual([]);
  };
  return {
    gitea,
    world,
    client,
    main,
    /** A call of the API of the repository, as its author. */
    ask,
    settle,
    /** Opens a pull request that adds a file; returns its number. */
    propose: async (branch: string): Promise<number> => {
      const content = Buffer.from(branch).toString('base64');
      await ask('POST', `/contents/${branch}.txt`, { new_branch: branch, message: branch, content });
      const number = await place.openPullRequest({ branch, title: branch });
      const mergeability = async () =>
        (await gitea.host.readPullRequest({ repository, number }))?.mergeability;
      await expect.poll(mergeability).toBe('mergeable');
      return number;
    },
    submit: async (number: number) => {
      await client.call('submitPullRequest', numbered(number));
      await settle();
    },
    /** CI passes on every run that is under way. */
    pass: async () => {
      const answer = await client.call('getMergeQueueTestingDetails', main);
      for (const { testBranchSha } of 'testRuns' in answer ? answer.testRuns : [])
        await ask('POST', `/statuses/${testBranchSha!}`, { context: 'ci/test', state: 'success' });
      await settle();
    },
    state: async (number: number) => (await client.call('getSubmittedPullRequest', numbered(number))).state,
  };
}

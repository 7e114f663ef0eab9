// Polling a queue at GitHub without any webhook: many pull requests cost a few calls, and what changed is noticed.

import { expect, it } from 'vitest';
import { widgets } from '../host-contract/github-fixture.ts';
import { openGithubQueue } from './github-queue.ts';

it('polls all pull requests and runs of a queue in two calls, and reads again only what changed', async () => {
  const { server, world, propose, submit, see, settle } = await openGithubQueue({ concurrency: 3 });
  const numbers: number[] = [];
  for (const branch of ['a', 'b', 'c', 'd', 'e', 'f']) numbers.push((await propose(branch)).number);
  for (const number of numbers) await submit(number);
  const poll = async () => {
    await world.makeJobsDue();
    await world.runJobs();
  };
  // Every tenth poll reads the pull requests.
  for (let turn = 0; turn < 10; turn += 1) await poll();
  server.forgetCalls();
  for (let turn = 0; turn < 10; turn += 1) await poll();
  const counts = server.callCounts();
  const queries = counts['POST /api/graphql'] ?? 0;
  expect(queries).toBeGreaterThan(0);
  expect(queries).toBeLessThanOrEqual(2 * 10);
  expect(counts['GET /repos/{owner}/{repo}/pulls/{pull_number}'] ?? 0).toBe(0);
  expect(counts['GET /repos/{owner}/{repo}/commits/{ref}/check-runs'] ?? 0).toBe(0);

  await server.changePullRequest(widgets, numbers[4]!, { title: 'Another title' }, 'ada');
  await server.changePullRequest(widgets, numbers[5]!, { draft: true }, 'ada');
  for (let turn = 0; turn < 10; turn += 1) await poll();
  await settle();
  expect(await see(numbers[4]!)).toMatchObject({ prTitle: 'Another title' });
  expect(await see(numbers[5]!)).toMatchObject({ conclusionReason: 'PR_CONVERTED_TO_DRAFT' });
});

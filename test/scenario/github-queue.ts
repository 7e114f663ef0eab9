// A queue on the GitHub-compatible server of the tests, with something that can happen at each of its calls.

import { onTestFinished } from 'vitest';
import { recordHostEvents } from '#command/record-host-events.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import type { HostFor } from '#host/host.ts';
import { openGithub, widgets } from '../host-contract/github-fixture.ts';
import { hostName } from '../host-contract/github-world.ts';
import type { GithubServerOptions } from '../github-server/server.ts';
import { openWorldForTest } from '../support/harness.ts';
import { intercept } from './intercept.ts';

const main = { repo: { host: hostName, owner: 'acme', name: 'widgets' }, targetBranch: 'main' };
const numbered = (number: number) => ({ ...main, pr: { number } });

export async function openGithubQueue(settings: object = {}, options: GithubServerOptions = {}) {
  const { server, host, propose, token } = await openGithub(options);
  const calls = intercept();
  const { wrapHosts } = calls.options;
  const world = await openWorldForTest({
    ...calls.options,
    wrapHosts: (hostFor: HostFor): HostFor =>
      wrapHosts!((cell, name) => (name === hostName ? host : hostFor(cell, name))),
  });
  onTestFinished(() => {
    calls.before = () => undefined;
    calls.after = () => undefined;
  });
  const client = await world.client();
  await client.call('createQueue', { ...main, requiredStatuses: ['ci/test'], ...settings });
  /** Everything is done that is due, and what was put off too. */
  const settle = async () => {
    await world.runJobs();
    await server.settled();
    await world.makeJobsDue();
    await world.runJobs();
  };
  const { id: organizationId } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const receiveClick = async () => {
    const { headers, body } = server.deliveries().findLast(({ action }) => action === 'requested_action')!;
    const secret = server.webhookSecret;
    const result = host.parseWebhook({ headers, body: Buffer.from(body), secret });
    if (result.kind === 'accepted') await recordHostEvents(world.cell, organizationId, result.events);
    await settle();
  };
  const see = (number: number) => client.call('getSubmittedPullRequest', numbered(number));
  return {
    server,
    calls,
    world,
    client,
    settle,
    see,
    /** A person clicks an action of the queue's own check on a head, and GitHub's webhook arrives. */
    click: async (headSha: string, identifier: string, by: string) => {
      await server.clickAction(widgets, headSha, { check: 'Signalbox (main)', identifier, by });
      await receiveClick();
    },
    /** The webhook of the last click arrives, perhaps once more. */
    receiveClick,
    queue: () => client.call('getQueue', main),
    landing: (number: number) => client.call('getLanding', numbered(number)),
    state: async (number: number) => (await see(number)).state,
    propose,
    submit: async (number: number) => {
      await server.settled();
      await client.call('submitPullRequest', numbered(number));
      await settle();
    },
    configure: async (change: object) => {
      await client.call('updateQueue', { ...main, ...change });
      await settle();
    },
    /** CI passes on every run that is under way. */
    pass: async () => {
      const answer = await client.call('getMergeQueueTestingDetails', main);
      for (const { testBranchSha } of 'testRuns' in answer ? answer.testRuns : [])
        await server.setStatus(widgets, testBranchSha!, { context: 'ci/test', state: 'success' });
      await settle();
    },
    /** What is written on a pull request. */
    comments: async (number: number): Promise<readonly string[]> => {
      const url = `${server.apiUrl}/repos/${widgets}/issues/${number}/comments`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      return ((await answer.json()) as readonly { readonly body: string }[]).map(({ body }) => body);
    },
    tip: async () => {
      const { rows } = await world.cell.pool.query<{ branch_sha: string }>('select branch_sha from queue');
      return rows[0]!.branch_sha;
    },
  };
}

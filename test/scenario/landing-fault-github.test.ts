// Whatever request of a landing fails at GitHub, what was tested lands exactly once and nothing else does. Every request that
// the landing sends, to the API and for git, fails the first time: not carried out and answered with 503, or carried out
// with its answer lost. What the client does not try again ends the attempt, and the next one comes further.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import { tasks } from '#job/worker/task.ts';
import { connectRepository } from '../authority/matrix.ts';
import { git } from '../fixture/sandbox.ts';
import { type GithubServer, startGithubServer } from '../github-server/server.ts';
import { type Client, openWorld } from '../support/harness.ts';
import { appCredentials, connectHost, hostName, movableClock } from '../host-contract/github-world.ts';
import { type Receiver, receiveWebhooks } from '../host-contract/world.ts';

const fullName = 'acme/faults';
const repo = { host: hostName, owner: 'acme', name: 'faults' };

type Site = {
  readonly world: Awaited<ReturnType<typeof openWorld>>;
  readonly server: GithubServer;
  readonly receiver: Receiver;
  readonly client: Client;
  readonly directory: string;
  /** What webhooks have reported since the last time is recorded, and everything that is due is done. */
  readonly settle: (heldBack?: readonly string[]) => Promise<void>;
};
let site: Site | undefined;

beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => {
  await site?.world.close();
  await site?.server.stop();
  await site?.receiver.close();
});

async function openSite(): Promise<Site> {
  const receiver = await receiveWebhooks();
  const limits = { perHour: 1_000_000, concurrent: 1_000, pointsPerMinute: 1_000_000 };
  const server = await startGithubServer({ webhookUrl: receiver.url, owner: 'acme', limits });
  server.newUser('ada');
  const { directory } = await server.newRepository(fullName, { access: { ada: 'write' } });
  const organizationId = randomUUID() as OrganizationId;
  const credentials = appCredentials(server);
  const host = connectHost({ credentials, url: server.url, clock: movableClock(), organizationId });
  const world = await openWorld({
    wrapHosts: (others) => (cell, name) => (name === hostName ? host : others(cell, name)),
  });
  await connectRepository(world, { ...repo, id: randomUUID() as RepositoryId, organizationId });
  let read = 0;
  const settle: Site['settle'] = async (heldBack) => {
    await world.runJobs(heldBack);
    await server.settled();
    const events = receiver.deliveries.slice(read).flatMap((delivery) => {
      const result = host.parseWebhook({ ...delivery, secret: server.webhookSecret });
      return result.kind === 'accepted' ? result.events : [];
    });
    read = receiver.deliveries.length;
    await recordHostEvents(world.cell, organizationId, events);
    await world.runJobs(heldBack);
  };
  return { world, server, receiver, client: await world.client('matrix'), directory, settle };
}

/** A branch with a queue, protected as a branch of GitHub is. */
async function openQueue({ server, client, directory }: Site, branch: string, settings: object) {
  await server.setBranch(fullName, branch, await git(directory, 'rev-parse', 'main'), 'ada');
  const checks = { strict: false, contexts: ['ci/test'] };
  server.protect(fullName, branch, { checks, enforceAdmins: true });
  const queue = { repo, targetBranch: branch };
  await client.call('createQueue', { ...queue, batch: true, batchingMinSize: 2, ...settings });
  return queue;
}

/** Two pull requests whose run has passed, so that only their landing is left to do; with the tree that was tested. */
async function prepareLanding({ server, client, settle }: Site, queue: { readonly targetBranch: string }) {
  const base = queue.targetBranch;
  const numbers: number[] = [];
  for (const part of ['one', 'two']) {
    const files = { [`${base}-${part}.txt`]: part };
    const wish = { branch: `change-${base}-${part}`, base, files, by: 'ada' };
    const { number, headSha } = await server.openPullRequest(fullName, wish);
    await server.completeCheckRun(fullName, headSha, { name: 'ci/test', conclusion: 'success' });
    await client.call('submitPullRequest', { ...queue, pr: { number } });
    numbers.push(number);
  }
  await settle(['land']);
  await settle(['land']);
  const run = await client.call('getMergeQueueTestingDetails', { ...queue, pr: { number: numbers[1]! } });
  if (!('testBranchSha' in run) || run.testBranchSha === null) throw new Error('there is no test run');
  const { testBranchSha: sha, testTreeSha } = run;
  await server.completeCheckRun(fullName, sha, { name: 'ci/test', conclusion: 'success' });
  await settle(['land']);
  return { numbers, testTreeSha };
}

const otherTasks = Object.keys(tasks).filter((task) => task !== 'land');
/** No landing of two pull requests sends more different requests than this. */
const attemptsMax = 60;

it.each([
  ['host', 'squash', 'answered with 503', { how: 503 }],
  ['host', 'squash', 'carried out with its answer lost', { how: 'reset', when: 'after' }],
  ['fast_forward', 'merge_commit', 'answered with 503', { how: 503 }],
  ['fast_forward', 'merge_commit', 'carried out with its answer lost', { how: 'reset', when: 'after' }],
] as const)(
  'a landing by %s (%s) happens exactly once while each of its requests is once %s',
  async (landingMode, mergeMethod, _how, fault) => {
    const { world, server, client, directory, settle } = site!;
    const branch = `${landingMode}-${fault.how}`;
    const queue = await openQueue(site!, branch, { landingMode, mergeMethod });
    const base = await git(directory, 'rev-parse', branch);
    const { numbers, testTreeSha } = await prepareLanding(site!, queue);
    const stateOf = async (number: number) =>
      (await client.call('getSubmittedPullRequest', { ...queue, pr: { number } })).state;

    server.forgetCalls();
    server.fail({ ...fault, isOncePerRequest: true });
    let attempts = 0;
    for (; attempts < attemptsMax; attempts += 1) {
      const before = server.calls().length;
      await world.makeJobsDue();
      await world.runJobs(otherTasks);
      if (server.calls().length === before) break;
    }
    server.heal();
    const failed = server.calls().filter(({ status }) => status === 503 || status === 0);
    await world.makeJobsDue();
    await settle();
    await world.makeJobsDue();
    await settle();

    const moves =
      landingMode === 'host' ? 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge' : 'git-receive-pack';
    expect(failed.map(({ operation }) => operation)).toContain(moves);
    expect(failed.length).toBeGreaterThan(5);
    expect(await Promise.all(numbers.map(stateOf))).toEqual(['merged', 'merged']);
    expect(await git(directory, 'rev-list', '--count', '--first-parent', `${base}..${branch}`)).toBe('2');
    expect(await git(directory, 'rev-parse', `${branch}^{tree}`)).toBe(testTreeSha);
    const landing = await client.call('getLanding', { ...queue, pr: { number: numbers[1]! } });
    expect(landing.landedTreeSha).toBe(testTreeSha);
    expect(landing.landedSha).toBe(await git(directory, 'rev-parse', branch));
    for (const number of numbers) expect(server.pullRequest(fullName, number).merged).not.toBeNull();
  },
  120_000,
);

// Signalbox beside the GitHub-compatible server of the tests, with GitHub's real limits enforced and a clock that the
// benchmark moves: the limits, the budget and the queue all go by it.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OrganizationId } from '#base/id.ts';
import { readContentUse, takeContent } from '#db/host/content-store.ts';
import type { Credentials, ConnectionWithCredentials } from '#host/connection.ts';
import { createGithubHost } from '#host/github/host.ts';
import type { Host } from '#host/host.ts';
import { type Api, openBase, openWorld, type World } from '../e2e/trust/world.ts';
import { type GithubServer, startGithubServer } from '../github-server/server.ts';
import type { Cleanup } from './fixture.ts';

/** As GitHub's documentation has them ("Rate limits for the REST API"). */
const realLimits = { perHour: 5_000, pointsPerMinute: 900, contentPerMinute: 80, contentPerHour: 500 };

const owner = 'acme';
const author = 'ada';
export const requiredCheck = 'test';
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export type GithubWorld = {
  readonly server: GithubServer;
  readonly world: World;
  readonly api: Api;
  readonly fullName: string;
  readonly queue: object;
  /** Time passes: what is due by then is done. */
  readonly pass: (ms: number) => Promise<void>;
  /** Everything is done that is due now, webhooks included. */
  readonly settle: () => Promise<void>;
  readonly open: (branch: string, files?: Readonly<Record<string, string>>) => Promise<number>;
  readonly submit: (number: number) => Promise<void>;
  /** Calls of the API since the start of the measurement; those that were not modified cost nothing, and count all the same. */
  readonly calls: () => readonly string[];
};

export async function openGithubWorld(cleanup: Cleanup, name: string): Promise<GithubWorld> {
  const base = await openBase();
  cleanup.add(base.stop);
  let world: World | null = null;
  const clock = { now: () => world?.clock.now() ?? new Date() };
  const server = await startGithubServer({ owner, clock, mergeabilityMs: 1, limits: realLimits });
  cleanup.add(server.stop);
  const credentials: Credentials = {
    kind: 'github-app',
    appId: server.appId,
    privateKey: server.privateKey,
    installationId: server.installationId,
  };
  const { host: hostName } = new URL(server.url);
  let host: Host | null = null;
  world = await openWorld(base, {
    sandbox: false,
    wrapHosts: (others) => (cell, called) => (called === hostName ? host : others(cell, called)),
  });
  cleanup.add(world.close);
  const { cell } = world;
  const connection: ConnectionWithCredentials = {
    id: randomUUID(),
    organizationId: randomUUID() as OrganizationId,
    host: hostName,
    url: server.url,
    credentials,
  };
  host = createGithubHost({
    host: hostName,
    connections: { find: () => Promise.resolve(connection), save: () => Promise.resolve() },
    clock,
    log: silent,
    budget: {
      take: (key, wish) => takeContent(cell, key, wish),
      used: (key, at) => readContentUse(cell.db, key, at),
    },
    hasContentLimits: true,
  });
  const webhook = await world.connect('github', server.url, credentials);
  server.newUser(author);
  const fullName = `${owner}/${name}`;
  await server.newRepository(fullName, { access: { [author]: 'write' } });
  server.setWebhook({ ...webhook, mode: 'on' });
  return { server, world, fullName, ...(await handsOf(server, world, hostName, fullName)) };
}

async function handsOf(server: GithubServer, world: World, hostName: string, fullName: string) {
  const api = await world.api();
  const queue = {
    repo: { host: hostName, owner, name: fullName.split('/')[1]! },
    targetBranch: 'main',
  };
  await api.call('createQueue', { ...queue, requiredStatuses: [requiredCheck] });
  const settle = async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await world.runJobs();
      await server.settled();
      await sleep(10);
    }
    await world.runJobs();
  };
  const open: GithubWorld['open'] = async (branch, files) => {
    const wish = { branch, by: author, ...(files === undefined ? {} : { files }) };
    return (await server.openPullRequest(fullName, wish)).number;
  };
  const submit = async (number: number) => {
    await api.call('submitPullRequest', { ...queue, pr: { number } });
  };
  const calls = () =>
    server
      .calls()
      .filter(({ kind, operation }) => kind === 'api' && !operation.startsWith('POST /app/'))
      .map(({ operation }) => operation);
  const pass = async (ms: number) => {
    world.clock.advance(ms);
    const seconds = ms / 1_000;
    // Jobs, and the time since the last text of a pull request, go by the clock of the database.
    await world.cell.pool.query(
      `select graphile_worker.reschedule_jobs(array[id], run_at := run_at - make_interval(secs => $1))
       from graphile_worker.jobs where locked_at is null and run_at > now()`,
      [seconds],
    );
    await world.cell.pool.query(
      'update status_comment set written_at = written_at - make_interval(secs => $1)',
      [seconds],
    );
    await settle();
  };
  return { api, queue, settle, open, submit, calls, pass };
}

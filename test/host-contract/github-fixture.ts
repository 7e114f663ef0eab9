// A GitHub with a repository and our App in it, for one test.

import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Credentials } from '#host/connection.ts';
import type { HostRepository, OwnCheck } from '#host/host.ts';
import { type GithubServer, type GithubServerOptions, startGithubServer } from '../github-server/server.ts';
import { appCredentials, connectHost, hostName, movableClock } from './github-world.ts';

export const widgets = 'acme/widgets';

export async function openGithub(options: GithubServerOptions = {}) {
  const server = await startGithubServer({ mergeabilityMs: 1, ...options });
  onTestFinished(server.stop);
  const { token } = server.newUser('ada');
  server.newUser('grace');
  await server.newRepository(widgets, { access: { ada: 'write', grace: 'write' } });
  const clock = movableClock();
  const organizationId = randomUUID() as OrganizationId;
  const connect = (credentials: Credentials = appCredentials(server)) =>
    connectHost({ credentials, url: server.url, clock, organizationId });
  const repository: HostRepository = {
    host: hostName,
    owner: 'acme',
    name: 'widgets',
    id: randomUUID() as RepositoryId,
    organizationId,
  };
  const host = connect();
  const propose = (branch: string, wish: object = {}) =>
    server.openPullRequest(widgets, { branch, files: { [`${branch}.txt`]: branch }, by: 'ada', ...wish });
  /** As soon as GitHub has worked out whether it can be merged. */
  const read = async (number: number) => {
    for (;;) {
      const pullRequestNow = await host.readPullRequest({ repository, number });
      if (pullRequestNow?.mergeability !== 'in_progress') return pullRequestNow;
      await server.settled();
    }
  };
  return { server, token, clock, host, connect, repository, propose, read };
}

export const counted = (server: GithubServer): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind, operation, status } of server.calls())
    if (kind === 'api' && !operation.startsWith('POST /app/')) {
      const key = status === 304 ? `${operation} (not modified)` : operation;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  return counts;
};

export const total = (server: GithubServer): number =>
  Object.values(counted(server)).reduce((sum, count) => sum + count, 0);

export const check = (state: OwnCheck['state'], title: string): OwnCheck => ({
  name: 'Signalbox (main)',
  state,
  title,
  summary: `**${title}**`,
  url: 'http://queue.example',
  number: 1,
  actions: [],
});

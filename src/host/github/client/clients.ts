// One client for each connection and installation, for as long as the credentials stay the same.
//
// An App is installed on each account separately, and each installation has its own token, limits and
// repositories. Where an organization has several accounts, its connection lists their installations, and
// GitHub is asked once an hour which of them a repository belongs to. An installation that is not listed is
// not used, although the App could: it may belong to another organization.

import { hourMs } from '#base/duration.ts';
import type { OrganizationId } from '#base/id.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import {
  type Connections,
  type ContentBudget,
  type ConnectionWithCredentials,
  listInstallationIds,
} from '../../connection.ts';
import type { GithubAppCredentials } from './auth.ts';
import { HostError } from '../../host.ts';
import { type Answers, type GithubClient, createClient } from './client.ts';
import { createMemoryBudget } from './memory-budget.ts';
import { Installation } from '../schema.ts';

export type GithubOptions = {
  /** As repositories name it, in lower case: `github.com`. */
  readonly host: string;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
  /** Longest time for one answer. Default 10,000. */
  readonly timeoutMs?: number;
  /** Counts the writes; default: of this process alone. */
  readonly budget?: ContentBudget;
  /** Apply GitHub's limits on content at any URL. Default: only at GitHub's own. */
  readonly hasContentLimits?: boolean;
};

const clientsMax = 1_000;
const answersMax = 5_000;
const installationKeptMs = hourMs;

type Clients = {
  readonly clientOf: (
    organizationId: OrganizationId,
    repository: Pick<RepositoryName, 'owner' | 'name'>,
  ) => Promise<GithubClient>;
  /** Those of all installations. */
  readonly listClients: (organizationId: OrganizationId) => Promise<readonly GithubClient[]>;
};

const credentialFingerprint = ({ url, credentials }: ConnectionWithCredentials) =>
  JSON.stringify([url, credentials]);

/** The connection with the id of one of its installations. */
const installed = (
  connection: ConnectionWithCredentials,
  credentials: GithubAppCredentials,
  installationId: number,
): ConnectionWithCredentials => ({ ...connection, credentials: { ...credentials, installationId } });

export function createClients(options: GithubOptions): Clients {
  const { host, connections, clock, log, timeoutMs = 10_000, hasContentLimits = false } = options;
  const { budget = createMemoryBudget() } = options;
  const answers: Answers = createTtlCache({ max: answersMax });
  const kept = createTtlCache<{ readonly means: string; readonly client: GithubClient }>({ max: clientsMax });
  const owners = createTtlCache<number>({
    ttlMs: installationKeptMs,
    max: clientsMax,
    now: () => clock.now().getTime(),
  });
  const open = (connection: ConnectionWithCredentials, budgetKey: string): GithubClient => {
    const means = credentialFingerprint(connection);
    const known = kept.get(budgetKey);
    if (known?.means === means) return known.client;
    const shared = { answers, budget, budgetKey, hasContentLimits };
    const client = createClient({ connection, ...shared, clock, log, timeoutMs });
    kept.set(budgetKey, { means, client });
    return client;
  };
  const requireConnection = async (organizationId: OrganizationId): Promise<ConnectionWithCredentials> => {
    const connection = await connections.find(organizationId, host);
    if (connection === null)
      throw new HostError(
        'forbidden',
        `The organization is not connected to ${host}. Connect it on the page Git hosts of the dashboard, or with \`signalbox admin connect\`.`,
      );
    return connection;
  };
  const openInstallation = (
    connection: ConnectionWithCredentials,
    credentials: GithubAppCredentials,
    id: number,
  ): GithubClient => open(installed(connection, credentials, id), `${connection.id} ${id}`);
  return {
    clientOf: async (organizationId, { owner, name }) => {
      const connection = await requireConnection(organizationId);
      const { id, credentials } = connection;
      const first = open(connection, id);
      if (credentials.kind !== 'github-app') return first;
      const allowed = listInstallationIds(credentials);
      if (allowed.length < 2) return first;
      const key = JSON.stringify([id, allowed, owner.toLowerCase()]);
      const found = await owners.load(key, () => readInstallationId(first, owner, name));
      if (found === credentials.installationId) return first;
      if (!allowed.includes(found))
        throw new HostError(
          'forbidden',
          `The GitHub App is installed on ${owner}, but installation ${found} is not part of this connection.`,
        );
      return openInstallation(connection, credentials, found);
    },
    listClients: async (organizationId) => {
      const connection = await requireConnection(organizationId);
      const { id, credentials } = connection;
      const first = open(connection, id);
      if (credentials.kind !== 'github-app') return [first];
      const [, ...more] = listInstallationIds(credentials);
      return [first, ...more.map((one) => openInstallation(connection, credentials, one))];
    },
  };
}

/** GitHub REST docs, "Get a repository installation for the authenticated app". */
async function readInstallationId(client: GithubClient, owner: string, repo: string): Promise<number> {
  const path = '/repos/{owner}/{repo}/installation';
  const found = await client.read(path, { owner, repo }, Installation, { as: 'app' });
  if (found === null)
    throw new HostError('forbidden', `The GitHub App is not installed on ${owner}, or not for ${repo}.`);
  return found.id;
}

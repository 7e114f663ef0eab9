// Gitea and Forgejo. One for each host name; what lets us in is found per organization.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Connections } from '../connection.ts';
import { type Host, type HostRepository, type Permission } from '../host.ts';
import { createChecks } from './check.ts';
import { type Client, createClient, repositoryPath } from './client.ts';
import { createTokenOf } from './credential.ts';
import { createInspect } from './inspect.ts';
import { createLabelReader } from './label.ts';
import { createMerger } from './merge.ts';
import { createDemandsOf, readWholeRule } from './protection.ts';
import { createPersonReader } from './person.ts';
import { createPullRequestReader, createTestPullRequests } from './pull-request.ts';
import { CollaboratorPermission, Repository } from './schema.ts';
import { createApprovalReader } from './review.ts';
import { activeRules } from './rule-type.ts';
import { createStopRuns } from './stop.ts';
import { createVersionOf } from './version.ts';
import { createWebhookParser } from './webhook.ts';
import { createComments, createLabels, createWordReader } from './word.ts';

export type GiteaOptions = {
  /** As repositories name it, in lower case: `codeberg.org`. */
  readonly host: string;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
  /** How long an answer may take. Default 20,000 ms. */
  readonly timeoutMs?: number;
  /** Between one attempt to merge and the next, while Gitea does not know whether it can. Default half a minute in all. */
  readonly mergePausesMs?: readonly number[];
};

export function createGiteaHost(options: GiteaOptions): Host {
  const { host, connections, clock, log, timeoutMs = 20_000, mergePausesMs } = options;
  const tokenOf = createTokenOf({ connections, clock, timeoutMs });
  const client = createClient({ host, connections, tokenOf, clock, timeoutMs });
  const labels = createLabels(client, clock);
  const demandsOf = createDemandsOf(client, clock);
  return {
    kind: 'gitea',
    repositories: 'connected',
    leavesMergeToTry: true,
    readPullRequest: createPullRequestReader({ client, demandsOf }),
    readApprovals: createApprovalReader(client),
    ...createChecks(client),
    // Gitea has no apps that a check could be bound to: protection names contexts of commit statuses, and its own Actions
    // report as such (Gitea services/actions/commit_status.go).
    readRequiredChecks: async (repository, branch, { asOf } = {}) =>
      (await demandsOf(repository, branch, asOf)).requiredChecks?.map((name) => ({
        name,
        source: null,
      })) ?? null,
    remoteOf: (repository) => remoteOf(client, repository),
    // It hears of pushes by itself.
    afterPush: () => Promise.resolve(),
    // It marks what it is told to; where a repository does not let it, the pull request is closed instead.
    showsPushedAsMerged: () => true,
    ...createMerger(client, log, mergePausesMs),
    // It keeps refs/pull/<number>/head only (Gitea models/issues/pull.go, GetGitHeadRefName): what it would merge can
    // be compared only once it has.
    trialMergeRef: () => null,
    parseWebhook: createWebhookParser(host),
    findRepository: async (organizationId, repository) => {
      const found = await client.read(organizationId, Repository, { path: repositoryPath(repository) });
      return found && { host, owner: found.owner.login, name: found.name };
    },
    openTestPullRequest: createTestPullRequests(client),
    writeComment: createComments(client),
    changeLabels: labels.changeLabels,
    permissionOf: (repository, person) => permissionOf(client, repository, person),
    ...createLabelReader(client),
    readPerson: createPersonReader(client, clock),
    readWords: createWordReader(client, labels),
    inspect: createInspect(client, createVersionOf(client, clock)),
    readRules: async (repository, branch, { way }) => {
      const rule = await readWholeRule(client, repository, branch);
      return rule === null ? [] : activeRules(rule, way);
    },
    stopRuns: createStopRuns(client),
  };
}

async function remoteOf(client: Client, { organizationId, owner, name }: HostRepository) {
  const { url, token } = await client.enter(organizationId);
  // The name before the token is not looked at.
  const credential = Buffer.from(`signalbox:${token}`).toString('base64');
  return {
    url: `${url}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}.git`,
    headers: [`Authorization: Basic ${credential}`],
  };
}

const permissionNames: Readonly<Record<string, Permission>> = {
  read: 'read',
  write: 'write',
  admin: 'admin',
  owner: 'admin',
};

/** Only administrators of a repository may ask this of others. */
async function permissionOf(client: Client, repository: HostRepository, person: string): Promise<Permission> {
  const path = `${repositoryPath(repository)}/collaborators/${encodeURIComponent(person)}/permission`;
  const answer = await client.read(repository.organizationId, CollaboratorPermission, { path });
  return permissionNames[answer?.permission ?? ''] ?? 'none';
}

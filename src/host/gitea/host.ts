// Gitea and Forgejo. One instance for each host name; credentials are found per organization.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Connections } from '../connection.ts';
import { type Host, type HostRepository, type Permission } from '../host.ts';
import { createChecks } from './client/check.ts';
import { type Client, createClient, repositoryPath } from './client/client.ts';
import { createTokenProvider } from './client/credential.ts';
import { createAccessReader } from './rule/access.ts';
import { createWebhookSetter } from './rule/hook.ts';
import { createInspect } from './rule/inspect.ts';
import { createIssues } from './pull-request/issue.ts';
import { createLabelReader } from './pull-request/label.ts';
import { createMerger } from './pull-request/merge.ts';
import { createDemandsReader, readWholeRule } from './rule/protection.ts';
import { createPersonReader } from './pull-request/person.ts';
import { createProposals } from './pull-request/proposal.ts';
import { createPullRequestReader, createTestPullRequests } from './pull-request/pull-request.ts';
import { CollaboratorPermission, Repository } from './schema.ts';
import { createApprovalReader } from './pull-request/review.ts';
import { activeRules } from './rule/rule-type.ts';
import { cannotRerun, createStopRuns } from './pull-request/stop.ts';
import { createVersionReader } from './client/version.ts';
import { createWebhookParser } from './webhook.ts';
import { createComments, createLabels, createCommentsAndLabelsReader } from './pull-request/comment.ts';

export type GiteaOptions = {
  /** As repositories name it, in lower case: `codeberg.org`. */
  readonly host: string;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
  /** How long an answer may take. Default 20,000 ms. */
  readonly timeoutMs?: number;
  /**
   * Pauses between attempts to merge, while Gitea does not know whether it can. Default: half a minute in
   * total.
   */
  readonly mergePausesMs?: readonly number[];
};

export function createGiteaHost(options: GiteaOptions): Host {
  const { host, connections, clock, log, timeoutMs = 20_000, mergePausesMs } = options;
  const tokenOf = createTokenProvider({ connections, clock, timeoutMs });
  const client = createClient({ host, connections, tokenOf, clock, timeoutMs });
  const versionOf = createVersionReader(client, clock);
  const labels = createLabels(client, clock);
  const demandsOf = createDemandsReader(client, clock);
  return {
    kind: 'gitea',
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
    remoteOf: (repository) => resolveRemote(client, repository),
    // Gitea notices pushes.
    afterPush: () => Promise.resolve(),
    // `markMerged` marks it; where a repository does not allow that, the pull request is closed instead.
    showsPushedAsMerged: () => true,
    ...createMerger(client, log, mergePausesMs),
    // Gitea keeps refs/pull/<number>/head only (Gitea models/issues/pull.go, GetGitHeadRefName): its merge
    // can be compared only after it was made.
    trialMergeRef: () => null,
    parseWebhook: createWebhookParser(host),
    ensureWebhook: createWebhookSetter(client),
    findRepository: async (organizationId, repository) => {
      const found = await client.read(organizationId, Repository, { path: repositoryPath(repository) });
      return found && { host, owner: found.owner.login, name: found.name };
    },
    openTestPullRequest: createTestPullRequests(client),
    ...createProposals(client),
    writeComment: createComments(client),
    writeIssue: createIssues(client),
    changeLabels: labels.changeLabels,
    permissionOf: (repository, person) => readPermission(client, repository, person),
    ...createLabelReader(client),
    readPerson: createPersonReader(client, clock),
    readCommentsAndLabels: createCommentsAndLabelsReader(client, labels),
    inspect: createInspect(client, versionOf),
    readAccess: createAccessReader(client, versionOf),
    readRules: async (repository, branch, { way }) => {
      const rule = await readWholeRule(client, repository, branch);
      return rule === null ? [] : activeRules(rule, way);
    },
    stopRuns: createStopRuns(client),
    rerunFailedJobs: () => Promise.resolve(cannotRerun),
  };
}

async function resolveRemote(client: Client, { organizationId, owner, name }: HostRepository) {
  const { url, token } = await client.enter(organizationId);
  // Gitea ignores the user name before the token.
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

/** Only administrators of a repository may read the permission of others. */
async function readPermission(
  client: Client,
  repository: HostRepository,
  person: string,
): Promise<Permission> {
  const path = `${repositoryPath(repository)}/collaborators/${encodeURIComponent(person)}/permission`;
  const answer = await client.read(repository.organizationId, CollaboratorPermission, { path });
  return permissionNames[answer?.permission ?? ''] ?? 'none';
}

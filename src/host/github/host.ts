// GitHub: github.com and Enterprise Server, as an App (recommended) or with the token of an account. One
// instance per host name; each organization has its own connection, credentials and limits.

import { createTtlCache } from '#base/ttl-cache.ts';
import type { RepositoryName } from '#core/repository.ts';
import { createClients, type GithubOptions } from './client/clients.ts';
import type { Host, HostRepository } from '../host.ts';
import { readChecks } from './client/check.ts';
import { readChecksByCommit } from './client/check-query.ts';
import type { GithubClient } from './client/client.ts';
import { changeLabels } from './pull-request/comment.ts';
import { headSince, readLabel } from './pull-request/label.ts';
import { trialMergeRef } from '#git/ref.ts';
import { readAccess } from './rule/access.ts';
export { githubRegistration } from './rule/app-registration.ts';
import { ensureWebhook } from './rule/hook.ts';
import { inspect, readInstallation } from './rule/inspect.ts';
import { closePullRequest, merge } from './pull-request/merge.ts';
import { readPermission, permissionOfAccount } from './rule/permission.ts';
import { createPersonReader } from './pull-request/person.ts';
import { writeIssue } from './pull-request/issue.ts';
import { readHeadBranch, openTestPullRequest } from './pull-request/pull-request.ts';
import { proposeFiles } from './pull-request/proposal.ts';
import { createReading } from './pull-request/reading.ts';
import { readApprovals } from './pull-request/review.ts';
import { GithubRepository } from './schema.ts';
import { createStatusWriter } from './pull-request/status.ts';
import { rerunFailedJobs } from './pull-request/rerun.ts';
import { stopRuns } from './pull-request/stop.ts';
import { parseWebhook } from './webhook.ts';
import { type Labelled, readCommentsAndLabels } from './pull-request/comment-poll.ts';

const labelledMax = 5_000;

export function createGithubHost(options: GithubOptions): Host {
  const { host, clock } = options;
  const { clientOf, listClients } = createClients(options);
  const of = (repository: HostRepository): Promise<GithubClient> =>
    clientOf(repository.organizationId, repository);
  const labelled: Labelled = { reported: createTtlCache({ max: labelledMax }), clock };
  const now = () => clock.now().getTime();
  const { keepPull, ...writing } = createStatusWriter(of);
  const { lastRead, ...reading } = createReading(of, clock, keepPull);

  return {
    kind: 'github',
    ...reading,
    ...writing,
    readApprovals: async (repository, number) => readApprovals(await of(repository), repository, number),
    leavesMergeToTry: true,
    readChecks: async (repository, sha) => readChecks(await of(repository), repository, sha),
    readChecksOf: async (repository, shas) => readChecksByCommit(await of(repository), repository, shas),
    remoteOf: async (repository) => resolveRemote(await of(repository), repository),
    // GitHub notices pushes.
    afterPush: () => Promise.resolve(),
    // GitHub searches for the head of the pull request on the branch; other methods create other commits.
    showsPushedAsMerged: (method) => method === 'merge_commit',
    markMerged: () => Promise.resolve(),
    headBranchOf: async (repository, number) => readHeadBranch(await of(repository), repository, number),
    closePullRequest: async (repository, number) =>
      closePullRequest(await of(repository), repository, number),
    merge: async (request) => merge(await of(request.repository), lastRead, request),
    // GitHub docs, "Checking out pull requests locally" and REST "Get a pull request": the merge branch of a pull request.
    trialMergeRef,
    parseWebhook: (delivery) => parseWebhook(host, delivery),
    ensureWebhook: async (repository, webhook) => ensureWebhook(await of(repository), webhook),
    findRepository: async (organizationId, repository) =>
      findRepository(await clientOf(organizationId, repository), repository),
    openTestPullRequest: async (repository, testPullRequest) =>
      openTestPullRequest(await of(repository), repository, testPullRequest),
    proposeFiles: async (repository, proposal) => proposeFiles(await of(repository), repository, proposal),
    editorUrl: async (repository, branch, path) => {
      const { connection } = await of(repository);
      return `${connection.url}/${repository.owner}/${repository.name}/edit/${pathInUrl(branch)}/${pathInUrl(path)}`;
    },
    changeLabels: async (repository, number, change) =>
      changeLabels(await of(repository), repository, number, change),
    writeIssue: async (repository, issue) => writeIssue(await of(repository), repository, issue),
    permissionOf: async (repository, person) => readPermission(await of(repository), repository, person),
    readLabel: async (repository, number, label, { asOf } = {}) => {
      const pull = lastRead.since(repository, number, asOf);
      return readLabel(await of(repository), repository, number, label, pull);
    },
    headSince: async (repository, number, headSha) =>
      headSince(await of(repository), repository, number, headSha),
    readPerson: createPersonReader(of, now),
    contentUse: async (repository) => (await of(repository)).contentUse(),
    readCommentsAndLabels: async (repository, since, label) =>
      readCommentsAndLabels(await of(repository), labelled, repository, since, label),
    inspect: async (repository, branch) => inspect(await of(repository), repository, branch),
    readAccess: async (organizationId) => readAccess(await listClients(organizationId)),
    stopRuns: async (repository, dead) => stopRuns(await of(repository), repository, dead),
    rerunFailedJobs: async (repository, jobs) => rerunFailedJobs(await of(repository), repository, jobs),
  };
}

const pathInUrl = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

async function resolveRemote({ connection, auth }: GithubClient, { owner, name }: HostRepository) {
  const basicCredentials = Buffer.from(`x-access-token:${await auth.token()}`).toString('base64');
  return {
    url: `${connection.url}/${owner}/${name}.git`,
    headers: [`Authorization: Basic ${basicCredentials}`],
  };
}

/**
 * Many repositories on GitHub are readable by everyone without belonging to the organization. Only those
 * count where the App is installed, or where the account has write access.
 */
async function findRepository(
  client: GithubClient,
  { host, owner, name: repo }: RepositoryName,
): Promise<RepositoryName | null> {
  const found = await client.read('/repos/{owner}/{repo}', { owner, repo }, GithubRepository);
  if (found === null) return null;
  const isApp = client.auth.appId !== null;
  const own = { owner: found.owner.login, name: found.name };
  const isLetIn = isApp
    ? (await readInstallation(client, own)) !== null
    : ['write', 'admin'].includes(permissionOfAccount(found));
  return isLetIn ? { host, ...own } : null;
}

// GitHub: github.com and Enterprise Server, as an App (what is meant for use) or with the token of an account.
// One of these per host name; each organization has its own connection, credentials and limits.

import type { RepositoryName } from '#core/repository.ts';
import { createClients, type GithubOptions } from './clients.ts';
import type { Host, HostRepository } from '../host.ts';
import { readChecks } from './check.ts';
import { readChecksOf } from './check-query.ts';
import type { Client } from './client.ts';
import { changeLabels } from './comment.ts';
import { headSince, readLabel } from './label.ts';
import { trialMergeRef } from '#git/ref.ts';
import { inspect, readInstallation } from './inspect.ts';
import { createMemory } from './memory.ts';
import { closePullRequest, merge } from './merge.ts';
import { permissionOf, permissionOfAccount } from './permission.ts';
import { createPersonReader } from './person.ts';
import { headBranchOf, openTestPullRequest } from './pull-request.ts';
import { createReading } from './reading.ts';
import { readApprovals } from './review.ts';
import { Repository } from './schema.ts';
import { createStatusWriter } from './status.ts';
import { stopRuns } from './stop.ts';
import { parseWebhook } from './webhook.ts';
import { type Labelled, readWords } from './word.ts';

const labelledMax = 5_000;

export function createGithubHost(options: GithubOptions): Host {
  const { host, clock } = options;
  const clientOf = createClients(options);
  const of = (repository: HostRepository): Promise<Client> => clientOf(repository.organizationId, repository);
  const labelled: Labelled = { reported: createMemory(labelledMax), clock };
  const now = () => clock.now().getTime();
  const { keepPull, ...writing } = createStatusWriter(of);
  const { lastRead, ...reading } = createReading(of, clock, keepPull);

  return {
    kind: 'github',
    repositories: 'connected',
    ...reading,
    ...writing,
    readApprovals: async (repository, number) => readApprovals(await of(repository), repository, number),
    leavesMergeToTry: true,
    readChecks: async (repository, sha) => readChecks(await of(repository), repository, sha),
    readChecksOf: async (repository, shas) => readChecksOf(await of(repository), repository, shas),
    remoteOf: async (repository) => remoteOf(await of(repository), repository),
    // GitHub notices what is pushed.
    afterPush: () => Promise.resolve(),
    // It looks for the head of the pull request on the branch: other methods make other commits of it.
    showsPushedAsMerged: (method) => method === 'merge_commit',
    markMerged: () => Promise.resolve(),
    headBranchOf: async (repository, number) => headBranchOf(await of(repository), repository, number),
    closePullRequest: async (repository, number) =>
      closePullRequest(await of(repository), repository, number),
    merge: async (request) => merge(await of(request.repository), lastRead, request),
    // GitHub docs, "Checking out pull requests locally" and REST "Get a pull request": the merge branch of a pull request.
    trialMergeRef,
    parseWebhook: (delivery) => parseWebhook(host, delivery),
    findRepository: async (organizationId, repository) =>
      findRepository(await clientOf(organizationId, repository), repository),
    openTestPullRequest: async (repository, wish) =>
      openTestPullRequest(await of(repository), repository, wish),
    changeLabels: async (repository, number, change) =>
      changeLabels(await of(repository), repository, number, change),
    permissionOf: async (repository, person) => permissionOf(await of(repository), repository, person),
    readLabel: async (repository, number, label, { asOf } = {}) => {
      const pull = lastRead.since(repository, number, asOf);
      return readLabel(await of(repository), repository, number, label, pull);
    },
    headSince: async (repository, number, headSha) =>
      headSince(await of(repository), repository, number, headSha),
    readPerson: createPersonReader(of, now),
    contentUse: async (repository) => (await of(repository)).contentUse(),
    readWords: async (repository, since, label) =>
      readWords(await of(repository), labelled, repository, since, label),
    inspect: async (repository, branch) => inspect(await of(repository), repository, branch),
    stopRuns: async (repository, dead) => stopRuns(await of(repository), repository, dead),
  };
}

async function remoteOf({ connection, auth }: Client, { owner, name }: HostRepository) {
  const word = Buffer.from(`x-access-token:${await auth.token()}`).toString('base64');
  return { url: `${connection.url}/${owner}/${name}.git`, headers: [`Authorization: Basic ${word}`] };
}

/**
 * Of what everybody may read there is much on GitHub that is not ours: we are let in where the App is installed, or where
 * the account may write.
 */
async function findRepository(
  client: Client,
  { host, owner, name: repo }: RepositoryName,
): Promise<RepositoryName | null> {
  const found = await client.read('/repos/{owner}/{repo}', { owner, repo }, Repository);
  if (found === null) return null;
  const isApp = client.auth.appId !== null;
  const own = { owner: found.owner.login, name: found.name };
  const isLetIn = isApp
    ? (await readInstallation(client, own)) !== null
    : ['write', 'admin'].includes(permissionOfAccount(found));
  return isLetIn ? { host, ...own } : null;
}

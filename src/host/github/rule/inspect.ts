// What GitHub reports about whether a queue can work on a branch.

import { uniqueCheckNames } from '#core/queue/rule.ts';
import type { HostRepository, Inspection } from '../../host.ts';
import { listMergeMethods, type Ourselves, readBinding, readTestBranchRule } from './bypass.ts';
import { readChecks } from '../client/check.ts';
import { readHooks } from './hook.ts';
import type { GithubClient } from '../client/client.ts';
import { permissionOfAccount, permissionOfApp } from './permission.ts';
import { readOthersMayCreateTestBranches, readOthersMayUpdate, readTokenWrites } from './openness.ts';
import { readDemands } from './protection.ts';
import { readWorkflows } from './workflow.ts';
import { Installation, ListedPullRequests, Meta, GithubRepository } from '../schema.ts';

const fixes: Inspection['fixes'] = {
  writeAccess:
    'Give the App read and write access to contents, pull requests, issues, checks and commit statuses, or give the account write access.',
  push: 'Add Signalbox to the bypass list of the rule.',
  markMerged: 'GitHub needs no setting for it.',
};

/** How many recent pull requests have their checks read. */
const recentMax = 3;

/** The App in a repository; null: it is not installed, or this is not an App. */
export async function readInstallation(
  { auth, read }: GithubClient,
  { owner, name: repo }: Pick<HostRepository, 'owner' | 'name'>,
): Promise<Installation | null> {
  if (auth.appId === null) return null;
  const path = '/repos/{owner}/{repo}/installation';
  const found = await read(path, { owner, repo }, Installation, { as: 'app' });
  return found === null || found.id !== auth.installationId || found.suspended_at != null ? null : found;
}

export async function inspect(
  client: GithubClient,
  repository: HostRepository,
  branch: string,
): Promise<Inspection> {
  const { owner, name: repo } = repository;
  const found = await client.read('/repos/{owner}/{repo}', { owner, repo }, GithubRepository);
  const installation = found === null ? null : await readInstallation(client, repository);
  const ourselves = await readOurselves(client, found, installation);
  const demands = await readDemands(client, repository, branch);
  const binding = await readBinding(client, repository, branch, demands, ourselves);
  return {
    version: await readVersion(client),
    own: ourselves.own,
    webhooks: found === null ? null : await readHooks(client, repository, installation),
    branchExists: demands.branchExists,
    protection: binding && { requiredChecks: uniqueCheckNames(demands.requiredChecks ?? []), ...binding },
    testBranchRule: await readTestBranchRule(client, repository, branch),
    mergeMethods: found === null ? [] : listMergeMethods(found, demands.rules),
    // GitHub detects that the head of a pull request is on its branch.
    marksMerged: true,
    ...(await readRecentChecks(client, repository, demands.branchExists ? branch : null)),
    othersMayUpdate: await readOthersMayUpdate(client, repository, branch, demands, {
      appId: client.auth.appId,
      slug: ourselves.slug,
    }),
    othersMayCreateTestBranches: await readOthersMayCreateTestBranches(client, repository, branch),
    workflows: demands.branchExists ? await readWorkflows(client, repository, branch) : null,
    workflowTokenWrites: await readTokenWrites(client, repository),
    fixes,
    lost: lostFor(installation),
  };
}

async function readOurselves(
  { auth, login }: GithubClient,
  found: GithubRepository | null,
  installation: Installation | null,
): Promise<Ourselves> {
  if (auth.appId !== null) {
    const own = found === null || installation === null ? null : permissionOfApp(installation.permissions);
    return { slug: installation?.app_slug ?? null, login: null, own };
  }
  return { slug: null, login: await login(), own: found && permissionOfAccount(found) };
}

export async function readVersion({ read }: GithubClient): Promise<string> {
  const version = (await read('/meta', {}, Meta))?.installed_version;
  return version === undefined ? 'GitHub' : `GitHub Enterprise Server ${version}`;
}

async function readRecentChecks(
  client: GithubClient,
  repository: HostRepository,
  branch: string | null,
): Promise<Pick<Inspection, 'recentChecks' | 'recentHeadChecks'>> {
  if (branch === null) return { recentChecks: [], recentHeadChecks: [] };
  const { owner, name: repo } = repository;
  const parameters = { owner, repo, base: branch, state: 'all', sort: 'updated', direction: 'desc' };
  const path = '/repos/{owner}/{repo}/pulls';
  const pulls = await client.read(path, { ...parameters, per_page: recentMax }, ListedPullRequests);
  const namesOn = async (ref: string) => (await readChecks(client, repository, ref)).map(({ name }) => name);
  const [own = [], ...heads] = await Promise.all(
    [branch, ...(pulls ?? []).map(({ head }) => head.sha)].map(namesOn),
  );
  const distinct = (names: readonly string[]) => [...new Set(names)].toSorted();
  return { recentChecks: distinct([...own, ...heads.flat()]), recentHeadChecks: distinct(heads.flat()) };
}

/** The features that are lost because an optional permission was not granted. */
const lostFor = (installation: Installation | null): readonly string[] =>
  installation === null || installation.permissions['actions'] === 'write'
    ? []
    : [
        'Without the permission `actions: write` Signalbox cannot stop CI runs that are no longer needed, and repeats a whole CI run where only the jobs with flaky tests would have to run again.',
      ];

// What GitHub says when it is asked whether a queue can work on a branch.

import { namesOf } from '#core/queue/rule.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { HostRepository, Inspection, Permission } from '../host.ts';
import { mergeMethodsOf, type Ourselves, readBinding, readTestBranchRule } from './bypass.ts';
import { readChecks } from './check.ts';
import type { Client } from './client.ts';
import { permissionOfAccount, permissionOfApp } from './permission.ts';
import { readOthersMayCreateTestBranches, readOthersMayUpdate, readTokenWrites } from './openness.ts';
import { readDemands } from './protection.ts';
import { readWorkflows } from './workflow.ts';
import {
  HookConfig,
  HookDeliveries,
  Hooks,
  Installation,
  ListedPullRequests,
  Meta,
  Repository,
} from './schema.ts';

type Told = HostEvent['kind'];

/** What must be subscribed to for each kind of event. */
const events: { readonly [Kind in Told]: readonly string[] } = {
  // A review or a conversation decides whether it can be merged.
  'pull-request-changed': ['pull_request', 'pull_request_review', 'pull_request_review_thread'],
  'label-changed': ['pull_request'],
  // CI reports in either way, and some in both.
  'check-changed': ['check_run', 'status'],
  'branch-moved': ['push'],
  'comment-written': ['issue_comment'],
};

const toldBy = (subscribed: readonly string[]): readonly Told[] =>
  (Object.keys(events) as Told[]).filter(
    (kind) => subscribed.includes('*') || events[kind].every((event) => subscribed.includes(event)),
  );

/** Pull requests whose checks are looked at. */
const recentMax = 3;

/** The App in a repository; null: it is not let in, or we are no App. */
export async function readInstallation(
  { auth, read }: Client,
  { owner, name: repo }: Pick<HostRepository, 'owner' | 'name'>,
): Promise<Installation | null> {
  if (auth.appId === null) return null;
  const path = '/repos/{owner}/{repo}/installation';
  const found = await read(path, { owner, repo }, Installation, { as: 'app' });
  return found === null || found.id !== auth.installationId || found.suspended_at != null ? null : found;
}

export async function inspect(
  client: Client,
  repository: HostRepository,
  branch: string,
): Promise<Inspection> {
  const { owner, name: repo } = repository;
  const found = await client.read('/repos/{owner}/{repo}', { owner, repo }, Repository);
  const installation = found === null ? null : await readInstallation(client, repository);
  const ourselves = await readOurselves(client, found, installation);
  const demands = await readDemands(client, repository, branch);
  const binding = await readBinding(client, repository, branch, demands, ourselves);
  return {
    version: await readVersion(client),
    own: ourselves.own,
    webhooks: found === null ? null : await readHooks(client, repository, installation),
    branchExists: demands.branchExists,
    protection: binding && { requiredChecks: namesOf(demands.requiredChecks ?? []), ...binding },
    testBranchRule: await readTestBranchRule(client, repository, branch),
    mergeMethods: found === null ? [] : mergeMethodsOf(found, demands.rules),
    // GitHub sees by itself that the head of a pull request is on its branch.
    marksMerged: true,
    ...(await readRecentChecks(client, repository, demands.branchExists ? branch : null)),
    othersMayUpdate: await readOthersMayUpdate(client, repository, branch, demands, {
      appId: client.auth.appId,
      slug: ourselves.slug,
    }),
    othersMayCreateTestBranches: await readOthersMayCreateTestBranches(client, repository, branch),
    workflows: demands.branchExists ? await readWorkflows(client, repository, branch) : null,
    workflowTokenWrites: await readTokenWrites(client, repository),
    lost: lostFor(installation),
  };
}

async function readOurselves(
  { auth, login }: Client,
  found: Repository | null,
  installation: Installation | null,
): Promise<Ourselves> {
  if (auth.appId !== null) {
    const own = found === null || installation === null ? null : permissionOfApp(installation.permissions);
    return { slug: installation?.app_slug ?? null, login: null, own };
  }
  return { slug: null, login: await login(), own: found && permissionOfAccount(found) };
}

/** Of an account; an App has no role that classic protection would except. */
export async function readOwnPermission(
  client: Client,
  { owner, name: repo }: HostRepository,
): Promise<Permission | null> {
  if (client.auth.appId !== null) return null;
  const found = await client.read('/repos/{owner}/{repo}', { owner, repo }, Repository);
  return found && permissionOfAccount(found);
}

async function readVersion({ read }: Client): Promise<string> {
  const version = (await read('/meta', {}, Meta))?.installed_version;
  return version === undefined ? 'GitHub' : `GitHub Enterprise Server ${version}`;
}

/** The App's own webhook, and those of the repository as far as we may see them. */
async function readHooks(
  { read, auth }: Client,
  { owner, name: repo }: HostRepository,
  installation: Installation | null,
): Promise<Inspection['webhooks']> {
  const absent = [403, 404];
  const config = auth.appId === null ? null : await read('/app/hook/config', {}, HookConfig, { as: 'app' });
  const app = await readAppHook(read, config?.url ?? '', installation);
  const path = '/repos/{owner}/{repo}/hooks';
  const hooks = await read(path, { owner, repo, per_page: 100 }, Hooks, { absent });
  if (hooks === null && app === null) return null;
  const own = (hooks ?? []).map(({ active, events, config: { url = '' }, last_response: last }) => ({
    url,
    isActive: active,
    tells: toldBy(events),
    lastStatus: last?.code ?? null,
  }));
  return app === null ? own : [app, ...own];
}

async function readAppHook(read: Client['read'], url: string, installation: Installation | null) {
  if (url === '' || installation === null) return null;
  const path = '/app/hook/deliveries';
  const deliveries = await read(path, { per_page: 1 }, HookDeliveries, { as: 'app' });
  return {
    url,
    isActive: true,
    tells: toldBy(installation.events),
    lastStatus: deliveries?.[0]?.status_code ?? null,
  };
}

async function readRecentChecks(
  client: Client,
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

/** What Signalbox does without where an optional permission was not given. */
const lostFor = (installation: Installation | null): readonly string[] =>
  installation === null || installation.permissions['actions'] === 'write'
    ? []
    : ['Without the permission `actions: write` Signalbox cannot stop CI runs that are no longer needed.'];

// Which other accounts may update the branch, and which may create test branches.

import type { HostRepository, Inspection } from '../../host.ts';
import { readProtection } from './active-rule.ts';
import { rulesetReader } from './bypass.ts';
import type { GithubClient } from '../client/client.ts';
import type { GithubDemands } from './protection.ts';
import { type BypassActor, type Protection, Rules, WorkflowPermissions } from '../schema.ts';

type Ours = { readonly appId: number | null; readonly slug: string | null };

const areOurs = (actors: readonly BypassActor[], { appId }: Ours): boolean =>
  actors.every(({ actor_type, actor_id }) => actor_type === 'Integration' && actor_id === appId);

/** Classic protection: no other account is on the list of those who may push, and it binds administrators too. */
function isClosedBy(protection: Protection | null, { slug }: Ours): boolean {
  const listed = protection?.restrictions;
  if (listed == null || protection?.enforce_admins?.enabled !== true) return false;
  const others = [...(listed.users ?? []), ...(listed.teams ?? [])].length;
  return others === 0 && (listed.apps ?? []).every((app) => app.slug === slug);
}

/**
 * Whether accounts other than Signalbox may update the branch: a rule `update` ("Restrict updates") allows it
 * only to actors that may bypass its ruleset, and GitHub lists these only to actors that may edit it.
 */
export async function readOthersMayUpdate(
  client: GithubClient,
  repository: HostRepository,
  branch: string,
  demands: GithubDemands,
  ours: Ours,
): Promise<Inspection['othersMayUpdate']> {
  const ask = rulesetReader(client, repository);
  const closing = await Promise.all(demands.rules.filter(({ type }) => type === 'update').map(ask));
  if (closing.some(({ bypassActors }) => bypassActors !== null && areOurs(bypassActors, ours))) return false;
  const protection = demands.isClassic ? await readProtection(client, repository, branch) : null;
  if (isClosedBy(protection, ours)) return false;
  return closing.some(({ bypassActors }) => bypassActors === null) ? null : true;
}

/** GitHub also answers for branches that do not exist. */
export async function readOthersMayCreateTestBranches(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  branch: string,
): Promise<boolean> {
  const test = `signalbox/${branch}/pr-1/00000000-0000-0000-0000-000000000000`;
  const path = '/repos/{owner}/{repo}/rules/branches/{branch}';
  const rules = await client.read(path, { owner, repo, branch: test, per_page: 100 }, Rules);
  return !(rules ?? []).some(({ type }) => type === 'creation');
}

/** GitHub REST docs, "Get default workflow permissions for a repository". */
export async function readTokenWrites(
  { read }: GithubClient,
  { owner, name: repo }: HostRepository,
): Promise<boolean | null> {
  const path = '/repos/{owner}/{repo}/actions/permissions/workflow';
  const found = await read(path, { owner, repo }, WorkflowPermissions, { absent: [403, 404] });
  return found && found.default_workflow_permissions === 'write';
}

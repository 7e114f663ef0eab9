// The rules that are active for a branch, each with what Signalbox does about it, whether Signalbox may
// bypass it, and whether a landing by a method would break it although it is re-implemented in general.

import type { QueueSettings } from '#core/queue/settings.ts';
import type { HostRepository } from '../../host.ts';
import type { ActiveRule, LandingWay, RuleRow } from '../../rule.ts';
import { type Ourselves, rulesetReader } from './bypass.ts';
import type { GithubClient } from '../client/client.ts';
import { readOwnPermission } from './permission.ts';
import type { GithubDemands } from './protection.ts';
import { protectionFields, findRuleRow } from './rule-type.ts';
import { Protection, type Rule } from '../schema.ts';

type Method = QueueSettings['mergeMethod'];
type LandingChoice = { readonly method: Method; readonly way: LandingWay };

const theirName = { merge_commit: 'merge', squash: 'squash', rebase: 'rebase' } as const;

type MethodRow = RuleRow & { readonly isBroken: boolean };

const broken = (why: string): MethodRow => ({ handling: 'refused', why, isBroken: true });

/** A rule that a landing by this method breaks is refused, whatever its type is in general. */
function rowFor(row: RuleRow, type: string, parameters: Rule['parameters'], method: Method): MethodRow {
  if (type === 'required_linear_history' && method === 'merge_commit')
    return broken(
      'The queue creates merge commits, and the rule allows none. Set mergeMethod to squash or rebase.',
    );
  if (type === 'pull_request' && parameters?.allowed_merge_methods?.includes(theirName[method]) === false)
    return broken(`The queue merges with mergeMethod ${method}, and the rule does not allow it.`);
  if (type === 'pull_request' && parameters?.required_reviewers?.some((one) => one.minimum_approvals > 0))
    return {
      handling: 'refused',
      why: 'Signalbox does not check approvals of required teams.',
      isBroken: false,
    };
  return { ...row, isBroken: false };
}

/** Each ruleset reports whether the App or account may bypass it. */
async function ofRulesets(
  client: GithubClient,
  repository: HostRepository,
  rules: readonly Rule[],
  { method, way }: LandingChoice,
): Promise<readonly ActiveRule[]> {
  const ask = rulesetReader(client, repository);
  return Promise.all(
    rules.map(async (rule) => {
      const { name, mayBypass } = await ask(rule);
      const row = rowFor(findRuleRow(rule.type), rule.type, rule.parameters, method);
      return { ...row, name: rule.type, where: `ruleset “${name}”`, isBypassed: mayBypass(way) };
    }),
  );
}

/** Fields of classic protection that are on. */
const isOn: Readonly<Record<string, (protection: Protection) => boolean>> = {
  lock_branch: ({ lock_branch: on }) => on?.enabled === true,
  required_conversation_resolution: ({ required_conversation_resolution: on }) => on?.enabled === true,
  required_linear_history: ({ required_linear_history: on }) => on?.enabled === true,
  required_pull_request_reviews: ({ required_pull_request_reviews: on }) => on != null,
  required_signatures: ({ required_signatures: on }) => on?.enabled === true,
  required_status_checks: ({ required_status_checks: on }) => on != null,
  restrictions: ({ restrictions: on }) => on != null,
};

/** An App is bound by all of classic protection but the pull request; an administrator may be bound by none of it. */
export function ofProtection(
  protection: Protection,
  { own }: Pick<Ourselves, 'own'>,
  { method, way }: LandingChoice,
): readonly ActiveRule[] {
  const isFree = own === 'admin' && protection.enforce_admins?.enabled === false;
  return Object.entries(protectionFields)
    .filter(([name]) => isOn[name]?.(protection) === true)
    .map(([name, row]) => ({
      ...rowFor(row, name, undefined, method),
      name,
      where: 'branch protection',
      // A push has no pull request whose conversations GitHub could check.
      isBypassed: isFree || (name === 'required_conversation_resolution' && way === 'push'),
    }));
}

export async function readProtection(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  branch: string,
): Promise<Protection | null> {
  const path = '/repos/{owner}/{repo}/branches/{branch}/protection';
  return client.read(path, { owner, repo, branch }, Protection, { absent: [403, 404] });
}

type ActiveRuleReader = (
  client: GithubClient,
  repository: HostRepository,
  branch: string,
  demands: GithubDemands,
  landing: LandingChoice,
) => Promise<readonly ActiveRule[]>;

/**
 * For an App, the rules are read once per version of the branch's requirements, which are read again when the
 * rulesets have changed (kept-demands.ts). For an account they also depend on its role, and are read each
 * time.
 */
export function createActiveRuleReader(): ActiveRuleReader {
  const known = new WeakMap<GithubDemands, Map<string, Promise<readonly ActiveRule[]>>>();
  return async (client, repository, branch, demands, landing) => {
    const read = async () => {
      const own = await readOwnPermission(client, repository);
      return readActiveRules(client, repository, branch, { demands, ourselves: { own } }, landing);
    };
    if (client.auth.appId === null) return read();
    const kept = known.get(demands) ?? new Map<string, Promise<readonly ActiveRule[]>>();
    known.set(demands, kept);
    const key = `${landing.method} ${landing.way}`;
    const found = kept.get(key) ?? read();
    kept.set(key, found);
    found.catch(() => kept.delete(key));
    return found;
  };
}

async function readActiveRules(
  client: GithubClient,
  repository: HostRepository,
  branch: string,
  { demands, ourselves }: { readonly demands: GithubDemands; readonly ourselves: Pick<Ourselves, 'own'> },
  landing: LandingChoice,
): Promise<readonly ActiveRule[]> {
  const protection = demands.isClassic ? await readProtection(client, repository, branch) : null;
  return [
    ...(protection === null ? [] : ofProtection(protection, ourselves, landing)),
    ...(await ofRulesets(client, repository, demands.rules, landing)),
  ];
}

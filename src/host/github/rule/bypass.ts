// What a branch allows Signalbox to do: push to it, or merge with GitHub's call. Rules bind actors that may
// not bypass them.

import { checkName } from '#core/queue/text/message.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import type { HostRepository, Permission } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import type { LandingWay } from '../../rule.ts';
import type { GithubDemands } from './protection.ts';
import { type BypassActor, Protection, type Rule, Rules, Ruleset } from '../schema.ts';

/** How lists of allowed actors identify Signalbox. */
export type Ourselves = {
  /** Of the App. */
  readonly slug: string | null;
  /** Of the account. */
  readonly login: string | null;
  readonly own: Permission | null;
};

export type Binding = {
  readonly letsUsPush: boolean;
  readonly letsUsMerge: boolean;
  readonly needsUpToDate: boolean;
  readonly approvals: number;
};

const free: Binding = { letsUsPush: true, letsUsMerge: true, needsUpToDate: false, approvals: 0 };

const together = (a: Binding, b: Binding): Binding => ({
  letsUsPush: a.letsUsPush && b.letsUsPush,
  letsUsMerge: a.letsUsMerge && b.letsUsMerge,
  needsUpToDate: a.needsUpToDate || b.needsUpToDate,
  approvals: Math.max(a.approvals, b.approvals),
});

/** Rules that block a push. `required_signatures` is one because our commits are not signed. */
const noPush: ReadonlySet<string> = new Set(['pull_request', 'update', 'merge_queue', 'required_signatures']);
const noMerge: ReadonlySet<string> = new Set(['update', 'merge_queue']);

export function bindingOfRule(
  { type, parameters = {} }: Rule,
  targetBranch: string,
  mayPassBy: boolean,
): Binding {
  const contexts = parameters.required_status_checks?.map(({ context }) => context) ?? [];
  // Our own check passes only at the end: a rule that requires it of Signalbox blocks every landing.
  const requiresOurs = contexts.includes(checkName({ targetBranch }));
  return {
    letsUsPush: mayPassBy || !(noPush.has(type) || requiresOurs),
    letsUsMerge: mayPassBy || !(noMerge.has(type) || requiresOurs),
    needsUpToDate: !mayPassBy && parameters.strict_required_status_checks_policy === true,
    // Required of the pull request, independent of who merges it.
    approvals: type === 'pull_request' ? (parameters.required_approving_review_count ?? 0) : 0,
  };
}

type AllowedActors = {
  readonly apps?: readonly { readonly slug: string }[] | null | undefined;
  readonly users?: readonly { readonly login: string }[] | null | undefined;
};

const names = ({ apps, users }: AllowedActors, { slug, login }: Ourselves): boolean =>
  apps?.some((app) => app.slug === slug) === true ||
  users?.some((user) => user.login.toLowerCase() === login?.toLowerCase()) === true;

export function bindingOfProtection(
  protection: Protection,
  targetBranch: string,
  ourselves: Ourselves,
): Binding {
  const { restrictions, required_pull_request_reviews: reviews, required_status_checks: checks } = protection;
  const isLocked = protection.lock_branch?.enabled === true;
  const isFree = ourselves.own === 'admin' && protection.enforce_admins?.enabled === false;
  const isListed = isFree || restrictions == null || names(restrictions, ourselves);
  const needsPull =
    reviews != null && !isFree && !names(reviews.bypass_pull_request_allowances ?? {}, ourselves);
  const requiresOurs = !isFree && checks?.contexts.includes(checkName({ targetBranch })) === true;
  const isShut = isLocked || !isListed || requiresOurs;
  return {
    letsUsPush: !isShut && !needsPull && (isFree || protection.required_signatures?.enabled !== true),
    letsUsMerge: !isShut,
    needsUpToDate: !isFree && checks?.strict === true,
    approvals: reviews?.required_approving_review_count ?? 0,
  };
}

/** The details of a ruleset, read once for all of its rules. */
export type SeenRuleset = {
  readonly name: string;
  /** GitHub REST docs, "Get a repository ruleset", `current_user_can_bypass`. */
  readonly mayBypass: (way: LandingWay) => boolean;
  /** Null: GitHub shows the bypass list only to actors that may edit the ruleset. */
  readonly bypassActors: readonly BypassActor[] | null;
};

export function rulesetReader({ read }: GithubClient, { owner, name: repo }: HostRepository) {
  const asked = new Map<number, Promise<SeenRuleset>>();
  return ({ ruleset_id }: Rule): Promise<SeenRuleset> => {
    const ask = async (id: number): Promise<SeenRuleset> => {
      const path = '/repos/{owner}/{repo}/rulesets/{ruleset_id}';
      const found = await read(path, { owner, repo, ruleset_id: id }, Ruleset, { absent: [403, 404] });
      const bypassMode = found?.current_user_can_bypass ?? 'never';
      return {
        name: found?.name ?? `ruleset ${id}`,
        mayBypass: (way) =>
          bypassMode === 'always' ||
          bypassMode === 'exempt' ||
          (way === 'merge' && bypassMode === 'pull_requests_only'),
        bypassActors: found?.bypass_actors ?? null,
      };
    };
    if (ruleset_id === undefined)
      return Promise.resolve({ name: 'a ruleset', mayBypass: () => false, bypassActors: null });
    const known = asked.get(ruleset_id) ?? ask(ruleset_id);
    asked.set(ruleset_id, known);
    return known;
  };
}

/** Null: the branch is not protected. */
export async function readBinding(
  client: GithubClient,
  repository: HostRepository,
  branch: string,
  demands: GithubDemands,
  ourselves: Ourselves,
): Promise<Binding | null> {
  if (!demands.isClassic && demands.rules.length === 0) return null;
  const { owner, name: repo } = repository;
  const path = '/repos/{owner}/{repo}/branches/{branch}/protection';
  // If only administrators can read the protection, it is assumed not to bind Signalbox.
  const classic = demands.isClassic
    ? await client.read(path, { owner, repo, branch }, Protection, { absent: [403, 404] })
    : null;
  const ask = rulesetReader(client, repository);
  const ruled = await Promise.all(
    demands.rules.map(async (rule) => bindingOfRule(rule, branch, (await ask(rule)).mayBypass('push'))),
  );
  return [classic === null ? free : bindingOfProtection(classic, branch, ourselves), ...ruled].reduce(
    together,
  );
}

/** Rules that prevent creating, moving or deleting a test branch. */
const noTestBranch: ReadonlySet<string> = new Set([
  'creation',
  'update',
  'deletion',
  'pull_request',
  'required_signatures',
  'branch_name_pattern',
]);

const bindsTestBranch = ({ type, parameters }: Rule): boolean =>
  noTestBranch.has(type) ||
  (type === 'required_status_checks' && parameters?.do_not_enforce_on_create !== true);

export async function readTestBranchRule(
  client: GithubClient,
  repository: HostRepository,
  branch: string,
): Promise<string | null> {
  const { owner, name: repo } = repository;
  // GitHub also reports the rules of branches that do not exist.
  const test = `signalbox/${branch}/pr-1/00000000-0000-0000-0000-000000000000`;
  const parameters = { owner, repo, branch: test, per_page: 100 };
  const rules = await client.read('/repos/{owner}/{repo}/rules/branches/{branch}', parameters, Rules);
  const ask = rulesetReader(client, repository);
  for (const rule of (rules ?? []).filter(bindsTestBranch)) {
    const { name, mayBypass } = await ask(rule);
    if (!mayBypass('push')) return `${name} (${rule.type})`;
  }
  return null;
}

/** What the repository and its rules allow. */
export function listMergeMethods(
  settings: {
    readonly allow_merge_commit?: boolean | undefined;
    readonly allow_squash_merge?: boolean | undefined;
    readonly allow_rebase_merge?: boolean | undefined;
  },
  rules: readonly Rule[],
): readonly QueueSettings['mergeMethod'][] {
  const isLinear = rules.some(({ type }) => type === 'required_linear_history');
  const isAllowed = (method: string) =>
    rules.every(({ parameters }) => parameters?.allowed_merge_methods?.includes(method) ?? true);
  // GitHub omits these settings for accounts without push access: a method is then assumed to be allowed.
  const methods = [
    ['merge_commit', 'merge', settings.allow_merge_commit !== false && !isLinear],
    ['squash', 'squash', settings.allow_squash_merge !== false],
    ['rebase', 'rebase', settings.allow_rebase_merge !== false],
  ] as const;
  return methods.flatMap(([own, theirs, isOn]) => (isOn && isAllowed(theirs) ? [own] : []));
}

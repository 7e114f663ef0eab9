// What a branch asks for before it moves: classic protection and rulesets, as one list of rules with what is said when
// one is not met.
//
// A ruleset binds all but those it lets pass. Classic protection binds administrators only where it says so.

import type { PullRequestReviewDecision } from '@octokit/graphql-schema';
import { accessOfAccount } from './auth.ts';
import type { CheckRun, Principal, Protection, PullRequest, Repository, Rule, Ruleset } from './model.ts';

type Demand =
  | {
      readonly kind: 'checks';
      readonly contexts: readonly string[];
      readonly strict: boolean;
      /** Not of a branch that is only just made. */
      readonly spareCreation: boolean;
    }
  | {
      readonly kind: 'pull-request';
      readonly approvals: number;
      /** Null: as the repository allows. */
      readonly mergeMethods: readonly string[] | null;
    }
  | { readonly kind: 'name'; readonly isAllowed: (branch: string) => boolean; readonly words: string }
  | {
      readonly kind:
        'linear' | 'signed' | 'no-force' | 'no-deletion' | 'no-creation' | 'no-update' | 'merge-queue';
    };

type Source = 'protection' | 'ruleset';
export type Sourced = Demand & { readonly source: Source };

const matches = (pattern: string, name: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'))}$`,
  ).test(name);

export function protectionOf(repository: Repository, branch: string): Protection | null {
  const { protections } = repository;
  return (
    protections.find(({ pattern }) => pattern === branch) ??
    protections.find(({ pattern }) => matches(pattern, branch)) ??
    null
  );
}

function concerns({ include, exclude }: Ruleset, repository: Repository, branch: string): boolean {
  const names = (pattern: string) =>
    pattern === '~ALL' ||
    (pattern === '~DEFAULT_BRANCH' && branch === repository.defaultBranch) ||
    matches(pattern, `refs/heads/${branch}`);
  return include.some(names) && !exclude.some(names);
}

export const rulesetsOf = (repository: Repository, branch: string): readonly Ruleset[] =>
  repository.rulesets.filter(
    (ruleset) => ruleset.enforcement === 'active' && concerns(ruleset, repository, branch),
  );

export function mayBypass(ruleset: Ruleset, repository: Repository, principal: Principal): boolean {
  if (principal.kind === 'installation') return ruleset.bypassApps.includes(principal.installation.app.id);
  return principal.kind === 'user' && ruleset.bypassAdmins && isAdmin(repository, principal);
}

const isAdmin = (repository: Repository, principal: Principal): boolean =>
  principal.kind === 'user' && accessOfAccount(repository, principal.account) === 'admin';

/** The name under which lists of those allowed know a principal. */
const nameOf = (principal: Principal): string | null =>
  principal.kind === 'installation'
    ? principal.installation.app.slug
    : principal.kind === 'user'
      ? principal.account.login
      : null;

/** `{ operator: 'starts_with', pattern: 'feature/', negate: false }` */
function nameDemand(parameters: NonNullable<Rule['parameters']>): Demand {
  const { operator, pattern, negate } = parameters as Record<string, unknown>;
  const text = String(pattern);
  const fits = (branch: string): boolean => {
    switch (operator) {
      case 'starts_with':
        return branch.startsWith(text);
      case 'ends_with':
        return branch.endsWith(text);
      case 'contains':
        return branch.includes(text);
      default:
        return new RegExp(text).test(branch);
    }
  };
  return {
    kind: 'name',
    isAllowed: (branch) => fits(branch) !== (negate === true),
    words: `Branch name must ${negate === true ? 'not ' : ''}match a given pattern: ${text}`,
  };
}

function demandsOfRule({ type, parameters = {} }: Rule): readonly Demand[] {
  switch (type) {
    case 'required_status_checks': {
      const checks = parameters['required_status_checks'] as readonly { readonly context: string }[];
      return [
        {
          kind: 'checks',
          contexts: checks.map(({ context }) => context),
          strict: parameters['strict_required_status_checks_policy'] === true,
          spareCreation: parameters['do_not_enforce_on_create'] === true,
        },
      ];
    }
    case 'pull_request':
      return [
        {
          kind: 'pull-request',
          approvals: Number(parameters['required_approving_review_count'] ?? 0),
          mergeMethods: (parameters['allowed_merge_methods'] as readonly string[] | undefined) ?? null,
        },
      ];
    case 'required_linear_history':
      return [{ kind: 'linear' }];
    case 'non_fast_forward':
      return [{ kind: 'no-force' }];
    case 'deletion':
      return [{ kind: 'no-deletion' }];
    case 'creation':
      return [{ kind: 'no-creation' }];
    case 'update':
      return [{ kind: 'no-update' }];
    case 'merge_queue':
      return [{ kind: 'merge-queue' }];
    case 'required_signatures':
      return [{ kind: 'signed' }];
    case 'branch_name_pattern':
      return [nameDemand(parameters)];
    default:
      return [];
  }
}

function demandsOfProtection(
  protection: Protection,
  repository: Repository,
  principal: Principal,
): readonly Demand[] {
  const { checks, reviews, pushers, linearHistory, enforceAdmins } = protection;
  const isFree = !enforceAdmins && isAdmin(repository, principal);
  const name = nameOf(principal);
  const isOneOf = (names: readonly string[]) => name !== null && names.includes(name);
  const demands: readonly (Demand | false | null)[] = [
    !protection.allowForcePushes && { kind: 'no-force' },
    !protection.allowDeletions && { kind: 'no-deletion' },
    protection.locked && { kind: 'no-update' },
    !isFree && name !== null && pushers !== null && !isOneOf(pushers) && { kind: 'no-update' },
    !isFree && checks !== null && { kind: 'checks', ...checks, spareCreation: false },
    !isFree &&
      reviews !== null &&
      !isOneOf(reviews.bypass) && { kind: 'pull-request', approvals: reviews.approvals, mergeMethods: null },
    !isFree && linearHistory && { kind: 'linear' },
  ];
  return demands.filter((demand) => demand !== false && demand !== null);
}

/** Everything that binds a principal on a branch. */
export function demandsOn(repository: Repository, branch: string, principal: Principal): readonly Sourced[] {
  const protection = protectionOf(repository, branch);
  const classic = protection === null ? [] : demandsOfProtection(protection, repository, principal);
  const rules = rulesetsOf(repository, branch)
    .filter((ruleset) => !mayBypass(ruleset, repository, principal))
    .flatMap(({ rules }) => rules.flatMap(demandsOfRule));
  return [
    ...classic.map((demand): Sourced => ({ ...demand, source: 'protection' })),
    ...rules.map((demand): Sourced => ({ ...demand, source: 'ruleset' })),
  ];
}

export const passing: ReadonlySet<string | null> = new Set(['success', 'neutral', 'skipped']);

/** The newest run of each name and suite's App; older ones are history. */
export function latestRuns(repository: Repository, sha: string): readonly CheckRun[] {
  const runs = [...repository.runs.values()].filter(({ suite }) => suite.sha === sha);
  return [...new Map(runs.map((run) => [`${run.suite.app.id} ${run.name}`, run])).values()];
}

export const latestStatuses = (repository: Repository, sha: string) => [
  ...new Map(
    repository.statuses.filter((status) => status.sha === sha).map((status) => [status.context, status]),
  ).values(),
];

/** What is said of the required checks of a commit; null: all have passed. */
export function checksObjection(
  repository: Repository,
  sha: string,
  contexts: readonly string[],
): string | null {
  const statuses = latestStatuses(repository, sha);
  const runs = latestRuns(repository, sha);
  const words = contexts.flatMap((context) => {
    const status = statuses.find((one) => one.context === context);
    const run = runs.find(({ name }) => name === context);
    if (status === undefined && run === undefined) return [`Required status check "${context}" is expected.`];
    const states = [
      ...(status === undefined ? [] : [status.state]),
      ...(run === undefined ? [] : [run.status === 'completed' ? run.conclusion : 'pending']),
    ];
    if (states.every((state) => passing.has(state))) return [];
    return [
      states.some((state) => !passing.has(state) && state !== 'pending')
        ? `Required status check "${context}" is failing.`
        : `Required status check "${context}" is pending.`,
    ];
  });
  if (words.length < 2) return words[0] ?? null;
  return `${words.length} of ${contexts.length} required status checks are expected.`;
}

export function approvalsObjection({ reviews }: PullRequest, approvals: number): string | null {
  const words = [...reviews.values()];
  if (approvals === 0) return null;
  if (words.includes('changes_requested')) return 'Changes have been requested.';
  return words.filter((word) => word === 'approved').length >= approvals
    ? null
    : `At least ${approvals} approving review${approvals === 1 ? ' is' : 's are'} required by reviewers with write access.`;
}

/** Null: the branch asks for none. */
export function reviewDecision(repository: Repository, pull: PullRequest): PullRequestReviewDecision | null {
  const demands = demandsOn(repository, pull.baseRef, { kind: 'anonymous' });
  const approvals = Math.max(0, ...demands.map((one) => (one.kind === 'pull-request' ? one.approvals : 0)));
  if (approvals === 0) return null;
  if (approvalsObjection(pull, approvals) === null) return 'APPROVED';
  return [...pull.reviews.values()].includes('changes_requested') ? 'CHANGES_REQUESTED' : 'REVIEW_REQUIRED';
}

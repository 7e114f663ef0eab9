// What a branch asks for before it moves: classic protection and rulesets, as one list of rules with what is said when
// one is not met.
//
// A ruleset binds all but those it lets pass (GitHub docs, "About rulesets"). Classic protection binds administrators only
// where it says so ("About protected branches", "Do not allow bypassing the above settings"). An App that may bypass "for
// pull requests only" is bound by what it pushes, and free when it merges a pull request.

import { accessOfAccount } from './auth.ts';
import { contentRules, patternFits, patternWords } from './content-rule.ts';
import type { Principal, Protection, Repository, Rule, Ruleset } from './model.ts';
import type { RequiredCheck } from './required-check.ts';
import type { ReviewDemand } from './review-rule.ts';

type Demand =
  | {
      readonly kind: 'checks';
      readonly checks: readonly RequiredCheck[];
      readonly strict: boolean;
      /** Not of a branch that is only just made. */
      readonly spareCreation: boolean;
    }
  | {
      readonly kind: 'pull-request';
      readonly review: ReviewDemand;
      /** Null: as the repository allows. */
      readonly mergeMethods: readonly string[] | null;
    }
  /** What was done for the commit besides checks, by the names of `meet` in control.ts. */
  | {
      readonly kind: 'met';
      readonly facts: readonly string[];
      readonly message: string;
      readonly spareCreation: boolean;
    }
  /** Needs the pushed commits; see content-rule.ts. */
  | { readonly kind: 'content'; readonly rule: Rule }
  | { readonly kind: 'name'; readonly isAllowed: (branch: string) => boolean; readonly message: string }
  | {
      readonly kind:
        | 'linear'
        | 'no-force'
        | 'no-deletion'
        | 'no-creation'
        | 'no-update'
        | 'merge-queue'
        /** Of the merge of a pull request alone. */
        | 'conversations';
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

/** How the branch is to move: by a push, or by the merge of a pull request. */
export type Way = 'push' | 'merge';

export function mayBypass(ruleset: Ruleset, repository: Repository, principal: Principal, way: Way): boolean {
  const isListed =
    principal.kind === 'installation' && ruleset.bypassApps.includes(principal.installation.app.id);
  if (isListed) return way === 'merge' || ruleset.bypassMode !== 'pull_request';
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

const appIdOf = (id: unknown): number | null => (typeof id === 'number' && id > 0 ? id : null);

function checksDemand(parameters: NonNullable<Rule['parameters']>): Demand {
  const listed = parameters['required_status_checks'] as readonly {
    readonly context: string;
    readonly integration_id?: number;
  }[];
  return {
    kind: 'checks',
    checks: listed.map(({ context, integration_id: id }) => ({ context, appId: appIdOf(id) })),
    strict: parameters['strict_required_status_checks_policy'] === true,
    spareCreation: parameters['do_not_enforce_on_create'] === true,
  };
}

const pullRequestDemand = (parameters: NonNullable<Rule['parameters']>): Demand => ({
  kind: 'pull-request',
  review: {
    approvals: Number(parameters['required_approving_review_count'] ?? 0),
    dismissStale: parameters['dismiss_stale_reviews_on_push'] === true,
    codeOwners: parameters['require_code_owner_review'] === true,
    lastPush: parameters['require_last_push_approval'] === true,
    conversations: parameters['required_review_thread_resolution'] === true,
  },
  mergeMethods: (parameters['allowed_merge_methods'] as readonly string[] | undefined) ?? null,
});

function metDemand(type: string, parameters: NonNullable<Rule['parameters']>): Demand {
  const names = (key: string, field: string) =>
    ((parameters[key] ?? []) as readonly Readonly<Record<string, string>>[]).map((one) => one[field]!);
  const [facts, words] =
    type === 'required_deployments'
      ? [
          (parameters['required_deployment_environments'] as readonly string[]).map(
            (environment) => `deployment ${environment}`,
          ),
          'Required deployments have not succeeded.',
        ]
      : type === 'workflows'
        ? [
            names('workflows', 'path').map((path) => `workflow ${path}`),
            'Required workflows have not succeeded.',
          ]
        : type === 'code_scanning'
          ? [
              names('code_scanning_tools', 'tool').map((tool) => `code scanning ${tool}`),
              'Waiting for Code Scanning results.',
            ]
          : [['license compliance'], 'Waiting for license compliance results.'];
  return {
    kind: 'met',
    facts,
    message: words,
    spareCreation: parameters['do_not_enforce_on_create'] === true,
  };
}

/** Every type of GitHub's REST schema `repository-rule`; `copilot_code_review` only asks for a review and blocks nothing. */
function demandsOfRule({ type, parameters = {} }: Rule): readonly Demand[] {
  if (contentRules.has(type)) return [{ kind: 'content', rule: { type, parameters } }];
  switch (type) {
    case 'required_status_checks':
      return [checksDemand(parameters)];
    case 'pull_request':
      return [pullRequestDemand(parameters)];
    case 'required_deployments':
    case 'workflows':
    case 'code_scanning':
    case 'license_compliance_scanning':
      return [metDemand(type, parameters)];
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
    case 'branch_name_pattern':
      return [
        {
          kind: 'name',
          isAllowed: (branch) => patternFits(parameters, branch),
          message: patternWords('Branch name', parameters),
        },
      ];
    default:
      return [];
  }
}

function classicReview({ reviews }: Protection): Demand | null {
  if (reviews === null) return null;
  const { approvals, dismissStale = false, codeOwners = false, lastPush = false } = reviews;
  // Conversations are a switch of their own in classic protection.
  const review = { approvals, dismissStale, codeOwners, lastPush, conversations: false };
  return { kind: 'pull-request', review, mergeMethods: null };
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
  const isBarred = !isFree && name !== null && pushers !== null && !isOneOf(pushers);
  const required = (checks?.contexts ?? []).map((context) => ({
    context,
    appId: appIdOf(checks?.appIds?.[context]),
  }));
  const demands: readonly (Demand | false | null)[] = [
    !protection.allowForcePushes && { kind: 'no-force' },
    !protection.allowDeletions && { kind: 'no-deletion' },
    protection.locked && { kind: 'no-update' },
    isBarred && { kind: 'no-update' },
    isBarred && protection.blockCreations && { kind: 'no-creation' },
    !isFree &&
      checks !== null && { kind: 'checks', checks: required, strict: checks.strict, spareCreation: false },
    !isFree && !isOneOf(reviews?.bypass ?? []) && classicReview(protection),
    !isFree && protection.conversations && { kind: 'conversations' },
    !isFree && linearHistory && { kind: 'linear' },
    !isFree && protection.signatures && { kind: 'content', rule: { type: 'required_signatures' } },
  ];
  return demands.filter((demand) => demand !== false && demand !== null);
}

/** Everything that binds a principal on a branch. */
export function demandsOn(
  repository: Repository,
  branch: string,
  principal: Principal,
  way: Way,
): readonly Sourced[] {
  const protection = protectionOf(repository, branch);
  const classic = protection === null ? [] : demandsOfProtection(protection, repository, principal);
  const rules = rulesetsOf(repository, branch)
    .filter((ruleset) => !mayBypass(ruleset, repository, principal, way))
    .flatMap(({ rules }) => rules.flatMap(demandsOfRule));
  return [
    ...classic.map((demand): Sourced => ({ ...demand, source: 'protection' })),
    ...rules.map((demand): Sourced => ({ ...demand, source: 'ruleset' })),
  ];
}

/** What the branch asks of the reviews of any pull request. */
export const reviewDemands = (repository: Repository, branch: string): readonly ReviewDemand[] =>
  demandsOn(repository, branch, { kind: 'anonymous' }, 'merge').flatMap((demand) =>
    demand.kind === 'pull-request' ? [demand.review] : [],
  );

// What a branch requires, by classic protection and by rulesets. Both are read through endpoints that need
// only read access, so that the App needs no administration permission.

import type { RequiredCheck } from '#core/queue/check.ts';
import { checkName } from '#core/queue/text/message.ts';
import { combineRequiredChecks } from '#core/queue/rule.ts';
import type { HostRepository } from '../../host.ts';
import { type GithubClient, together } from '../client/client.ts';
import { GithubBranch, type Rule, Rules } from '../schema.ts';

export type GithubDemands = {
  readonly branchExists: boolean;
  /** Classic protection is on. */
  readonly isClassic: boolean;
  /** Null: neither requires any. */
  readonly requiredChecks: readonly RequiredCheck[] | null;
  readonly rules: readonly Rule[];
  /** Reviews are required; or they may be, and only administrators can see. */
  readonly mayNeedReview: boolean;
  /** A ruleset requires every conversation to be resolved. */
  readonly needsResolved: boolean;
};

export async function readDemands(
  { read, readPages }: GithubClient,
  { owner, name: repo }: HostRepository,
  branch: string,
): Promise<GithubDemands> {
  const where = { owner, repo, branch };
  const readRules = async () => {
    const rules: Rule[] = [];
    for await (const page of readPages('/repos/{owner}/{repo}/rules/branches/{branch}', where, Rules))
      rules.push(...page);
    return rules;
  };
  const [found, rules] = await together(
    read('/repos/{owner}/{repo}/branches/{branch}', where, GithubBranch),
    readRules(),
  );
  const protection = found?.protection;
  const isClassic = found?.protected === true && protection?.enabled !== false;
  const classic = isClassic ? classicChecks(protection?.required_status_checks ?? null) : [];
  return {
    branchExists: found !== null,
    isClassic,
    requiredChecks: collectRequiredChecks(branch, classic, rules),
    rules,
    mayNeedReview: isClassic || rules.some(needsReview),
    needsResolved: rules.some(needsResolved),
  };
}

type ClassicChecks = NonNullable<NonNullable<GithubBranch['protection']>['required_status_checks']>;

/**
 * Classic protection (GitHub REST docs, "Branches", "Get a branch"): `checks` names the app of each; `contexts` is the
 * deprecated list of the same names, which is all that older servers answer with.
 */
export const classicChecks = (required: ClassicChecks | null): readonly RequiredCheck[] =>
  combineRequiredChecks(
    (required?.checks ?? []).map(({ context, app_id }) => boundCheck(context, app_id)),
    (required?.contexts ?? []).map((name) => ({ name, source: null })),
  );

/** GitHub REST docs, "Branch protection": an `app_id` of -1 lets any app report the check; null is the same. */
const boundCheck = (name: string, app: number | null | undefined): RequiredCheck => ({
  name,
  source: app === null || app === undefined || app === -1 ? null : `app:${app}`,
});

/**
 * The union of both. A ruleset names the app by `integration_id` (GitHub REST docs, "Rules": the optional
 * integration that the check must originate from). Signalbox's own check is not among them: it keeps people
 * from merging by hand, and passes only at the end. A branch that requires no checks is treated like an
 * unprotected one: otherwise everything could land on it untested.
 */
export function collectRequiredChecks(
  targetBranch: string,
  classic: readonly RequiredCheck[],
  rules: readonly Rule[],
): readonly RequiredCheck[] | null {
  const own = checkName({ targetBranch });
  const ruled = rules.flatMap(({ type, parameters }) =>
    type === 'required_status_checks' ? (parameters?.required_status_checks ?? []) : [],
  );
  const checks = combineRequiredChecks(
    classic,
    ruled.map(({ context, integration_id }) => boundCheck(context, integration_id)),
  ).filter(({ name }) => name !== own);
  const order = ({ name, source }: RequiredCheck): string => `${name}\0${source ?? ''}`;
  return checks.length === 0 ? null : checks.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}

const needsReview = (rule: Rule): boolean => {
  const { type, parameters = {} } = rule;
  return (
    needsResolved(rule) ||
    (type === 'pull_request' &&
      ((parameters.required_approving_review_count ?? 0) > 0 ||
        parameters.require_code_owner_review === true ||
        parameters.require_last_push_approval === true))
  );
};

const needsResolved = ({ type, parameters }: Rule): boolean =>
  type === 'pull_request' && parameters?.required_review_thread_resolution === true;

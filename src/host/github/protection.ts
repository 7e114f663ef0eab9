// What a branch asks for, by classic protection and by rulesets. Both are read in the ways that are open to whoever may
// read the repository, so that the App needs no right to administer it.

import { checkName } from '#core/queue/message.ts';
import type { HostRepository } from '../host.ts';
import { type Client, together } from './client.ts';
import { Branch, type Rule, Rules } from './schema.ts';

export type Demands = {
  readonly branchExists: boolean;
  /** Classic protection is on. */
  readonly isClassic: boolean;
  /** Null: neither asks for any. */
  readonly requiredChecks: readonly string[] | null;
  readonly rules: readonly Rule[];
  /** Reviews are asked for; or they may be, and only administrators can see. */
  readonly mayNeedReview: boolean;
};

export async function readDemands(
  { read, readPages }: Client,
  { owner, name: repo }: HostRepository,
  branch: string,
): Promise<Demands> {
  const where = { owner, repo, branch };
  const readRules = async () => {
    const rules: Rule[] = [];
    for await (const page of readPages('/repos/{owner}/{repo}/rules/branches/{branch}', where, Rules))
      rules.push(...page);
    return rules;
  };
  const [found, rules] = await together(
    read('/repos/{owner}/{repo}/branches/{branch}', where, Branch),
    readRules(),
  );
  const protection = found?.protection;
  const isClassic = found?.protected === true && protection?.enabled !== false;
  const classic = isClassic ? (protection?.required_status_checks?.contexts ?? []) : [];
  return {
    branchExists: found !== null,
    isClassic,
    requiredChecks: requiredChecksOf(branch, classic, rules),
    rules,
    mayNeedReview: isClassic || rules.some(needsReview),
  };
}

/**
 * The union of both. Ours is none of them: it is there to keep others from merging by hand, and passes when all is done.
 * A branch that asks for no check is as one without protection here: else it would be taken for one on which everything
 * may land untested.
 */
export function requiredChecksOf(
  targetBranch: string,
  classic: readonly string[],
  rules: readonly Rule[],
): readonly string[] | null {
  const own = checkName({ targetBranch });
  const ruled = rules.flatMap(({ type, parameters }) =>
    type === 'required_status_checks' ? (parameters?.required_status_checks ?? []) : [],
  );
  const names = new Set([...classic, ...ruled.map(({ context }) => context)]);
  names.delete(own);
  return names.size === 0 ? null : [...names].toSorted();
}

const needsReview = ({ type, parameters = {} }: Rule): boolean =>
  type === 'pull_request' &&
  ((parameters.required_approving_review_count ?? 0) > 0 || parameters.require_code_owner_review === true);

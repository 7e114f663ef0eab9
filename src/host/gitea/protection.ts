// What the protection of a branch asks for. Gitea itself says which of its rules counts for a branch, and shows the most of
// it with the branch, to everybody who may read it; the rule as a whole it shows to administrators.
//
// A required context may be a pattern, `ci / *`: whatever matches must have passed, and something must match. A run is told
// what it must pass when it starts, before CI has said anything; so a pattern stands for those contexts that it matches
// among what CI said of the tip of the branch. One that matches nothing there stays as it is: a check of that name never
// reports, so the run waits and says what for, and nothing lands untested. A branch that requires checks and names none
// requires all there are: that is the pattern `*`.
//
// What is pushed passes by what Gitea asks of reviews, and the queue cannot give any: a pull request that lacks them counts
// as one that cannot be merged (pull-request.ts).

import type { Clock } from '#base/clock.ts';
import { checkName } from '#core/queue/message.ts';
import type { HostRepository } from '../host.ts';
import { readStatuses } from './check.ts';
import { branchPath, type Client, repositoryPath } from './client.ts';
import { isPattern, matchesPattern } from './glob.ts';
import { createDatedShelf } from '#base/shelf.ts';
import { Branch, ProtectionRule, type Review, WholeRule } from './schema.ts';

export type Demands = {
  /** Null: there is no such branch. */
  readonly branch: Branch | null;
  /** Null: the branch is not protected, or we may not read how. */
  readonly rule: ProtectionRule | null;
  /**
   * Null: none. A branch that asks for no check is as one without protection here: else it would be taken for one on which
   * everything may land untested.
   */
  readonly requiredChecks: readonly string[] | null;
  /** Null: none are asked for. */
  readonly reviews: ReviewDemands | null;
};

type ReviewDemands = {
  readonly approvals: number;
  /** Those from before the last push do not count. */
  readonly freshOnly: boolean;
  /** Nobody whose word counts is against it. */
  readonly noRejection: boolean;
  /** Nobody whose word counts is still asked for it. */
  readonly noRequest: boolean;
};

/** The whole rule of a branch, as Gitea shows it to administrators of the repository; null otherwise. */
export async function readWholeRule(
  client: Client,
  repository: HostRepository,
  name: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const { organizationId } = repository;
  const path = repositoryPath(repository);
  const branch = await client.read(organizationId, Branch, { path: `${path}/branches/${branchPath(name)}` });
  const rule = branch?.protected === true ? branch.effective_branch_protection_name : '';
  if (rule === '') return null;
  const rulePath = `${path}/branch_protections/${branchPath(rule)}`;
  return client.read(organizationId, WholeRule, { path: rulePath });
}

export async function readDemands(
  client: Client,
  repository: HostRepository,
  name: string,
): Promise<Demands> {
  const { organizationId } = repository;
  const path = repositoryPath(repository);
  const branch = await client.read(organizationId, Branch, { path: `${path}/branches/${branchPath(name)}` });
  if (!branch?.protected) return { branch, rule: null, requiredChecks: null, reviews: null };
  const ruleName = branch.effective_branch_protection_name;
  const rulePath = `${path}/branch_protections/${branchPath(ruleName)}`;
  const rule = ruleName === '' ? null : await client.read(organizationId, ProtectionRule, { path: rulePath });
  return {
    branch,
    rule,
    requiredChecks: await requiredChecksOf(client, repository, branch),
    reviews: reviewDemandsOf(branch, rule),
  };
}

/** Ours is none of them: it is there to keep others from merging by hand, and passes when all is done. */
async function requiredChecksOf(
  client: Client,
  repository: HostRepository,
  branch: Branch,
): Promise<readonly string[] | null> {
  if (!branch.enable_status_check) return null;
  const own = checkName({ targetBranch: branch.name });
  const contexts = branch.status_check_contexts.length > 0 ? branch.status_check_contexts : ['*'];
  const reported = contexts.some(isPattern) ? await readStatuses(client, repository, branch.commit.id) : [];
  const names = expanded(
    contexts.filter((context) => context !== own),
    reported.flatMap(({ context }) => (context === own ? [] : [context])),
  );
  return names.length === 0 ? null : names;
}

export function expanded(contexts: readonly string[], reported: readonly string[]): readonly string[] {
  const names = contexts.flatMap((context) => {
    if (!isPattern(context)) return [context];
    const matching = reported.filter((name) => name === context || matchesPattern(context, name));
    return matching.length > 0 ? matching : [context];
  });
  return [...new Set(names)];
}

/** Where only the number of approvals is known, the rest counts as asked for with it. */
export function reviewDemandsOf(
  { required_approvals: approvals }: Pick<Branch, 'required_approvals'>,
  rule: ProtectionRule | null,
): ReviewDemands | null {
  const demands =
    rule === null
      ? { approvals, freshOnly: false, noRejection: approvals > 0, noRequest: false }
      : {
          approvals,
          freshOnly: rule.ignore_stale_approvals,
          noRejection: rule.block_on_rejected_reviews,
          noRequest: rule.block_on_official_review_requests,
        };
  return approvals > 0 || demands.noRejection || demands.noRequest ? demands : null;
}

/** As Gitea counts them: those of people whose word counts, and that nobody has dismissed. */
export function areReviewsEnough(demands: ReviewDemands, reviews: readonly Review[]): boolean {
  const counting = reviews.filter(({ official, dismissed }) => official && !dismissed);
  const approvals = counting.filter(
    ({ state, stale }) => state === 'APPROVED' && !(demands.freshOnly && stale),
  ).length;
  const has = (wanted: string) => counting.some(({ state }) => state === wanted);
  return (
    approvals >= demands.approvals &&
    !(demands.noRejection && has('REQUEST_CHANGES')) &&
    !(demands.noRequest && has('REQUEST_REVIEW'))
  );
}

export type DemandsOf = (repository: HostRepository, branch: string, asOf?: number) => Promise<Demands>;

/** Rules are changed by people, and not often. */
const keptMs = 30_000;

export function createDemandsOf(client: Client, clock: Clock): DemandsOf {
  const memory = createDatedShelf<Demands>(() => clock.now().getTime(), keptMs);
  return (repository, branch, asOf) =>
    memory(`${repository.id} ${branch}`, asOf, () => readDemands(client, repository, branch));
}

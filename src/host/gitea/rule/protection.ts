// What the protection of a branch requires. Gitea decides which of its rules applies to a branch, and shows
// most of it with the branch to everyone with read access; only administrators see the whole rule.
//
// A required context may be a pattern, `ci / *`: everything that matches must have passed, and something must
// match. The required checks of a run are fixed when it starts, before CI has reported anything, so a pattern
// stands for the contexts that it matches among the checks on the tip of the branch. A pattern that matches
// nothing there stays as it is: no check of that name ever reports, so the run waits and says what for, and
// nothing lands untested. A branch that requires checks and names none requires all there are: that is the
// pattern `*`.
//
// A push bypasses Gitea's review requirements, and the queue cannot provide reviews: a pull request that
// lacks them counts as not mergeable (pull-request.ts).

import type { Clock } from '#base/clock.ts';
import { checkName } from '#core/queue/text/message.ts';
import type { HostRepository } from '../../host.ts';
import { readStatuses } from '../client/check.ts';
import { branchPath, type Client, repositoryPath } from '../client/client.ts';
import { isPattern, matchesPattern } from './glob.ts';
import { createDatedCache } from '#base/ttl-cache.ts';
import { Branch, ProtectionRule, type GiteaReview, WholeRule } from '../schema.ts';

export type Demands = {
  /** Null: there is no such branch. */
  readonly branch: Branch | null;
  /** Null: the branch is not protected, or Signalbox may not read its rule. */
  readonly rule: ProtectionRule | null;
  /**
   * Null: none. A branch that requires no checks is treated like an unprotected one: otherwise everything
   * could land on it untested.
   */
  readonly requiredChecks: readonly string[] | null;
  /** Null: no reviews are required. */
  readonly reviews: ReviewDemands | null;
};

type ReviewDemands = {
  readonly approvals: number;
  /** Approvals from before the last push do not count. */
  readonly freshOnly: boolean;
  /** No official reviewer may have requested changes. */
  readonly noRejection: boolean;
  /** No review request to an official reviewer may be open. */
  readonly noRequest: boolean;
};

/** The whole rule of a branch, which Gitea shows to administrators of the repository; null otherwise. */
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
    requiredChecks: await resolveRequiredChecks(client, repository, branch),
    reviews: deriveReviewDemands(branch, rule),
  };
}

/**
 * Signalbox's own check is not among them: it keeps people from merging by hand, and passes only at the end.
 */
async function resolveRequiredChecks(
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

/** If only the number of approvals is known, a rejection is assumed to block as well. */
export function deriveReviewDemands(
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

/** Counts reviews as Gitea does: official ones that were not dismissed. */
export function areReviewsEnough(demands: ReviewDemands, reviews: readonly GiteaReview[]): boolean {
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

/** People change rules rarely. */
const keptMs = 30_000;

export function createDemandsReader(client: Client, clock: Clock): DemandsOf {
  const cache = createDatedCache<Demands>({
    ttlMs: keptMs,
    max: 10_000,
    now: () => clock.now().getTime(),
  });
  return (repository, branch, asOf) =>
    cache(`${repository.id} ${branch}`, asOf, () => readDemands(client, repository, branch));
}

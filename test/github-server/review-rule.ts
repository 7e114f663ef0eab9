// What the `pull_request` rule of rulesets and classic protection ask of the reviews of a pull request.
//
// - GitHub docs, "Available rules for rulesets", "Require a pull request before merging": approvals count from people with
//   write access; a person who requested changes must approve or be dismissed; stale approvals are dismissed by a push (see
//   push.ts); the last push must be approved by another person; any one of the code owners of a changed file is enough;
//   conversations must be resolved.
// - "About code owners": the last pattern that matches a file names its owners; the file is read from the base branch.

import type { PullRequestReviewDecision } from '@octokit/graphql-schema';
import { runGit } from '#git/run.ts';
import { accessOfAccount } from './auth.ts';
import { readFileAt } from './bare.ts';
import { atLeast, type PullRequest, type Repository, type Review } from './model.ts';

export type ReviewDemand = {
  readonly approvals: number;
  readonly dismissStale: boolean;
  readonly codeOwners: boolean;
  readonly lastPush: boolean;
  readonly conversations: boolean;
};

/** The review of each person that counts: comments take nothing back. */
export function standingReviews({ reviews }: PullRequest): readonly Review[] {
  const opinions = reviews.filter(({ state }) => state !== 'commented');
  return [...new Map(opinions.map((review) => [review.by.login, review])).values()];
}

const approvalsOf = (repository: Repository, pull: PullRequest): readonly Review[] =>
  standingReviews(pull).filter(
    ({ state, by }) =>
      state === 'approved' &&
      by.login !== pull.author.login &&
      atLeast(accessOfAccount(repository, by), 'write'),
  );

const needsReview = ({ approvals, codeOwners, lastPush }: ReviewDemand): boolean =>
  approvals > 0 || codeOwners || lastPush;

/** The words of GitHub for what the reviews lack; null: nothing. */
export async function reviewObjection(
  repository: Repository,
  pull: PullRequest,
  demand: ReviewDemand,
): Promise<string | null> {
  const approved = approvalsOf(repository, pull);
  const { approvals } = demand;
  if (needsReview(demand) && standingReviews(pull).some(({ state }) => state === 'changes_requested'))
    return 'Changes have been requested.';
  if (approved.length < approvals)
    return `At least ${approvals} approving review${approvals === 1 ? ' is' : 's are'} required by reviewers with write access.`;
  if (demand.codeOwners) {
    const logins = new Set(approved.map(({ by }) => by.login.toLowerCase()));
    const missing = (await ownersOfChanges(repository, pull)).find((owners) =>
      owners.every((owner) => !logins.has(owner)),
    );
    if (missing !== undefined) return `Waiting on code owner review from ${missing.join(', ')}.`;
  }
  const isFresh = ({ sha, by }: Review) => sha === pull.headSha && by.login !== pull.lastPush.by.login;
  if (demand.lastPush && !approved.some(isFresh))
    return 'New changes require approval from someone other than the last pusher.';
  return demand.conversations ? conversationObjection(pull) : null;
}

export const conversationObjection = ({ threads }: PullRequest): string | null =>
  threads.every(({ isResolved }) => isResolved)
    ? null
    : 'A conversation must be resolved before this pull request can be merged.';

/** GitHub GraphQL docs, `PullRequestReviewDecision`; null: the branch asks for no review. Conversations have no part in it. */
export async function reviewDecision(
  repository: Repository,
  pull: PullRequest,
  demands: readonly ReviewDemand[],
): Promise<PullRequestReviewDecision | null> {
  const asked = demands.filter(needsReview);
  if (asked.length === 0) return null;
  for (const demand of asked)
    if ((await reviewObjection(repository, pull, { ...demand, conversations: false })) !== null)
      return standingReviews(pull).some(({ state }) => state === 'changes_requested')
        ? 'CHANGES_REQUESTED'
        : 'REVIEW_REQUIRED';
  return 'APPROVED';
}

type OwnerLine = { readonly isMatch: (path: string) => boolean; readonly owners: readonly string[] };

function ownerLine(line: string): readonly OwnerLine[] {
  const [pattern = '', ...owners] = line.replace(/#.*/, '').trim().split(/\s+/);
  if (pattern === '') return [];
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const body = pattern
    .replace(/^\//, '')
    .replace(/\/$/, '')
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'));
  const expression = new RegExp(`^${isAnchored ? '' : '(.*/)?'}${body}(/.*)?$`);
  return [
    {
      isMatch: (path) => expression.test(path),
      owners: owners.map((owner) => owner.replace(/^@/, '').toLowerCase()),
    },
  ];
}

const ownerFiles = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'];

/** The owners of each changed file that has any. */
async function ownersOfChanges(
  { directory }: Repository,
  { baseRef, headSha }: PullRequest,
): Promise<readonly (readonly string[])[]> {
  const base = `refs/heads/${baseRef}`;
  let text: string | null = null;
  for (const path of ownerFiles) text ??= await readFileAt(directory, base, path);
  const lines = (text ?? '').split('\n').flatMap(ownerLine);
  const args = ['diff', '--name-only', '-z', `${base}...${headSha}`];
  const { stdout } = await runGit({ directory }, { args });
  const paths = stdout.toString().split('\0').filter(Boolean);
  return paths.flatMap((path) => {
    const owners = lines.findLast(({ isMatch }) => isMatch(path))?.owners ?? [];
    return owners.length === 0 ? [] : [owners];
  });
}

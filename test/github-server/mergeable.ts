// Whether a pull request can be merged, and the test merge commit that shows it: `refs/pull/N/merge`, first parent the base
// as it was then, second the head.
//
// GitHub docs, "Using the REST API to interact with your Git database", "Checking mergeability of pull requests": getting,
// creating or editing a pull request starts a background job that makes the test merge; until it is done `mergeable` is
// null. Nothing else renews it: after a push to the base the ref is out of date until the pull request is read again.
// "Events that trigger workflows", `pull_request`: workflows run on that ref, so a push to the head makes it too, and none
// run while there is a conflict: then there is no ref.
//
//   dirty     in conflict              blocked   the branch asks for more      unstable  a check that is not required fails
//   draft     not ready                behind    must contain the base first   clean     can be merged

import { setTimeout as sleep } from 'node:timers/promises';
import { changeRefs } from '#host/sandbox/git.ts';
import { findCommit } from './known.ts';
import { contains } from './bare.ts';
import { makeMerge } from './merge.ts';
import type { Mergeability, MergeMethod, Principal, PullRequest, Repository, Site } from './model.ts';
import { contentObjection, type Range } from './content-rule.ts';
import { demandsOn, type Sourced } from './policy.ts';
import { checksObjection, latestRuns, latestStatuses, passing } from './required-check.ts';
import { conversationObjection, reviewObjection } from './review-rule.ts';

export type Verdict = {
  readonly mergeable: boolean | null;
  readonly state: 'unknown' | 'dirty' | 'draft' | 'blocked' | 'behind' | 'unstable' | 'clean';
  readonly testMerge: string | null;
};

const unknown: Verdict = { mergeable: null, state: 'unknown', testMerge: null };

/** Somebody whom no exception is made for. */
const anybody: Principal = { kind: 'anonymous' };

/** The verdict as it is known; the work is begun if it is not. */
export async function verdictOn(site: Site, repository: Repository, pull: PullRequest): Promise<Verdict> {
  if (pull.state === 'closed') return unknown;
  const base = await findCommit(repository.directory, `refs/heads/${pull.baseRef}`);
  if (base === null) return unknown;
  const { headSha: head } = pull;
  const known = pull.mergeability;
  if (known?.head !== head || known.base !== base) {
    beginTestMerge(site, repository, pull, base);
    return unknown;
  }
  if (known.result === null) return unknown;
  const { isMergeable, testMerge } = known.result;
  if (!isMergeable) return { mergeable: false, state: 'dirty', testMerge: null };
  return { mergeable: true, state: await stateOf(repository, pull, base), testMerge };
}

function beginTestMerge(site: Site, repository: Repository, pull: PullRequest, base: string): void {
  const { headSha: head } = pull;
  pull.mergeability = { head, base, result: null };
  site.inBackground(sleep(site.mergeabilityMs).then(() => workOut(site, repository, pull, head, base)));
}

/** After the head moved, or the pull request was opened or edited. */
export async function renewTestMerge(site: Site, repository: Repository, pull: PullRequest): Promise<void> {
  const base = await findCommit(repository.directory, `refs/heads/${pull.baseRef}`);
  if (pull.state === 'open' && base !== null) beginTestMerge(site, repository, pull, base);
}

/** A closed pull request has no test merge. */
export async function dropTestMerge({ directory }: Repository, pull: PullRequest): Promise<void> {
  pull.mergeability = null;
  await changeRefs(directory, [{ ref: `refs/pull/${pull.number}/merge`, to: null }]);
}

async function workOut(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  head: string,
  base: string,
): Promise<void> {
  const message = `Merge ${head} into ${base}`;
  const author = { name: 'GitHub', email: 'noreply@github.com' };
  const at = site.clock.now();
  const { directory } = repository;
  const testMerge = await makeMerge(directory, { method: 'merge', base, head, author, message, at });
  const isCurrent = (known: Mergeability | null) => known?.head === head && known.base === base;
  if (!isCurrent(pull.mergeability)) return;
  await changeRefs(directory, [{ ref: `refs/pull/${pull.number}/merge`, to: testMerge ?? null }]);
  pull.mergeability = { head, base, result: { isMergeable: testMerge !== null, testMerge } };
}

async function stateOf(repository: Repository, pull: PullRequest, base: string): Promise<Verdict['state']> {
  if (pull.draft) return 'draft';
  const objection = await mergeObjection(repository, pull, base, anybody);
  if (objection !== null) return objection.isBehind ? 'behind' : 'blocked';
  const { headSha } = pull;
  const isRed =
    latestStatuses(repository, headSha).some(({ state }) => state !== 'success') ||
    latestRuns(repository, headSha).some(({ conclusion }) => !passing.has(conclusion));
  return isRed ? 'unstable' : 'clean';
}

type Objection = { readonly message: string; readonly isBehind: boolean };

/** What one demand still asks of a pull request. */
async function objectionTo(
  repository: Repository,
  pull: PullRequest,
  base: string,
  demand: Sourced,
): Promise<Objection | null> {
  const no = (message: string | null, isBehind = false) => (message === null ? null : { message, isBehind });
  switch (demand.kind) {
    case 'checks': {
      const words = checksObjection(repository, pull.headSha, demand.checks);
      if (words !== null || !demand.strict || (await contains(repository.directory, base, pull.headSha)))
        return no(words);
      const { length } = demand.checks;
      return no(`${length} of ${length} required status checks are expected.`, true);
    }
    case 'pull-request':
      return no(await reviewObjection(repository, pull, demand.review));
    case 'conversations':
      return no(conversationObjection(pull));
    case 'met':
      return no(
        demand.facts.every((fact) => repository.met.has(`${pull.headSha} ${fact}`)) ? null : demand.message,
      );
    case 'merge-queue':
      return no('Changes must be made through the merge queue');
    case 'no-update':
      return no("You're not authorized to push to this branch.");
    default:
      return null;
  }
}

/** What the branch still asks of a pull request before somebody may merge it. */
export async function mergeObjection(
  repository: Repository,
  pull: PullRequest,
  base: string,
  principal: Principal,
): Promise<Objection | null> {
  for (const demand of demandsOn(repository, pull.baseRef, principal, 'merge')) {
    const found = await objectionTo(repository, pull, base, demand);
    if (found !== null)
      return demand.source === 'ruleset'
        ? { ...found, message: `Repository rule violations found\n\n${found.message}` }
        : found;
  }
  return null;
}

/** What the branch has against a way of merging. */
export function methodObjection(
  repository: Repository,
  { baseRef }: PullRequest,
  method: MergeMethod,
  principal: Principal,
): string | null {
  const demands = demandsOn(repository, baseRef, principal, 'merge');
  if (method === 'merge' && demands.some(({ kind }) => kind === 'linear'))
    return 'This branch must not contain merge commits.';
  const isBarred = demands.some(
    (demand) => demand.kind === 'pull-request' && demand.mergeMethods?.includes(method) === false,
  );
  return isBarred ? `Repository rule violations found\n\nThe ${method} method is not allowed.` : null;
}

/** What the branch has against the commits that a merge would bring. */
export async function mergedContentObjection(
  repository: Repository,
  { baseRef }: PullRequest,
  range: Range,
  principal: Principal,
): Promise<string | null> {
  for (const demand of demandsOn(repository, baseRef, principal, 'merge')) {
    if (demand.kind !== 'content') continue;
    const words = await contentObjection({ directory: repository.directory }, range, demand.rule);
    if (words !== null)
      return demand.source === 'ruleset' ? `Repository rule violations found\n\n${words}` : words;
  }
  return null;
}

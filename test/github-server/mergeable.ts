// Whether a pull request can be merged. As on GitHub the answer takes a moment: the first to ask is told null, and finds
// the answer when it asks again. It is forgotten when the head or the base moves.
//
//   dirty     in conflict              blocked   the branch asks for more      unstable  a check that is not required fails
//   draft     not ready                behind    must contain the base first   clean     can be merged

import { setTimeout as sleep } from 'node:timers/promises';
import { changeRefs, findCommit } from '#host/sandbox/git.ts';
import { contains } from './bare.ts';
import { makeMerge } from './merge.ts';
import type { Mergeability, MergeMethod, Principal, PullRequest, Repository, Site } from './model.ts';
import {
  approvalsObjection,
  checksObjection,
  demandsOn,
  latestRuns,
  latestStatuses,
  passing,
  type Sourced,
} from './policy.ts';

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
    pull.mergeability = { head, base, result: null };
    site.inBackground(sleep(site.mergeabilityMs).then(() => workOut(site, repository, pull, head, base)));
    return unknown;
  }
  if (known.result === null) return unknown;
  const { isMergeable, testMerge } = known.result;
  if (!isMergeable) return { mergeable: false, state: 'dirty', testMerge: null };
  return { mergeable: true, state: await stateOf(repository, pull, base), testMerge };
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
      const words = checksObjection(repository, pull.headSha, demand.contexts);
      if (words !== null || !demand.strict || (await contains(repository.directory, base, pull.headSha)))
        return no(words);
      const { length } = demand.contexts;
      return no(`${length} of ${length} required status checks are expected.`, true);
    }
    case 'pull-request':
      return no(approvalsObjection(pull, demand.approvals));
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
  for (const demand of demandsOn(repository, pull.baseRef, principal)) {
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
  const demands = demandsOn(repository, baseRef, principal);
  if (method === 'merge' && demands.some(({ kind }) => kind === 'linear'))
    return 'This branch must not contain merge commits.';
  const isBarred = demands.some(
    (demand) => demand.kind === 'pull-request' && demand.mergeMethods?.includes(method) === false,
  );
  return isBarred ? `Repository rule violations found\n\nThe ${method} method is not allowed.` : null;
}

// The commits that a landing puts on the branch.

import type { IntendedLanding } from '#db/run/landing-store.ts';
import { buildCandidate, type Candidate } from '#git/candidate/candidate.ts';
import { GitError } from '#git/error.ts';
import type { HostSession } from '../at-host.ts';
import { toTestCommitMembers } from '../queue/publish.ts';

export type Wanted = Omit<Extract<Candidate, { kind: 'built' }>, 'kind'>;

type LandingCommits =
  | ({ readonly kind: 'built' } & Wanted)
  | { readonly kind: 'conflict' }
  | { readonly kind: 'missing'; readonly pr: number };

/**
 * The run's own commits if they are based on the branch, else the same changes rebuilt on the current branch.
 */
export async function prepareLandingCommits(
  landing: IntendedLanding,
  { mirror }: HostSession,
): Promise<LandingCommits> {
  const { baseSha: base, method, run, proof, queue, members } = landing;
  const build = () => buildCandidate(mirror, { base, members: toTestCommitMembers(members, 0), method });
  // The worker that built the run has all commits; another worker has to fetch them first.
  const candidate = await build().catch(async (error: unknown) => {
    if (!(error instanceof GitError) || error.kind !== 'missing') throw error;
    const pulls = members.map(({ number, headSha: sha }) => ({ number, sha }));
    const { missing } = await mirror.fetch({ branch: queue.targetBranch, pulls });
    const [gone] = missing;
    return gone === undefined ? build() : { kind: 'missing' as const, pr: gone.number };
  });
  if (candidate.kind !== 'built') return candidate.kind === 'missing' ? candidate : { kind: 'conflict' };
  if (run === null || proof !== 'exact' || candidate.sha === run.sha) return candidate;
  // A run that repeats another has a different last commit.
  const last = candidate.commits.at(-1)!;
  const own = { number: last.number, sha: run.sha, tree: run.tree };
  const before = candidate.commits.at(-2)?.sha ?? base;
  return (await standsOn(mirror, before, run.sha))
    ? { kind: 'built', sha: run.sha, tree: run.tree, commits: [...candidate.commits.slice(0, -1), own] }
    : candidate;
}

/** Whether a commit of a run follows this state of the branch. */
const standsOn = (mirror: HostSession['mirror'], before: string, sha: string): Promise<boolean> =>
  mirror.contains(before, sha).catch(() => false);

// Which pull request broke a test? The test passed on one commit of the default branch and fails on a later one. What
// landed in between are the candidates: pull requests that the queue landed, and commits that were merged or
// pushed without the queue.
//
// One candidate is named as the likeliest, by the first of these rules that names one:
//
//   1. There is one candidate only, every commit in between is known, and a pull request made it.
//   2. One candidate has more evidence than every other one. Evidence is, from the strongest:
//        - the test failed in the same way with this pull request before anything in between had landed
//        - it changed the file of the test
//   3. Otherwise none: all are listed, and none of them gets a comment.
//
// A failure is evidence only if nothing else explains it. In a run of the queue all members may be the cause, so a run
// counts if one of its members is a candidate. A pull request is tested on top of the branch, so failures from the time
// when a candidate was on the branch already do not count.
//
// Example. `adds` passed on 1a2b3c4 and fails on 9f8e7d6. In between #7 and #8 landed, and CI had failed on `adds` in #8
// an hour before: #8 is the likeliest. Had it failed in neither of them, both would be listed, and no comment written.

/** A commit of the branch, as the queue landed it. */
export type LandedCommit = {
  /** The last commit of the pull request. */
  readonly sha: string;
  readonly prNumber: number;
  readonly title: string;
  readonly url: string;
  readonly queueId: string;
  readonly method: 'merge_commit' | 'squash' | 'rebase';
  /** The commit of the branch before it. */
  readonly before: string;
  /** Milliseconds. */
  readonly landedAt: number;
};

/** What may have broken a test: a pull request, or a commit that no pull request of the queue made. */
export type CommitCandidate = { readonly sha: string; readonly landed: LandedCommit | null };

export type CommitRange = {
  /** Oldest first. */
  readonly candidates: readonly CommitCandidate[];
  /** Every commit in between is among them. */
  readonly isComplete: boolean;
};

/** The commits of the branch in between as git lists them, newest first, and those of them that the queue landed. */
export function attributeCommits(
  shas: readonly string[],
  landed: ReadonlyMap<string, LandedCommit>,
): readonly CommitCandidate[] {
  const candidates: CommitCandidate[] = [];
  let current: LandedCommit | null = null;
  for (const sha of shas) {
    if (current !== null && sha === current.before) current = null;
    const own = landed.get(sha);
    if (own !== undefined) {
      candidates.push({ sha, landed: own });
      // A pull request that was rebased has several commits, and only its last one is recorded.
      current = own.method === 'rebase' ? own : null;
    } else if (current === null) candidates.push({ sha, landed: null });
  }
  return candidates.toReversed();
}

/**
 * The same without git, from the landings of the queue in their order. Where the branch moved between two of them, the
 * commit that it moved to is known, and those before it are not.
 */
export function chainLandings(
  landings: readonly LandedCommit[],
  passedSha: string,
  failedSha: string,
): CommitRange {
  const from = landings.findIndex(({ sha }) => sha === passedSha) + 1;
  const candidates: CommitCandidate[] = [];
  let tip = passedSha;
  let isComplete = true;
  const moveTo = (sha: string): void => {
    if (tip === sha) return;
    candidates.push({ sha, landed: null });
    isComplete = false;
    tip = sha;
  };
  for (const landed of landings.slice(from)) {
    moveTo(landed.before);
    if (tip === failedSha) break;
    candidates.push({ sha: landed.sha, landed });
    tip = landed.sha;
    if (tip === failedSha) break;
  }
  moveTo(failedSha);
  return { candidates, isComplete };
}

/** A failure of the test in the same way as on the branch, with pull requests that had not landed. */
export type EarlierFailure = {
  /** Milliseconds. */
  readonly at: number;
  /** The pull request, or all members of the run of the queue. */
  readonly prNumbers: readonly number[];
};

export type RankedCandidate = CommitCandidate & {
  readonly failedBefore: boolean;
  readonly changedFile: boolean;
};

export const culpritReasons = ['only', 'failed_before', 'changed_file'] as const;
export type CulpritReason = (typeof culpritReasons)[number];

export type RankedRange = {
  /** The likeliest first; among equals the newest first. */
  readonly candidates: readonly RankedCandidate[];
  readonly culprit: { readonly landed: LandedCommit; readonly reason: CulpritReason } | null;
};

export type CulpritEvidence = {
  readonly failures: readonly EarlierFailure[];
  /** Commits that changed the file of the test. */
  readonly changedFile: ReadonlySet<string>;
  /** When the last commit on which the test passed landed, milliseconds; null: not known. */
  readonly passedAt: number | null;
};

export function rankCandidates(
  { candidates, isComplete }: CommitRange,
  { failures, changedFile, passedAt }: CulpritEvidence,
): RankedRange {
  const isForeign = candidates.some(({ landed }) => landed === null);
  // When a commit that is not ours was pushed is not known: it was after the last pass.
  const cleanUntil = isForeign
    ? (passedAt ?? 0)
    : Math.min(...candidates.map(({ landed }) => landed!.landedAt));
  const failed = new Set(
    failures.flatMap(({ at, prNumbers }) => {
      const meant = candidates.filter(({ landed }) => landed !== null && prNumbers.includes(landed.prNumber));
      return at < cleanUntil && meant.length === 1 ? [meant[0]!.sha] : [];
    }),
  );
  const ranked = candidates
    .toReversed()
    .map((candidate): RankedCandidate => ({
      ...candidate,
      failedBefore: failed.has(candidate.sha),
      changedFile: changedFile.has(candidate.sha),
    }))
    .toSorted((a, b) => scoreOf(b) - scoreOf(a));
  return { candidates: ranked, culprit: chooseCulprit(ranked, isComplete) };
}

const scoreOf = ({ failedBefore, changedFile }: RankedCandidate): number =>
  (failedBefore ? 2 : 0) + (changedFile ? 1 : 0);

function chooseCulprit(ranked: readonly RankedCandidate[], isComplete: boolean): RankedRange['culprit'] {
  const [first, second] = ranked;
  if (first === undefined || first.landed === null) return null;
  const { landed } = first;
  if (second === undefined && isComplete) return { landed, reason: 'only' };
  const score = scoreOf(first);
  if (score === 0 || (second !== undefined && score === scoreOf(second))) return null;
  return { landed, reason: first.failedBefore ? 'failed_before' : 'changed_file' };
}

/** The command that undoes a landed pull request in a clone; a person runs it, reviews it and submits it. */
export function revertCommand({ method, before, sha }: LandedCommit): string {
  if (method === 'merge_commit') return `git revert -m 1 ${sha}`;
  return method === 'squash' ? `git revert ${sha}` : `git revert ${before}..${sha}`;
}

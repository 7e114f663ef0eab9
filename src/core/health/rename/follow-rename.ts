// A rename is suspected when it is seen once, and believed after it holds on further commits: a test that is gone for one
// run may have been skipped, or its job was cut short.
//
//   suspected ──two further commits of the job: only the present name──► active
//       └──────the former name again, or neither──► refuted: it is forgotten
//   active ──both names in one run, or two commits in a row with the former name only──► ended: the former test is back
//
// If there are several default branches, such as main and release/*, commits are counted on the one of the rename. While the job
// runs the former test on another one, it is not gone.
//
// A run of an old commit, started again, has the former name: so one such run does not end a rename that is active.
// What a person stated or confirmed is not followed: it holds until a person undoes it.

export type FollowedRename = {
  readonly state: 'suspected' | 'active';
  readonly job: string;
  readonly variant: string;
  readonly branch: string;
  readonly agreed: number;
  readonly returned: number;
  /** The last commit that was counted; at first the one with which it began. */
  readonly lastSha: string;
};

/** What one complete run of the default branch has. */
export type SeenRun = {
  readonly job: string;
  readonly variant: string;
  readonly branch: string;
  readonly sha: string;
  readonly hasFormer: boolean;
  readonly hasTest: boolean;
};

/** Further commits that a suspected rename must hold on, and commits that end an active one. */
const agreedMin = 2;
const returnedMin = 2;

export type NextRename = Pick<FollowedRename, 'agreed' | 'returned' | 'lastSha'> & {
  readonly state: FollowedRename['state'] | 'refuted' | 'ended';
};

export function followRename(rename: FollowedRename, run: SeenRun): NextRename {
  const { state, agreed, returned, lastSha } = rename;
  const isSameJob = run.job === rename.job && run.variant === rename.variant;
  const isComparable = isSameJob && run.branch === rename.branch;
  const isCounted = isComparable && run.sha !== '' && run.sha !== lastSha;
  const same = { state, agreed, returned, lastSha };
  if (state === 'suspected') {
    // A slower job may still report an earlier commit, which has the former name.
    const isKnownCommit = run.sha !== '' && run.sha === lastSha;
    if (run.hasFormer && (run.hasTest || isSameJob || isKnownCommit)) return { ...same, state: 'refuted' };
    if (isComparable && !run.hasTest) return { ...same, state: 'refuted' };
    if (!isCounted) return same;
    return {
      ...same,
      state: agreed + 1 >= agreedMin ? 'active' : state,
      agreed: agreed + 1,
      lastSha: run.sha,
    };
  }
  if (run.hasFormer && run.hasTest) return { ...same, state: 'ended' };
  if (!isCounted) return same;
  if (run.hasTest) return returned === 0 ? same : { ...same, returned: 0, lastSha: run.sha };
  if (!run.hasFormer) return same;
  return {
    ...same,
    state: returned + 1 >= returnedMin ? 'ended' : state,
    returned: returned + 1,
    lastSha: run.sha,
  };
}

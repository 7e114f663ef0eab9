// Approvals of commits, from the reviews of a pull request as a Git host lists them.
//
// A review is about the commit that its reviewer saw. The last deciding review of a person counts: an
// approval that the same person followed with a request for changes no longer counts, and neither does one
// that was dismissed. A review that only comments decides nothing.

/** A review that approves a commit and still counts. Another module decides if the reviewer may approve. */
export type Approval = { readonly reviewer: string; readonly commit: string };

export type Review = {
  readonly reviewer: string;
  readonly commit: string;
  readonly decision: 'approved' | 'changes_requested' | 'dismissed';
};

/** Reviews oldest first. */
export function currentApprovals(reviews: readonly Review[]): readonly Approval[] {
  const last = new Map<string, Review>();
  for (const review of reviews) last.set(review.reviewer.toLowerCase(), review);
  return [...last.values()].flatMap(({ reviewer, commit, decision }) =>
    decision === 'approved' ? [{ reviewer, commit }] : [],
  );
}

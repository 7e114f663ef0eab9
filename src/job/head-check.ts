// The last look before a test commit is pushed to the repository, where its CI has secrets. The protected paths are those
// that each member changes in this very commit: on another base, or behind other members, a merge may bring what
// it did not bring when the head was examined.

import { approvalReasons, globsKey } from '#core/queue/head-gate.ts';
import type { AskedRun, MemberRecord, Publishing } from '#db/run-store.ts';
import type { Host } from '#host/host.ts';
import type { Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';
import { findApprover, readProtectedPaths, recordReview } from './head-review.ts';

type BuiltMembers = Pick<AskedRun, 'members' | 'baseSha'> & {
  /** Where each member leaves the branch, in their order. */
  readonly commits: readonly { readonly tree: string }[];
};

/** Whether a member may not be tested. Then that is recorded, and its entry is not ready until it is approved. */
export async function holdsUntestable(
  deps: TaskDeps,
  work: Pick<Publishing, 'queue' | 'repository'>,
  { host, mirror }: Place,
  { members, baseSha, commits }: BuiltMembers,
): Promise<boolean> {
  const { settings } = work.queue;
  let isHeld = false;
  let before = await mirror.treeOf(baseSha);
  for (const [index, member] of members.entries()) {
    const after = commits[index]!.tree;
    const paths = await readProtectedPaths(mirror, before, after, settings.protectedPaths);
    before = after;
    const isRefused = member.fork !== null && settings.forks === 'refuse';
    const needsApproval = approvalReasons(settings, member.fork, paths) !== null;
    if (!isRefused && (!needsApproval || approverOf(member) !== null)) continue;
    if (!isRefused) await recordReview(deps, work, host, member, paths);
    isHeld = true;
  }
  return isHeld;
}

const approverOf = ({ headReview, headSha }: MemberRecord): string | null =>
  headReview?.headSha === headSha ? headReview.approvedBy : null;

/** Asked of the host before a member lands: an approval that it needed may have been withdrawn since. */
export async function lacksApproval(
  { queue, repository }: Pick<Publishing, 'queue' | 'repository'>,
  host: Host,
  member: MemberRecord,
): Promise<boolean> {
  const { settings } = queue;
  if (member.fork !== null && settings.forks === 'refuse') return true;
  const { headReview: review } = member;
  // Compared with other globs: it is examined again, and leaves the line if it must.
  const paths = review?.globs === globsKey(settings.protectedPaths) ? review.protectedPaths : [];
  if (approvalReasons(settings, member.fork, paths) === null) return false;
  return (await findApprover(host, repository, member)) === null;
}

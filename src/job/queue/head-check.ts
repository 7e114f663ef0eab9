// The last check before a test commit is pushed to the repository, where its CI has secrets. The protected
// paths are those that each member changes in this very commit: on another base, or behind other members, a
// merge may contain changes that were not there when the head was examined.

import { approvalReasons, globsKey } from '#core/queue/rule/head-gate.ts';
import type { AskedRun, MemberRecord, Publishing } from '#db/run/run-store.ts';
import type { Host } from '#host/host.ts';
import type { HostSession } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';
import { findApprover, readProtectedPaths, recordReview } from './head-review.ts';

type BuiltMembers = Pick<AskedRun, 'members' | 'baseSha'> & {
  /** Where each member leaves the branch, in their order. */
  readonly commits: readonly { readonly tree: string }[];
};

/** Whether a member may not be tested. That is recorded, and its entry is not ready until it is approved. */
export async function holdsUntestable(
  deps: TaskDeps,
  work: Pick<Publishing, 'queue' | 'repository'>,
  { host, mirror }: HostSession,
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
    if (!isRefused && (!needsApproval || findHeadApprover(member) !== null)) continue;
    if (!isRefused) await recordReview(deps, work, host, member, paths);
    isHeld = true;
  }
  return isHeld;
}

const findHeadApprover = ({ headReview, headSha }: MemberRecord): string | null =>
  headReview?.headSha === headSha ? headReview.approvedBy : null;

/** Read from the host before a member lands: a required approval may have been withdrawn since. */
export async function lacksApproval(
  { queue, repository }: Pick<Publishing, 'queue' | 'repository'>,
  host: Host,
  member: MemberRecord,
): Promise<boolean> {
  const { settings } = queue;
  if (member.fork !== null && settings.forks === 'refuse') return true;
  const { headReview: review } = member;
  // It was compared with other globs: it is examined again, and removed from the queue if it must be.
  const paths = review?.globs === globsKey(settings.protectedPaths) ? review.protectedPaths : [];
  if (approvalReasons(settings, member.fork, paths) === null) return false;
  return (await findApprover(host, repository, member)) === null;
}

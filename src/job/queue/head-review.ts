// What must be known about a head before it is tested (core/queue/rule/head-gate.ts): the protected paths
// that it changes, and who approved exactly that commit. The mirror provides the paths, because a host lists
// only the first of many; the host provides the approvals, each time again, because they can be withdrawn.
//
// The paths are those in which the branch differs with and without the pull request. The difference between
// the head and its merge base is not used: where histories cross there are several merge bases, and a merge
// may contain a change that the comparison with one of them does not show.

import { changeEntry } from '#command/change-entry.ts';
import { approvalReasons, globsKey, headGate } from '#core/queue/rule/head-gate.ts';
import { type HeadReview, type PullRequest, unknownFork } from '#core/queue/model.ts';
import type { QueueId } from '#base/id.ts';
import { findReviewedHead, type HeadsAtHost, loadHeads, type ReviewedHead } from '#db/host/head-view.ts';
import { enqueueRefresh, type JobPayloads } from '#db/job/job.ts';
import { isOwnTrouble } from '#git/error.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import type { Host, HostRepository } from '#host/host.ts';
import { atHost, type HostSession } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

/** Examines every head of a queue that was not examined, or was compared with other globs. */
export async function examineHeads(deps: TaskDeps, payload: JobPayloads['examine-heads']): Promise<void> {
  const { cell } = deps;
  const load = () => loadHeads(cell.db, payload.queueId);
  await atHost(deps, 'examine-heads', payload, load, async (work, place) => {
    const { queue, repository } = work;
    const heads = work.heads.filter((head) => headGate(queue.settings, head).kind === 'unexamined');
    if (heads.length === 0) return;
    const paths = await readPaths(work, place, heads);
    for (const { pullRequest } of heads) {
      const { number, fork } = pullRequest;
      const changed = paths.get(number);
      if (changed !== undefined)
        await recordReview(deps, { repository, queue }, place.host, pullRequest, changed);
      // An entry of an older release lacks the fork: the host reports where its head comes from.
      if (fork === unknownFork) await enqueueRefresh(cell.db, repository.id, number);
    }
  });
}

/**
 * The protected paths that a head changes, by number. A head that cannot be fetched changes none: it cannot
 * be tested either, and building its test commit reports that. Nothing is known while the branch does not
 * exist.
 */
async function readPaths(
  { queue }: HeadsAtHost,
  { mirror }: HostSession,
  heads: readonly ReviewedHead[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const { protectedPaths: globs } = queue.settings;
  if (globs.length === 0) return new Map(heads.map(({ pullRequest }) => [pullRequest.number, []]));
  const pulls = heads.map(({ pullRequest: { number, headSha: sha } }) => ({ number, sha }));
  const { tip, missing } = await mirror.fetch({ branch: queue.targetBranch, pulls });
  const gone = new Set(missing.map(({ number }) => number));
  const paths = new Map<number, readonly string[]>();
  if (tip === null) return paths;
  for (const { number, sha } of pulls)
    paths.set(number, gone.has(number) ? [] : await pathsOnTip(mirror, tip, sha, globs).catch(uncomparable));
  return paths;
}

/** A head that git cannot compare, such as one with millions of files, needs an approval: it may change anything. */
function uncomparable(error: unknown): readonly string[] {
  if (isOwnTrouble(error)) return ['files that could not be compared'];
  throw error;
}

/** A head that conflicts with the tip changes nothing yet: it is compared again when its test commit is built. */
async function pathsOnTip(
  mirror: Mirror,
  tip: string,
  head: string,
  globs: readonly string[],
): Promise<readonly string[]> {
  const merged = await mirror.merge(tip, head);
  if (merged.kind === 'conflict') return [];
  return readProtectedPaths(mirror, await mirror.treeOf(tip), merged.tree, globs);
}

const pathsShownMax = 10;

/** Paths come from the author of a pull request and are shown to others: possible markup is removed. */
const shownPaths = (paths: readonly string[]): readonly string[] =>
  paths.slice(0, pathsShownMax).map((path) => path.slice(0, 200).replaceAll(/[^\w./-]/g, '?'));

/** The protected paths in which two trees differ, safe to be shown. */
export const readProtectedPaths = (
  mirror: Mirror,
  before: string,
  after: string,
  globs: readonly string[],
): Promise<readonly string[]> => mirror.changedPaths(before, after, globs).then(shownPaths, uncomparable);

type Where = Pick<HeadsAtHost, 'queue' | 'repository'>;
type HeadToReview = Pick<PullRequest, 'number' | 'headSha' | 'author' | 'fork'>;

export async function recordReview(
  { cell, clock }: TaskDeps,
  { queue, repository }: Where,
  host: Host,
  pullRequest: HeadToReview,
  protectedPaths: readonly string[],
): Promise<void> {
  const { settings } = queue;
  const { number, headSha, fork } = pullRequest;
  const isGated = approvalReasons(settings, fork, protectedPaths) !== null;
  const approvedBy = isGated ? await findApprover(host, repository, pullRequest) : null;
  const review: HeadReview = {
    headSha,
    globs: globsKey(settings.protectedPaths),
    protectedPaths,
    approvedBy,
  };
  await changeEntry(
    { cell, queueId: queue.id, prNumber: number },
    () => ({ kind: 'examine', review }),
    clock.now(),
  );
}

/** A person with write access who approved exactly this head and is not its author. */
export async function findApprover(
  host: Host,
  repository: HostRepository,
  { number, headSha, author }: Omit<HeadToReview, 'fork'>,
): Promise<string | null> {
  for (const { reviewer, commit } of await host.readApprovals(repository, number)) {
    if (commit !== headSha || reviewer.toLowerCase() === author.toLowerCase()) continue;
    const permission = await host.permissionOf(repository, reviewer);
    if (permission === 'write' || permission === 'admin') return reviewer;
  }
  return null;
}

/** Called after the host reported a change: an approval may have been given or withdrawn. */
export async function refreshApproval(
  deps: TaskDeps,
  host: Host,
  queueId: QueueId,
  prNumber: number,
): Promise<void> {
  const found = await findReviewedHead(deps.cell.db, queueId, prNumber);
  if (found === null) return;
  const { queue, head } = found;
  const { headReview: review, pullRequest } = head;
  // A head that was not examined yet is examined as a whole.
  if (review === null || headGate(queue.settings, head).kind === 'unexamined') return;
  if (approvalReasons(queue.settings, pullRequest.fork, review.protectedPaths) === null) return;
  await recordReview(deps, found, host, pullRequest, review.protectedPaths);
}

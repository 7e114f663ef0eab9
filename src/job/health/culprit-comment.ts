// Writes the comment on the pull request that is the likely cause of broken tests: one for each landing, edited when further
// tests break or pass again. It is the least urgent text, so it waits while others use the host's write limit.

import { createHash } from 'node:crypto';
import { minuteMs } from '#base/duration.ts';
import { culpritComment, culpritCommentOver, culpritMark } from '#core/queue/text/culprit-comment.ts';
import { alone } from '#db/alone.ts';
import {
  claimCulpritComment,
  type CulpritComment,
  loadCulpritComment,
  recordCulpritComment,
} from '#db/run/breakage-store.ts';
import { enqueueForRepository, type JobPayloads } from '#db/job/job.ts';
import { listQueues } from '#db/queue/queue-view.ts';
import { findLandedCommits } from '#db/run/culprit-view.ts';
import { testPageUrl } from '#event/present-test.ts';
import { HostError } from '#host/host.ts';
import { type Served, withHost } from '../at-host.ts';
import { isCulpritCommentWorth } from '../comment-budget.ts';
import type { TaskDeps } from '../deps.ts';

type CulpritCommentPayload = JobPayloads['comment-culprit'];

/** While the write limit is in use the comment waits, up to six hours; then it is no news. */
const waitMs = 10 * minuteMs;
const waitsMax = 36;

export async function commentCulprit(deps: TaskDeps, payload: CulpritCommentPayload): Promise<void> {
  const { repositoryId, prNumber, sha } = payload;
  // Two workers would write the comment twice.
  const isOurs = await alone(deps.cell, `culprit ${repositoryId} ${prNumber} ${sha}`, () =>
    writeComment(deps, payload),
  );
  if (!isOurs) await enqueueForRepository(deps.cell.db, 'comment-culprit', payload, 1_000);
}

async function writeComment(deps: TaskDeps, payload: CulpritCommentPayload): Promise<void> {
  const { cell, clock, log } = deps;
  const { repositoryId, prNumber, waits = 0 } = payload;
  const known = await loadCulpritComment(cell.db, repositoryId, payload);
  // A comment that a worker may have written without recording it is looked for again.
  if (known.broken === 0 && known.comment_id === null) return;
  await withHost(deps, 'comment-culprit', payload, [], async (served) => {
    const body = await composeBody(deps, served, payload.sha, known);
    const textHash = body === null ? '' : createHash('sha256').update(body).digest('base64url');
    if (body === null || textHash === known.text_hash) return;
    const use = (await served.host.contentUse?.(served.repository)) ?? 0;
    if (!isCulpritCommentWorth(use)) {
      if (waits >= waitsMax)
        return log.warn({ repository: repositoryId, pullRequest: prNumber }, 'skipped a culprit comment');
      const next = { ...payload, waits: waits + 1 };
      return enqueueForRepository(cell.db, 'comment-culprit', next, waitMs);
    }
    const isNew = await claimCulpritComment(cell.db, repositoryId, payload, clock.now());
    const comment = { id: known.comment_id, mayExist: !isNew, mark: culpritMark(payload.sha), body };
    try {
      const commentId = await served.host.writeComment(served.repository, prNumber, comment);
      await recordCulpritComment(cell.db, repositoryId, payload, { commentId, textHash });
    } catch (error) {
      if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
      log.warn(
        { repository: repositoryId, pullRequest: prNumber, err: error },
        'not allowed to comment or set a check on this pull request',
      );
    }
  });
}

/** Null: there is nothing to say, or the queue writes no comments. */
async function composeBody(
  { cell, publicUrl }: TaskDeps,
  { repository }: Served,
  sha: string,
  known: CulpritComment,
): Promise<string | null> {
  const landed = (await findLandedCommits(cell.db, repository.id, [sha])).get(sha);
  const queue = (await listQueues(cell.reader, repository.id)).find(({ id }) => id === landed?.queueId);
  if (queue === undefined || !queue.settings.commentsEnabled) return null;
  const { broken, resolved, moved, tests, passed_sha, failed_sha, reason, revert } = known;
  if (tests === null || passed_sha === null || failed_sha === null || reason === null)
    return resolved + moved === 0
      ? null
      : culpritCommentOver(queue.targetBranch, moved === 0 ? 'resolved' : 'moved');
  return culpritComment({
    branch: queue.targetBranch,
    tests: tests.map(({ id, name }) => ({ name, pageUrl: testPageUrl(publicUrl, repository, id) })),
    broken,
    resolved,
    passedSha: passed_sha,
    failedSha: failed_sha,
    reason,
    revert,
  });
}

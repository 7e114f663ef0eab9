// Reports to pull requests where they are in the queue: the status comment, the queue's own check, and
// labels. A report describes the entry as it is now, so a burst of changes is reported once, and reporting
// twice does no harm.

import { createHash } from 'node:crypto';
import { isEnded } from '#core/queue/model.ts';
import {
  commentMark,
  ownCheck,
  stateLabels,
  statusComment,
  type LinkedStatus,
} from '#core/queue/text/message.ts';
import { alone } from '#db/alone.ts';
import { enqueueWithin, enqueueStatusComments, type JobPayloads } from '#db/job/job.ts';
import {
  loadDueStatusComments,
  recordTried,
  recordStatusComment,
  type DueStatusComments,
  type UnreportedEntry,
} from '#db/queue/status-comment-store.ts';
import { pullRequestPageUrl } from '#event/present-test.ts';
import { HostError } from '#host/host.ts';
import { atHost, type HostSession } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';
import { worthWriting } from '../comment-budget.ts';

/**
 * Entries are loaded a few at a time, so that each report is current. After this many turns other jobs get
 * theirs.
 */
const turnsMax = 50;

/** One job per queue at a time: two would write every comment twice. */
export async function reportStatuses(deps: TaskDeps, payload: JobPayloads['post-status']): Promise<void> {
  const { queueId } = payload;
  // The release before takes the lock by this name.
  const isOurs = await alone(deps.cell, `tell ${queueId}`, () => reportAllStatuses(deps, payload));
  // The job that is running may have read the due reports before this one was requested.
  if (!isOurs) await enqueueStatusComments(deps.cell.db, queueId, 'soon');
}

async function reportAllStatuses(deps: TaskDeps, payload: JobPayloads['post-status']): Promise<void> {
  const { queueId } = payload;
  const load = () => loadDueStatusComments(deps.cell.db, queueId);
  await atHost(deps, 'post-status', payload, load, async (first, place) => {
    let work: DueStatusComments | null = first;
    for (let turn = 0; turn < turnsMax; turn++) {
      if (work === null || work.due.length === 0) return;
      for (const entry of work.due) await reportStatus(deps, work, place, entry);
      // Another process may have reported something newer, which this report overwrote: the entry is then due
      // again.
      work = await load();
    }
    await enqueueWithin(deps.cell.db, 'post-status', { queueId }, 0);
  });
}

async function reportStatus(
  deps: TaskDeps,
  work: DueStatusComments,
  place: HostSession,
  unreportedEntry: UnreportedEntry,
): Promise<void> {
  const { cell, clock, commandNames, log, publicUrl } = deps;
  const { queue } = work;
  const { status, run, landing, refusal, branchRuleChange } = unreportedEntry;
  const { pullRequest, stageChangedAt, stage } = status.entry;
  const { number } = pullRequest;
  const now = clock.now();
  const commandName = commandNames[0] ?? 'signalbox';
  const pageUrl = pullRequestPageUrl(publicUrl, work.repository, queue.targetBranch, number);
  const statusReport: LinkedStatus = {
    queue,
    status,
    run,
    landing,
    refusal,
    branchRuleChange,
    commandName: commandName,
    pageUrl,
  };
  const body = statusComment(statusReport, now);
  const check = ownCheck(statusReport, now);
  // If comments are enabled, the comment repeats the summary of the check, so a change of it is not worth a
  // call.
  const shown = { ...check, summary: queue.settings.commentsEnabled ? '' : check.summary };
  const checkHash = hashText(JSON.stringify([pullRequest.headSha, shown]));
  const before = hashesIn(unreportedEntry.textHash);
  const moment = isEnded(stage) ? 'end' : before === null ? 'begin' : 'between';
  const use = (await place.host.contentUse?.(work.repository)) ?? 0;
  const worth = worthWriting(use, moment, before !== null && before.check !== notWritten);
  const next = {
    comment: worth.comment ? hashText(body) : (before?.comment ?? notWritten),
    check: worth.check ? checkHash : (before?.check ?? notWritten),
  };
  const isNew = { comment: next.comment !== before?.comment, check: next.check !== before?.check };
  let { commentId, isByLabel } = unreportedEntry;
  try {
    if ((worth.comment && isNew.comment) || (worth.check && isNew.check))
      commentId = await write(deps, work, place, unreportedEntry, {
        ...check,
        url: pageUrl,
        body,
        isCheckWritten: worth.check && isNew.check,
        isCommentWritten: worth.comment && isNew.comment,
      });
    if (isEnded(stage) && (isByLabel || isSuperseded(unreportedEntry, queue))) {
      const remove = [queue.settings.enqueueingLabel];
      await place.host.changeLabels(work.repository, number, { add: [], remove });
      isByLabel = false;
    }
  } catch (error) {
    // A status that the host forbids is skipped: it must not hold up the others, and a retry would not help.
    if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
    log.warn(
      { queue: queue.id, pullRequest: number, err: error },
      'not allowed to comment or set a check on this pull request',
    );
  }
  // If nothing was written yet, the next text counts as the first.
  const isWritten = next.comment !== notWritten || next.check !== notWritten;
  const writtenHash = isWritten ? `${next.comment} ${next.check}` : null;
  await recordStatusComment(cell.db, queue.id, number, {
    postedStateAt: stageChangedAt,
    commentId,
    isByLabel,
    textHash: writtenHash,
  });
}

/** In place of a hash: it was not written, to save the host's budget. */
const notWritten = '-';

/** The hashes of the comment and check that were written last; null: nothing yet. */
function hashesIn(text: string | null): { readonly comment: string; readonly check: string } | null {
  if (text === null) return null;
  const [comment = notWritten, check = ''] = text.split(' ');
  return { comment, check };
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * After a push or a close the label is always removed: it was added for an earlier state of the pull request.
 */
const isSuperseded = ({ status }: UnreportedEntry, { settings }: DueStatusComments['queue']): boolean => {
  const { stage } = status.entry;
  const isMoved = stage.kind === 'cancelled' && ['PR_PUSHED_TO', 'PR_CLOSED'].includes(stage.reason);
  return isMoved && settings.labelCommandsEnabled;
};

type StatusPost = ReturnType<typeof ownCheck> & {
  readonly url: string;
  readonly body: string;
  readonly isCheckWritten: boolean;
  readonly isCommentWritten: boolean;
};

/** Returns the id of the comment, if there is one. */
async function write(
  { cell }: TaskDeps,
  { queue, repository }: DueStatusComments,
  { host }: HostSession,
  { status, commentId, mayHaveComment }: UnreportedEntry,
  { body, isCheckWritten: isCheckWorth, isCommentWritten, ...check }: StatusPost,
): Promise<string | null> {
  const { settings } = queue;
  const { number, headSha } = status.entry.pullRequest;
  if (commentId === null && !mayHaveComment) await recordTried(cell.db, queue.id, number);
  const own = { ...check, mayExist: mayHaveComment };
  const comment = { id: commentId, mayExist: mayHaveComment, mark: commentMark(queue), body };
  const isCheckWritten = settings.statusCheckEnabled && isCheckWorth;
  const isCommented = settings.commentsEnabled && isCommentWritten;
  if (settings.stateLabelsEnabled)
    await host.changeLabels(repository, number, stateLabels(status.entry.stage.kind));
  if (isCheckWritten && isCommented && host.writeStatus !== undefined)
    return host.writeStatus(repository, number, { sha: headSha, check: own, comment });
  if (isCheckWritten) await host.writeCheck(repository, headSha, own);
  return isCommented ? host.writeComment(repository, number, comment) : commentId;
}

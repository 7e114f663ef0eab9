// Tells pull requests where they stand: the comment that follows them, the queue's own check, and labels. What is to be
// told is what the entry is now, so a burst of changes is told once, and telling twice does no harm.

import { createHash } from 'node:crypto';
import { isEnded } from '#core/queue/model.ts';
import { commentMark, ownCheck, stateLabels, statusComment, type Told } from '#core/queue/message.ts';
import { alone } from '#db/alone.ts';
import { enqueueWithin, enqueueTell, type JobPayloads } from '#db/job.ts';
import { loadTelling, recordTried, recordTold, type Telling, type UntoldEntry } from '#db/telling-store.ts';
import { HostError } from '#host/host.ts';
import { atHost, type Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';
import { worthWriting } from './tell-worth.ts';

/** A few at a time, so that what is told is fresh; after so many turns others have theirs. */
const turnsMax = 50;

/** One at a time: two would write every comment twice. */
export async function tell(deps: TaskDeps, payload: JobPayloads['tell']): Promise<void> {
  const { queueId } = payload;
  const isOurs = await alone(deps.cell, `tell ${queueId}`, () => tellAll(deps, payload));
  // Whoever is at it may have read what is to be told before this was asked for.
  if (!isOurs) await enqueueTell(deps.cell.db, queueId, 'soon');
}

async function tellAll(deps: TaskDeps, payload: JobPayloads['tell']): Promise<void> {
  const { queueId } = payload;
  const load = () => loadTelling(deps.cell.db, queueId);
  await atHost(deps, 'tell', payload, load, async (first, place) => {
    let work: Telling | null = first;
    for (let turn = 0; turn < turnsMax; turn++) {
      if (work === null || work.untold.length === 0) return;
      for (const entry of work.untold) await tellOne(deps, work, place, entry);
      // Somebody else may have told something newer meanwhile, which this has overwritten: then it is untold again.
      work = await load();
    }
    await enqueueWithin(deps.cell.db, 'tell', { queueId }, 0);
  });
}

async function tellOne(deps: TaskDeps, work: Telling, place: Place, untold: UntoldEntry): Promise<void> {
  const { cell, clock, commandWords, log } = deps;
  const { queue } = work;
  const { standing, run, landing, refusal, branchRuleChange } = untold;
  const { pullRequest, stageChangedAt, stage } = standing.entry;
  const { number } = pullRequest;
  const now = clock.now();
  const word = commandWords[0] ?? 'signalbox';
  const told: Told = { queue, standing, run, landing, refusal, branchRuleChange, word };
  const body = statusComment(told, now);
  const check = ownCheck(told, now);
  // Where comments are on, the summary of the check says what the comment says, and is not worth a call of its own.
  const shown = { ...check, summary: queue.settings.commentsEnabled ? '' : check.summary };
  const checkHash = hashOf(JSON.stringify([pullRequest.headSha, shown]));
  const before = hashesIn(untold.wordsHash);
  const moment = isEnded(stage) ? 'end' : before === null ? 'begin' : 'between';
  const use = (await place.host.contentUse?.(work.repository)) ?? 0;
  const worth = worthWriting(use, moment, before !== null && before.check !== notWritten);
  const next = {
    comment: worth.comment ? hashOf(body) : (before?.comment ?? notWritten),
    check: worth.check ? checkHash : (before?.check ?? notWritten),
  };
  const isNew = { comment: next.comment !== before?.comment, check: next.check !== before?.check };
  let { commentId, isByLabel } = untold;
  try {
    if ((worth.comment && isNew.comment) || (worth.check && isNew.check))
      commentId = await write(deps, work, place, untold, {
        ...check,
        body,
        isCheckWritten: worth.check && isNew.check,
        isCommentWritten: worth.comment && isNew.comment,
      });
    if (isEnded(stage) && (isByLabel || isSuperseded(untold, queue))) {
      const remove = [queue.settings.enqueueingLabel];
      await place.host.changeLabels(work.repository, number, { add: [], remove });
      isByLabel = false;
    }
  } catch (error) {
    // What the host will not let us say is left unsaid: it does not hold up the others, and trying again is of no use.
    if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
    log.warn({ queue: queue.id, pullRequest: number, err: error }, 'the host lets us say nothing here');
  }
  // Where nothing was written yet, the next text is a beginning.
  const isWritten = next.comment !== notWritten || next.check !== notWritten;
  const wordsHash = isWritten ? `${next.comment} ${next.check}` : null;
  await recordTold(cell.db, queue.id, number, { toldAt: stageChangedAt, commentId, isByLabel, wordsHash });
}

/** Instead of a hash: the host's budget was not worth it. */
const notWritten = '-';

/** What was written of comment and check; null: nothing yet. */
function hashesIn(text: string | null): { readonly comment: string; readonly check: string } | null {
  if (text === null) return null;
  const [comment = notWritten, check = ''] = text.split(' ');
  return { comment, check };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** After a push or a close the label is removed in any case: it was put on for what the pull request was before. */
const isSuperseded = ({ standing }: UntoldEntry, { settings }: Telling['queue']): boolean => {
  const { stage } = standing.entry;
  const isMoved = stage.kind === 'cancelled' && ['PR_PUSHED_TO', 'PR_CLOSED'].includes(stage.reason);
  return isMoved && settings.labelCommandsEnabled;
};

type Words = ReturnType<typeof ownCheck> & {
  readonly body: string;
  readonly isCheckWritten: boolean;
  readonly isCommentWritten: boolean;
};

/** Answers with the id of the comment, if there is one. */
async function write(
  { cell, publicUrl }: TaskDeps,
  { queue, repository }: Telling,
  { host }: Place,
  { standing, commentId, mayHaveComment }: UntoldEntry,
  { body, isCheckWritten: isCheckWorth, isCommentWritten, ...check }: Words,
): Promise<string | null> {
  const { settings } = queue;
  const { number, headSha } = standing.entry.pullRequest;
  if (commentId === null && !mayHaveComment) await recordTried(cell.db, queue.id, number);
  const own = { ...check, url: publicUrl, mayExist: mayHaveComment };
  const comment = { id: commentId, mayExist: mayHaveComment, mark: commentMark(queue), body };
  const isCheckWritten = settings.statusCheckEnabled && isCheckWorth;
  const isCommented = settings.commentsEnabled && isCommentWritten;
  if (settings.stateLabelsEnabled)
    await host.changeLabels(repository, number, stateLabels(standing.entry.stage.kind));
  if (isCheckWritten && isCommented && host.writeStatus !== undefined)
    return host.writeStatus(repository, number, { sha: headSha, check: own, comment });
  if (isCheckWritten) await host.writeCheck(repository, headSha, own);
  return isCommented ? host.writeComment(repository, number, comment) : commentId;
}

// Handles the queue's label: adding it submits, removing it cancels. The event only says that labels changed.
// Who changed this one, and when, is read from the host's own record, so it makes no difference whether a
// webhook, a repeated webhook, a poll, or the first event after a restart triggered it.

import { clockSlackMs } from '#core/queue/rule/authority.ts';
import { refusals } from '#core/queue/text/message.ts';
import { type Entry, isEnded, type Queue } from '#core/queue/model.ts';
import type { JobPayloads } from '#db/job/job.ts';
import { listQueues } from '#db/queue/queue-view.ts';
import { recordByLabel } from '#db/queue/status-comment-store.ts';
import type { LabelState } from '#host/host.ts';
import { type Asked, change, findEntry, isAtLeast, readAgainLater, readAsked, ruleOn } from './act.ts';
import { withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

type LabelCommandPayload = JobPayloads['handle-label'];
type LastLabelChange = NonNullable<LabelState['lastChange']>;

const isQueued = (entry: Entry | null): entry is Entry => entry !== null && !isEnded(entry.stage);

/** Whether the event reports a state that differs from the one of a queue. */
async function hasNews(
  deps: TaskDeps,
  queues: readonly Queue[],
  payload: LabelCommandPayload,
): Promise<boolean> {
  let found = false;
  for (const queue of queues) {
    const isOn = payload.labels.includes(queue.settings.enqueueingLabel);
    const isLive = isQueued(await findEntry(deps, queue, payload.number));
    // A label that is added while the pull request is queued requests nothing more. It is removed with the
    // end of the attempt.
    if (isOn && isLive) await recordByLabel(deps.cell.db, queue.id, payload.number, null);
    if (isOn !== isLive) found = true;
  }
  return found;
}

export async function handleLabelCommand(deps: TaskDeps, payload: LabelCommandPayload): Promise<void> {
  const { label, number } = payload;
  const isMeant = ({ settings }: Queue) =>
    settings.labelCommandsEnabled && (label === null || settings.enqueueingLabel === label);
  // Most labels mean nothing to a queue: the host is not read for them.
  const queues = (await listQueues(deps.cell.reader, payload.repositoryId)).filter(isMeant);
  if (!(await hasNews(deps, queues, payload))) return;
  await withHost(deps, 'handle-label', payload, [], async (served) => {
    const asked = await readAsked(deps, served, number);
    if (asked === null || asked.queue === null || !isMeant(asked.queue)) return;
    await handleLabelState(deps, asked, asked.queue, payload);
  });
}

/** Does what the label on the pull request requests, by the host's own record. */
async function handleLabelState(
  deps: TaskDeps,
  asked: Asked,
  queue: Queue,
  payload: LabelCommandPayload,
): Promise<void> {
  const { host, repository, asOf } = asked;
  const { number } = payload;
  const state = await host.readLabel(repository, number, queue.settings.enqueueingLabel, { asOf });
  const entry = await findEntry(deps, queue, number);
  if (state.isOn === isQueued(entry)) return;
  const last = state.lastChange;
  const who = { queue: queue.id, pullRequest: number, by: last?.by ?? null };
  if (last === null || last.isOn !== state.isOn) {
    // A pull request may be queued without ever having had the label.
    if (state.isOn && !(await readAgainLater(deps, 'handle-label', payload)))
      deps.log.info(who, 'ignored a label: the git host does not report who added it');
    return;
  }
  if (last.by === null || !(await isAtLeast(asked, last.by, 'write')))
    return deps.log.info(who, 'ignored a label from an account without write access');
  const refusal = state.isOn
    ? await submit(deps, asked, queue, last, payload)
    : await cancel(deps, asked, queue, last, entry);
  if (refusal !== null) deps.log.info({ ...who, refusal }, 'label command refused');
}

/** Null if it was done or is retried, else why not. */
async function submit(
  deps: TaskDeps,
  asked: Asked,
  queue: Queue,
  { by, at }: LastLabelChange,
  payload: LabelCommandPayload,
): Promise<string | null> {
  const { pullRequest } = asked;
  const act = { kind: 'label', by, mayWrite: true, at: at.getTime(), namedSha: null } as const;
  const ruling = await ruleOn(deps, asked, queue, act);
  if (ruling === 'head_age_unknown' && (await readAgainLater(deps, 'handle-label', payload))) return null;
  if (ruling !== 'allowed') {
    await removeStale(deps, asked, queue, ruling, at);
    return ruling;
  }
  const submitOptions = { priority: null, noBatch: false, force: false };
  const refusal = await change(deps, queue, pullRequest, (seniority) => ({
    ...submitOptions,
    kind: 'submit',
    pullRequest,
    seniority,
    actor: by ?? 'label',
  }));
  if (refusal === null) await recordByLabel(deps.cell.db, queue.id, pullRequest.number, at);
  return refusal;
}

/**
 * Removes a label that no longer counts, so that it can be added again; if the head is the reason, a comment
 * says so.
 */
async function removeStale(
  { commandNames }: TaskDeps,
  { host, repository, pullRequest: { number, headSha } }: Asked,
  { settings }: Queue,
  ruling: string,
  at: Date,
): Promise<void> {
  await host.changeLabels(repository, number, { add: [], remove: [settings.enqueueingLabel] });
  if (!settings.commentsEnabled || (ruling !== 'head_is_newer' && ruling !== 'head_age_unknown')) return;
  await host.writeComment(repository, number, {
    id: null,
    mayExist: true,
    mark: `signalbox:label:${at.getTime()}`,
    body: refusals.labelIsOlder(settings.enqueueingLabel, headSha, commandNames[0] ?? 'signalbox'),
  });
}

/** A label that was removed before the attempt began does not affect it. */
async function cancel(
  deps: TaskDeps,
  { pullRequest }: Asked,
  queue: Queue,
  { by, at }: LastLabelChange,
  entry: Entry | null,
): Promise<string | null> {
  if (entry === null || at.getTime() + clockSlackMs < entry.submittedAt.getTime())
    return 'the label was removed before this attempt';
  return change(deps, queue, pullRequest, () => ({
    kind: 'cancel',
    reason: 'USER_REQUESTED',
    actor: by ?? 'label',
  }));
}

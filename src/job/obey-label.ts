// What people ask for by the queue's label: put on it submits, taken off it cancels. The event that brings us here only says
// that labels changed. Who changed this one, and when, is the host's own record, so it makes no difference whether a
// webhook, one that is sent a second time, a poll, or the first event after a restart brought us here.

import { clockSlackMs } from '#core/queue/authority.ts';
import { refusals } from '#core/queue/message.ts';
import { type Entry, isEnded, type Queue } from '#core/queue/model.ts';
import { enqueueLabel, type JobPayloads } from '#db/job.ts';
import { listQueues } from '#db/queue-view.ts';
import { recordByLabel } from '#db/telling-store.ts';
import type { LabelState } from '#host/host.ts';
import { type Asked, change, findEntry, isAtLeast, readAsked, retryInMs, ruleOn } from './act.ts';
import type { TaskDeps } from './deps.ts';

type Payload = JobPayloads['obey-label'];
type LabelChange = NonNullable<LabelState['lastChange']>;

const isQueued = (entry: Entry | null): entry is Entry => entry !== null && !isEnded(entry.stage);

/** Whether the event says of one of the queues what is not so already. */
async function hasNews(deps: TaskDeps, queues: readonly Queue[], payload: Payload): Promise<boolean> {
  let found = false;
  for (const queue of queues) {
    const isOn = payload.labels.includes(queue.settings.enqueueingLabel);
    const isLive = isQueued(await findEntry(deps, queue, payload.number));
    // A label that is put on while the pull request is queued asks for nothing more. It is removed with the end.
    if (isOn && isLive) await recordByLabel(deps.cell.db, queue.id, payload.number, null);
    if (isOn !== isLive) found = true;
  }
  return found;
}

export async function obeyLabel(deps: TaskDeps, payload: Payload): Promise<void> {
  const { label, number } = payload;
  const isMeant = ({ settings }: Queue) =>
    settings.labelCommandsEnabled && (label === null || settings.enqueueingLabel === label);
  // Most labels mean nothing to a queue: the host is not asked about them.
  const queues = (await listQueues(deps.cell.reader, payload.repositoryId)).filter(isMeant);
  if (!(await hasNews(deps, queues, payload))) return;
  const asked = await readAsked(deps, payload);
  const queue = asked?.queue;
  if (asked === null || queue === null || queue === undefined || !isMeant(queue)) return;
  const { host, repository, asOf } = asked;
  const state = await host.readLabel(repository, number, queue.settings.enqueueingLabel, { asOf });
  const entry = await findEntry(deps, queue, number);
  if (state.isOn === isQueued(entry)) return;
  const last = state.lastChange;
  const who = { queue: queue.id, pullRequest: number, by: last?.by ?? null };
  if (last === null || last.isOn !== state.isOn) {
    const inMs = retryInMs(payload);
    // A pull request may be queued without ever having had the label.
    if (inMs === null && state.isOn)
      deps.log.info(who, 'ignored a label: the host does not say who put it on');
    else if (inMs !== null && state.isOn) await again(deps, payload, inMs);
    return;
  }
  if (last.by === null || !(await isAtLeast(asked, last.by, 'write')))
    return deps.log.info(who, 'ignored a label: its account has no write access');
  const refusal = state.isOn
    ? await submit(deps, asked, queue, last, payload)
    : await cancel(deps, asked, queue, last, entry);
  if (refusal !== null) deps.log.info({ ...who, refusal }, 'a label was refused');
}

const again = (deps: TaskDeps, payload: Payload, inMs: number): Promise<void> =>
  enqueueLabel(deps.cell.db, { ...payload, tries: (payload.tries ?? 0) + 1 }, inMs);

/** Null if it was done or is tried again, else why not. */
async function submit(
  deps: TaskDeps,
  asked: Asked,
  queue: Queue,
  { by, at }: LabelChange,
  payload: Payload,
): Promise<string | null> {
  const { pullRequest } = asked;
  const act = { kind: 'label', by, mayWrite: true, at: at.getTime(), namedSha: null } as const;
  const ruling = await ruleOn(deps, asked, queue, act);
  if (ruling === 'head_age_unknown') {
    const later = retryInMs(payload);
    if (later !== null) return again(deps, payload, later).then(() => null);
  }
  if (ruling !== 'allowed') {
    await removeStale(deps, asked, queue, ruling, at);
    return ruling;
  }
  const wish = { priority: null, noBatch: false, force: false };
  const refusal = await change(deps, queue, pullRequest, (seniority) => ({
    ...wish,
    kind: 'submit',
    pullRequest,
    seniority,
    actor: by ?? 'label',
  }));
  if (refusal === null) await recordByLabel(deps.cell.db, queue.id, pullRequest.number, at);
  return refusal;
}

/** A label that counts no more is removed, so that it can be put on again; where the head is the reason, a comment says so. */
async function removeStale(
  { commandWords }: TaskDeps,
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
    body: refusals.labelIsOlder(settings.enqueueingLabel, headSha, commandWords[0] ?? 'signalbox'),
  });
}

/** A label that was off before the attempt began says nothing about it. */
async function cancel(
  deps: TaskDeps,
  { pullRequest }: Asked,
  queue: Queue,
  { by, at }: LabelChange,
  entry: Entry | null,
): Promise<string | null> {
  if (entry === null || at.getTime() + clockSlackMs < entry.submittedAt.getTime())
    return 'the label was taken off before this attempt';
  return change(deps, queue, pullRequest, () => ({
    kind: 'cancel',
    reason: 'USER_REQUESTED',
    actor: by ?? 'label',
  }));
}

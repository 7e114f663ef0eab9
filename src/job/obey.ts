// What people ask for on a pull request: a comment with a command, or the label. Who asks must be able to write to the
// repository; whoever may not, and whatever cannot be done, is answered in words.

import { AppError } from '#base/error.ts';
import { createShelf } from '#base/shelf.ts';
import { changeEntry } from '#command/change-entry.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { type CommentCommand, parseComment } from '#core/queue/comment-command.ts';
import { refusals, standingWords } from '#core/queue/message.ts';
import { isEnded, type PullRequest, type Queue } from '#core/queue/model.ts';
import type { JobPayloads } from '#db/job.ts';
import { listEntries, listQueues } from '#db/queue-view.ts';
import { findRepository } from '#db/repository-store.ts';
import { hasOldLabel, recordByLabel } from '#db/telling-store.ts';
import { type Host, type HostRepository, type Permission, permissions } from '#host/host.ts';
import type { TaskDeps } from './deps.ts';

type Asked = {
  readonly host: Host;
  readonly repository: HostRepository;
  readonly pullRequest: PullRequest;
  /** The queue of its base branch; null: there is none. */
  readonly queue: Queue | null;
};

/** The pull request as its host has it now, and the queue it is for; null if nobody can be asked. */
async function askedOf(
  { cell, hostFor }: TaskDeps,
  { repositoryId, number }: { readonly repositoryId: HostRepository['id']; readonly number: number },
): Promise<Asked | null> {
  const repository = await findRepository(cell.reader, repositoryId);
  const host = repository === null ? null : hostFor(cell.name, repository.host);
  if (repository === null || host === null) return null;
  const queues = await listQueues(cell.reader, repositoryId);
  const [first] = queues;
  if (first === undefined) return null;
  const pullRequest = await host.readPullRequest({ repository, number, targetBranch: first.targetBranch });
  if (pullRequest === null) return null;
  const queue = queues.find(({ targetBranch }) => targetBranch === pullRequest.baseBranch) ?? null;
  return { host, repository, pullRequest, queue };
}

/** Whoever may write may do so for as long as this without being asked about again: a team submits in bursts. */
const trustMs = 30_000;
const trusted = createShelf<boolean>(
  () => performance.now(),
  (isTrusted) => (isTrusted ? trustMs : 0),
);

const isAtLeast = ({ host, repository }: Asked, person: string, wanted: Permission): Promise<boolean> =>
  trusted.recall(`${repository.id} ${person} ${wanted}`, async () => {
    const permission = await host.permissionOf(repository, person);
    return permissions.indexOf(permission) >= permissions.indexOf(wanted);
  });

export async function obeyComment(deps: TaskDeps, payload: JobPayloads['obey-comment']): Promise<void> {
  const command = parseComment(payload.text, deps.commandWords);
  if (command === null) return;
  const asked = await askedOf(deps, payload);
  if (asked === null) return;
  if (asked.queue !== null && !asked.queue.settings.commandsEnabled) return;
  const answer = await obey(deps, asked, command, payload.author);
  if (answer === null) return;
  await asked.host.writeComment(asked.repository, payload.number, {
    id: null,
    mayExist: true,
    mark: `signalbox:answer:${payload.commentId}`,
    body: answer,
  });
}

/** Null where nothing is to be said: the status comment says it. */
async function obey(
  deps: TaskDeps,
  asked: Asked,
  command: CommentCommand,
  author: string,
): Promise<string | null> {
  if (!(await isAtLeast(asked, author, 'write'))) return refusals.notAllowed(author);
  if (command.kind === 'mistake') return command.message;
  const { queue, pullRequest } = asked;
  if (queue === null) return refusals.noQueue(pullRequest.baseBranch);
  if (command.kind === 'status') return statusOf(deps, queue, pullRequest);
  if (command.kind === 'merge' && command.force && !(await isAtLeast(asked, author, 'admin')))
    return refusals.forceNeedsAdmin(author);
  return change(deps, queue, pullRequest, (seniority) => commandOf(command, pullRequest, author, seniority));
}

function commandOf(
  command: Exclude<CommentCommand, { kind: 'mistake' | 'status' }>,
  pullRequest: PullRequest,
  actor: string,
  seniority: number,
): EntryCommand {
  switch (command.kind) {
    case 'merge':
      return { ...command, kind: 'submit', pullRequest, seniority, actor };
    case 'cancel':
      return { kind: 'cancel', reason: 'USER_REQUESTED', actor };
    case 'restart':
      return { kind: 'restart', reason: 'TESTS_RESTARTED_BY_USER', actor };
  }
}

/** Null if it was done, else why not. */
async function change(
  { cell, clock }: TaskDeps,
  queue: Queue,
  { number: prNumber }: PullRequest,
  commandFor: (seniority: number) => EntryCommand,
): Promise<string | null> {
  try {
    await changeEntry({ cell, queueId: queue.id, prNumber }, commandFor, clock.now());
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

async function statusOf(
  { cell, clock, commandWords }: TaskDeps,
  queue: Queue,
  { number }: PullRequest,
): Promise<string> {
  const [standing] = await listEntries(cell.reader, queue.id, [number]);
  const word = commandWords[0] ?? 'signalbox';
  if (standing === undefined) return refusals.notSubmitted(word);
  const told = { queue, standing, run: null, landing: null, word };
  return standingWords(told, clock.now());
}

async function isLiveIn({ cell }: TaskDeps, queue: Queue, number: number): Promise<boolean> {
  const [standing] = await listEntries(cell.reader, queue.id, [number]);
  return standing !== undefined && !isEnded(standing.entry.stage);
}

/** Whether the label says of one of the queues what is not so already. */
async function hasNews(
  deps: TaskDeps,
  queues: readonly Queue[],
  { number, isOn }: JobPayloads['obey-label'],
): Promise<boolean> {
  for (const queue of queues) if ((await isLiveIn(deps, queue, number)) !== isOn) return true;
  return false;
}

/** The label is on or off: submits, or takes out. */
export async function obeyLabel(deps: TaskDeps, payload: JobPayloads['obey-label']): Promise<void> {
  const obeys = ({ settings }: Queue) =>
    settings.labelCommandsEnabled && settings.enqueueingLabel === payload.label;
  // Most labels mean nothing to us: nobody is asked about them.
  const queues = (await listQueues(deps.cell.reader, payload.repositoryId)).filter(obeys);
  // Nor about one that is heard of twice, or that we took off ourselves at the end of a trip.
  if (!(await hasNews(deps, queues, payload))) return;
  const asked = await askedOf(deps, payload);
  const queue = asked?.queue;
  if (asked === null || queue === null || queue === undefined || !obeys(queue)) return;
  const { pullRequest } = asked;
  const { number } = pullRequest;
  if ((await isLiveIn(deps, queue, number)) === payload.isOn) return;
  // The label of a trip that ended is on its way off.
  if (payload.isOn && payload.by === null && (await hasOldLabel(deps.cell.reader, queue.id, number))) return;
  if (payload.by !== null && !(await isAtLeast(asked, payload.by, 'write'))) return;
  const actor = payload.by ?? 'label';
  const refusal = await change(deps, queue, pullRequest, (seniority) =>
    payload.isOn
      ? { kind: 'submit', pullRequest, priority: null, noBatch: false, force: false, seniority, actor }
      : { kind: 'cancel', reason: 'USER_REQUESTED', actor },
  );
  if (refusal !== null)
    deps.log.info({ queue: queue.id, pullRequest: number, refusal }, 'a label was refused');
  else if (payload.isOn) await recordByLabel(deps.cell.db, queue.id, number);
}

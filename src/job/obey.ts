// What people ask for by comments on a pull request. The author must be able to write to the repository; who may not, and
// what cannot be done, gets an answer. Labels are in obey-label.ts.

import type { EntryCommand } from '#core/queue/command.ts';
import { type CommentCommand, parseComment } from '#core/queue/comment-command.ts';
import { refusals, standingWords } from '#core/queue/message.ts';
import type { PullRequest, Queue } from '#core/queue/model.ts';
import { fullName } from '#core/repository.ts';
import { recordAudit } from '#db/audit-store.ts';
import type { Tx } from '#db/cell.ts';
import { enqueueComment, type JobPayloads } from '#db/job.ts';
import { listEntries } from '#db/queue-view.ts';
import { claimStrangerAnswer, releaseStrangerAnswer } from '#db/words-store.ts';
import { type Asked, change, findServed, isAtLeast, readAsked, retryInMs, ruleOn } from './act.ts';
import type { TaskDeps } from './deps.ts';

/** For how long it is remembered which comments were read. An older one may be a webhook that is sent once more. */
export const heardKeptMs = 90 * 86_400_000;

type Payload = JobPayloads['obey-comment'];
type MergeCommand = Extract<CommentCommand, { kind: 'merge' }>;

export async function obeyComment(deps: TaskDeps, payload: Payload): Promise<void> {
  const command = parseComment(payload.text, deps.commandWords);
  if (command === null) return;
  if (payload.writtenAt < deps.clock.now().getTime() - heardKeptMs) {
    deps.log.info({ pullRequest: payload.number, author: payload.author }, 'ignored an old comment');
    return;
  }
  const served = await findServed(deps, payload.repositoryId);
  if (served === null) return;
  if (!(await isAtLeast(served, payload.author, 'write'))) return refuseStranger(deps, payload);
  const asked = await readAsked(deps, payload);
  if (asked === null) return;
  if (asked.queue !== null && !asked.queue.settings.commandsEnabled) return;
  const answer = await obey(deps, asked, command, payload);
  if (answer !== null) await reply(asked, payload, answer);
}

async function reply(
  { host, repository }: Asked,
  { number, commentId }: Payload,
  body: string,
): Promise<void> {
  const mark = `signalbox:answer:${commentId}`;
  await host.writeComment(repository, number, { id: null, mayExist: true, mark, body });
}

/**
 * Anybody can comment, and every answer uses a part of what the host lets us write: on each pull request one person without
 * write access gets an answer, and further comments of such people cost nothing but the question what they may do.
 */
async function refuseStranger(deps: TaskDeps, payload: Payload): Promise<void> {
  const { cell, log } = deps;
  const { repositoryId, number, author } = payload;
  if (!(await claimStrangerAnswer(cell.db, repositoryId, number)))
    return log.info({ pullRequest: number, author }, 'ignored a command of an account without write access');
  try {
    const asked = await readAsked(deps, payload);
    if (asked === null || asked.queue?.settings.commandsEnabled === false) return;
    await reply(asked, payload, refusals.notAllowed(author));
  } catch (error) {
    await releaseStrangerAnswer(cell.db, repositoryId, number);
    throw error;
  }
}

/** Null where nothing is to be said: the status comment says it. */
async function obey(
  deps: TaskDeps,
  asked: Asked,
  command: CommentCommand,
  payload: Payload,
): Promise<string | null> {
  const { author } = payload;
  if (command.kind === 'mistake') return command.message;
  const { queue, pullRequest } = asked;
  if (queue === null) return refusals.noQueue(pullRequest.baseBranch);
  if (command.kind === 'status') return statusOf(deps, queue, pullRequest);
  if (command.kind === 'merge') return merge(deps, asked, queue, command, payload);
  return change(deps, queue, pullRequest, () => commandOf(command, author));
}

async function merge(
  deps: TaskDeps,
  asked: Asked,
  queue: Queue,
  { sha: namedSha, ...wish }: MergeCommand,
  payload: Payload,
): Promise<string | null> {
  const { author } = payload;
  const { pullRequest } = asked;
  const { headSha } = pullRequest;
  if (wish.force && !queue.settings.forceEnabled) return refusals.forceIsOff(queue.targetBranch);
  if (wish.force && !(await isAtLeast(asked, author, 'admin'))) return refusals.forceNeedsAdmin(author);
  const act = { kind: 'comment', by: author, mayWrite: true, at: payload.writtenAt, namedSha } as const;
  const ruling = await ruleOn(deps, asked, queue, act);
  const word = deps.commandWords[0] ?? 'signalbox';
  if (ruling === 'names_other_head') return refusals.namesOtherHead(namedSha ?? '', headSha);
  if (ruling === 'head_is_newer') return refusals.headIsNewer(headSha, word);
  if (ruling === 'head_age_unknown') {
    const inMs = retryInMs(payload);
    if (inMs === null) return refusals.headAgeUnknown(headSha, word);
    await enqueueComment(deps.cell.db, { ...payload, tries: (payload.tries ?? 0) + 1 }, inMs);
    return null;
  }
  const submit = (seniority: number): EntryCommand => ({
    ...wish,
    kind: 'submit',
    pullRequest,
    seniority,
    actor: author,
  });
  return wish.force
    ? change(deps, queue, pullRequest, submit, (tx) => [auditForce(deps, tx, asked, queue, author)])
    : change(deps, queue, pullRequest, submit);
}

/** Force passes by what the host says of mergeability, so each use is in the audit log. */
const auditForce = (
  { clock }: TaskDeps,
  tx: Tx,
  { repository, pullRequest: { number, headSha } }: Asked,
  { targetBranch }: Queue,
  actor: string,
): Promise<unknown> =>
  recordAudit(
    tx,
    { organizationId: repository.organizationId, actor, now: clock.now() },
    {
      action: 'pull_request.force',
      subject: `${fullName(repository)} ${targetBranch} #${number}`,
      before: null,
      after: { prNumber: number, prSha: headSha, forced: true },
    },
  );

function commandOf(
  command: Exclude<CommentCommand, { kind: 'mistake' | 'status' | 'merge' }>,
  actor: string,
): EntryCommand {
  switch (command.kind) {
    case 'cancel':
      return { kind: 'cancel', reason: 'USER_REQUESTED', actor };
    case 'restart':
      return { kind: 'restart', reason: 'TESTS_RESTARTED_BY_USER', actor };
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
  const told = { queue, standing, run: null, landing: null, refusal: null, branchRuleChange: null, word };
  return standingWords(told, clock.now());
}

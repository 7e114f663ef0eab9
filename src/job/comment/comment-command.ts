// Handles commands in comments on a pull request, and clicks on the actions of Signalbox's check, which count as comments. The
// author must have write access to the repository; a comment that is refused, or cannot be done, gets a reply. Labels are in
// label-command.ts.

import { dayMs } from '#base/duration.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { commandOfAction } from '#core/queue/text/check-action.ts';
import { type CommentCommand, parseComment } from '#core/queue/text/comment-command.ts';
import { refusals, statusAnswer } from '#core/queue/text/message.ts';
import type { PullRequest, Queue } from '#core/queue/model.ts';
import { fullName } from '#core/repository.ts';
import type { JobPayloads } from '#db/job/job.ts';
import { listEntries } from '#db/queue/queue-view.ts';
import { claimNoAccessReply, releaseNoAccessReply } from '#db/host/comment-store.ts';
import { type Asked, change, isAtLeast, readAgainLater, readAsked, ruleOn } from './act.ts';
import { type Served, withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

/** How long processed comments are remembered. An older one may be a webhook that is sent again. */
export const processedCommentsKeptMs = 90 * dayMs;

type CommentCommandPayload = JobPayloads['handle-comment'];
type MergeCommand = Extract<CommentCommand, { kind: 'merge' }>;

export async function handleCommentCommand(deps: TaskDeps, payload: CommentCommandPayload): Promise<void> {
  const { action, text } = payload;
  const command = action === undefined ? parseComment(text, deps.commandNames) : commandOfAction(action);
  if (command === null) return;
  if (payload.writtenAt < deps.clock.now().getTime() - processedCommentsKeptMs) {
    deps.log.info({ pullRequest: payload.number, author: payload.author }, 'ignored an old comment');
    return;
  }
  await withHost(deps, 'handle-comment', payload, [], async (served) => {
    if (!(await isAtLeast(served, payload.author, 'write'))) return refuseStranger(deps, served, payload);
    const asked = await readAsked(deps, served, payload.number);
    if (asked === null) return;
    if (asked.queue !== null && !asked.queue.settings.commandsEnabled) return;
    const answer = await executeCommand(deps, asked, command, payload);
    if (answer !== null) await reply(asked, payload, answer);
  });
}

async function reply(
  { host, repository }: Asked,
  { number, commentId }: CommentCommandPayload,
  body: string,
): Promise<void> {
  const mark = `signalbox:answer:${commentId}`;
  await host.writeComment(repository, number, { id: null, mayExist: true, mark, body });
}

/**
 * Anyone can comment, and every reply uses the host's write limit. On each pull request only the first person
 * without write access gets a reply; later comments of such people cost only the permission check.
 */
async function refuseStranger(deps: TaskDeps, served: Served, payload: CommentCommandPayload): Promise<void> {
  const { cell, log } = deps;
  const { repositoryId, number, author } = payload;
  if (!(await claimNoAccessReply(cell.db, repositoryId, number)))
    return log.info(
      { pullRequest: number, author },
      'ignored a command from an account without write access',
    );
  try {
    const asked = await readAsked(deps, served, number);
    if (asked === null || asked.queue?.settings.commandsEnabled === false) return;
    await reply(asked, payload, refusals.notAllowed(author));
  } catch (error) {
    await releaseNoAccessReply(cell.db, repositoryId, number);
    throw error;
  }
}

/** Null if no reply is needed: the status comment says it. */
async function executeCommand(
  deps: TaskDeps,
  asked: Asked,
  command: CommentCommand,
  payload: CommentCommandPayload,
): Promise<string | null> {
  const { author } = payload;
  if (command.kind === 'mistake') return command.message;
  const { queue, pullRequest } = asked;
  if (queue === null) return refusals.noQueue(pullRequest.baseBranch);
  if (command.kind === 'status') return composeStatusReply(deps, queue, pullRequest);
  if (command.kind === 'merge') return merge(deps, asked, queue, command, payload);
  return change(deps, queue, pullRequest, () => toEntryCommand(command, author));
}

async function merge(
  deps: TaskDeps,
  asked: Asked,
  queue: Queue,
  { sha: namedSha, ...mergeOptions }: MergeCommand,
  payload: CommentCommandPayload,
): Promise<string | null> {
  const { author } = payload;
  const { pullRequest } = asked;
  const { headSha } = pullRequest;
  if (mergeOptions.force && !queue.settings.forceEnabled) return refusals.forceIsOff(queue.targetBranch);
  if (mergeOptions.force && !(await isAtLeast(asked, author, 'admin')))
    return refusals.forceNeedsAdmin(author);
  const act = { kind: 'comment', by: author, mayWrite: true, at: payload.writtenAt, namedSha } as const;
  const ruling = await ruleOn(deps, asked, queue, act);
  const commandName = deps.commandNames[0] ?? 'signalbox';
  if (ruling === 'names_other_head') return refusals.namesOtherHead(namedSha ?? '', headSha);
  if (ruling === 'head_is_newer') return refusals.headIsNewer(headSha, commandName);
  if (ruling === 'head_age_unknown') {
    const isReadAgain = await readAgainLater(deps, 'handle-comment', payload);
    return isReadAgain ? null : refusals.headAgeUnknown(headSha, commandName);
  }
  const submit = (seniority: number): EntryCommand => ({
    ...mergeOptions,
    kind: 'submit',
    pullRequest,
    seniority,
    actor: author,
  });
  return change(
    deps,
    queue,
    pullRequest,
    submit,
    mergeOptions.force ? forceAudit(deps, asked, queue, author) : undefined,
  );
}

/** Force ignores the mergeability that the host reports, so each use is in the audit log. */
const forceAudit = (
  { clock }: TaskDeps,
  { repository, pullRequest: { number, headSha } }: Asked,
  { targetBranch }: Queue,
  actor: string,
) => ({
  by: { organizationId: repository.organizationId, actor, now: clock.now() },
  change: {
    action: 'pull_request.force',
    subject: `${fullName(repository)} ${targetBranch} #${number}`,
    before: null,
    after: { prNumber: number, prSha: headSha, forced: true },
  },
});

function toEntryCommand(
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

async function composeStatusReply(
  { cell, clock, commandNames }: TaskDeps,
  queue: Queue,
  { number }: PullRequest,
): Promise<string> {
  const [status] = await listEntries(cell.reader, queue.id, [number]);
  const commandName = commandNames[0] ?? 'signalbox';
  if (status === undefined) return refusals.notSubmitted(commandName);
  const statusReport = {
    queue,
    status,
    run: null,
    landing: null,
    refusal: null,
    branchRuleChange: null,
    commandName,
  };
  return statusAnswer(statusReport, clock.now());
}

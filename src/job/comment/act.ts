// Shared by comments and labels: the pull request as its host has it now, the permission of an account, the
// time of the head, and the change of the entry.

import { AppError } from '#base/error.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { changeEntry } from '#command/change-entry.ts';
import { type Act, type ActRuling, resolveHeadSince, checkAct } from '#core/queue/rule/authority.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { type Entry, isEnded, type PullRequest, type Queue } from '#core/queue/model.ts';
import { listHeads, recordHead } from '#db/host/head-store.ts';
import { enqueueForRepository, type JobPayloads } from '#db/job/job.ts';
import { listEntries, listQueues } from '#db/queue/queue-view.ts';
import { labelUsedAt } from '#db/queue/status-comment-store.ts';
import { type Permission, permissions } from '#host/host.ts';
import type { Served } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

export type Asked = Served & {
  readonly pullRequest: PullRequest;
  /** The queue of its base branch; null: there is none. */
  readonly queue: Queue | null;
  /** `performance.now()` before the pull request was read. */
  readonly asOf: number;
};

/** The pull request as its host reports it now, and the queue of its base; null if there is none, or no queue at all. */
export async function readAsked(
  { cell }: TaskDeps,
  { host, repository }: Served,
  number: number,
): Promise<Asked | null> {
  const queues = await listQueues(cell.reader, repository.id);
  if (queues.length === 0) return null;
  const asOf = performance.now();
  const pullRequest = await host.readPullRequest({ repository, number });
  if (pullRequest === null) return null;
  const queue = queues.find(({ targetBranch }) => targetBranch === pullRequest.baseBranch) ?? null;
  return { host, repository, pullRequest, queue, asOf };
}

/** How long write access of an account is cached: a team submits in bursts. */
const trustMs = 30_000;
/**
 * Missing access is cached only briefly, because it may have just been granted; a flood of comments still
 * costs little.
 */
const distrustMs = 5_000;
const trusted = createTtlCache<boolean>({
  max: 10_000,
  ttlMs: (isTrusted) => (isTrusted ? trustMs : distrustMs),
});

export const isAtLeast = (
  { host, repository }: Served,
  person: string,
  wanted: Permission,
): Promise<boolean> =>
  trusted.load(`${repository.id} ${person} ${wanted}`, async () => {
    const permission = await host.permissionOf(repository, person);
    return permissions.indexOf(permission) >= permissions.indexOf(wanted);
  });

export async function findEntry(
  { cell }: Pick<TaskDeps, 'cell'>,
  queue: Queue,
  number: number,
): Promise<Entry | null> {
  const [status] = await listEntries(cell.reader, queue.id, [number]);
  return status?.entry ?? null;
}

/** Whether the act may submit the head that was read (core/queue/rule/authority.ts has the rules). */
export async function ruleOn(deps: TaskDeps, asked: Asked, queue: Queue, act: Act): Promise<ActRuling> {
  const { number, headSha } = asked.pullRequest;
  const entry = await findEntry(deps, queue, number);
  const used = await labelUsedAt(deps.cell.reader, queue.id, number);
  const submittable = {
    headSha,
    endedAt: entry !== null && isEnded(entry.stage) ? entry.stageChangedAt.getTime() : null,
    usedAt: used?.getTime() ?? null,
  };
  const known = await listHeads(deps.cell.reader, asked.repository.id, number);
  const ruling = checkAct(act, { ...submittable, headSince: resolveHeadSince(headSha, known, null) });
  if (ruling !== 'head_age_unknown' && ruling !== 'head_is_newer') return ruling;
  // The record is missing, or a webhook was slow: the host decides when the head came.
  const answered = (await asked.host.headSince(asked.repository, number, headSha))?.getTime() ?? null;
  const since = resolveHeadSince(headSha, known, answered);
  if (since !== null) await recordHead(deps.cell.db, asked.repository.id, number, { sha: headSha, since });
  return checkAct(act, { ...submittable, headSince: since });
}

/** Null if it was done, else why not. */
export async function change(
  { cell, clock }: TaskDeps,
  queue: Queue,
  { number: prNumber }: PullRequest,
  commandFor: (seniority: number) => EntryCommand,
  audited?: Parameters<typeof changeEntry>[3],
): Promise<string | null> {
  try {
    await changeEntry({ cell, queueId: queue.id, prNumber }, commandFor, clock.now(), audited);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** The host may record an act or a push a moment after the event: the job then reads it again. */
const rereadMs = [2_000, 5_000];

/** Reads the host's record again after a moment; false if it was read often enough. */
export async function readAgainLater<Task extends 'handle-comment' | 'handle-label'>(
  { cell }: TaskDeps,
  task: Task,
  payload: JobPayloads[Task],
): Promise<boolean> {
  const { rereads = 0 } = payload;
  const inMs = rereadMs[rereads];
  if (inMs === undefined) return false;
  await enqueueForRepository(cell.db, task, { ...payload, rereads: rereads + 1 }, inMs);
  return true;
}

// What comments and labels have in common: the pull request as its host has it now, what an account may do there, when the
// head came, and the change of the entry.

import { AppError } from '#base/error.ts';
import { createShelf } from '#base/shelf.ts';
import { changeEntry } from '#command/change-entry.ts';
import { type Act, type ActRuling, headSinceOf, judgeAct } from '#core/queue/authority.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { type Entry, isEnded, type PullRequest, type Queue } from '#core/queue/model.ts';
import { listHeads, recordHead } from '#db/head-store.ts';
import { listEntries, listQueues } from '#db/queue-view.ts';
import { findRepository } from '#db/repository-store.ts';
import { labelUsedAt } from '#db/telling-store.ts';
import { type Host, type HostRepository, type Permission, permissions } from '#host/host.ts';
import type { TaskDeps } from './deps.ts';

export type Asked = {
  readonly host: Host;
  readonly repository: HostRepository;
  readonly pullRequest: PullRequest;
  /** The queue of its base branch; null: there is none. */
  readonly queue: Queue | null;
  /** `performance.now()` before the pull request was read. */
  readonly asOf: number;
};

/** The repository and its host; null if no host serves it. */
export async function findServed(
  { cell, hostFor }: TaskDeps,
  repositoryId: HostRepository['id'],
): Promise<Pick<Asked, 'host' | 'repository'> | null> {
  const repository = await findRepository(cell.reader, repositoryId);
  const host = repository === null ? null : hostFor(cell.name, repository.host);
  return repository === null || host === null ? null : { repository, host };
}

/** The pull request as its host has it now, and the queue it is for; null if no host serves it. */
export async function readAsked(
  deps: TaskDeps,
  { repositoryId, number }: { readonly repositoryId: HostRepository['id']; readonly number: number },
): Promise<Asked | null> {
  const { cell } = deps;
  const served = await findServed(deps, repositoryId);
  if (served === null) return null;
  const { host, repository } = served;
  const queues = await listQueues(cell.reader, repositoryId);
  const [first] = queues;
  if (first === undefined) return null;
  const asOf = performance.now();
  const pullRequest = await host.readPullRequest({ repository, number, targetBranch: first.targetBranch });
  if (pullRequest === null) return null;
  const queue = queues.find(({ targetBranch }) => targetBranch === pullRequest.baseBranch) ?? null;
  return { host, repository, pullRequest, queue, asOf };
}

/** An account that may write is not asked about again for this long: a team submits in bursts. */
const trustMs = 30_000;
/** One that may not is asked about again soon, because it may have just been given access; a flood of comments costs little. */
const distrustMs = 5_000;
const trusted = createShelf<boolean>(
  () => performance.now(),
  (isTrusted) => (isTrusted ? trustMs : distrustMs),
);

export const isAtLeast = (
  { host, repository }: Pick<Asked, 'host' | 'repository'>,
  person: string,
  wanted: Permission,
): Promise<boolean> =>
  trusted.recall(`${repository.id} ${person} ${wanted}`, async () => {
    const permission = await host.permissionOf(repository, person);
    return permissions.indexOf(permission) >= permissions.indexOf(wanted);
  });

export async function findEntry(
  { cell }: Pick<TaskDeps, 'cell'>,
  queue: Queue,
  number: number,
): Promise<Entry | null> {
  const [standing] = await listEntries(cell.reader, queue.id, [number]);
  return standing?.entry ?? null;
}

/** Whether the act may submit the head that was read (core/queue/authority.ts has the rules). */
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
  const ruling = judgeAct(act, { ...submittable, headSince: headSinceOf(headSha, known, null) });
  if (ruling !== 'head_age_unknown' && ruling !== 'head_is_newer') return ruling;
  // Our record is missing, or a webhook was slow: the host has the last word on when the head came.
  const answered = (await asked.host.headSince(asked.repository, number, headSha))?.getTime() ?? null;
  const since = headSinceOf(headSha, known, answered);
  if (since !== null) await recordHead(deps.cell.db, asked.repository.id, number, { sha: headSha, since });
  return judgeAct(act, { ...submittable, headSince: since });
}

/** Null if it was done, else why not. */
export async function change(
  { cell, clock }: TaskDeps,
  queue: Queue,
  { number: prNumber }: PullRequest,
  commandFor: (seniority: number) => EntryCommand,
  alsoRecord?: Parameters<typeof changeEntry>[3],
): Promise<string | null> {
  try {
    await changeEntry({ cell, queueId: queue.id, prNumber }, commandFor, clock.now(), alsoRecord);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** The host's record of an act or a push may come a moment after the event: then the job asks again. */
const retryMs = [2_000, 5_000];

/** After how long to ask again; null: often enough. */
export const retryInMs = ({ tries = 0 }: { readonly tries?: number }): number | null =>
  retryMs[tries] ?? null;

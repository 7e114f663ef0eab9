// Writes worker_heartbeat. The database's clock alone is compared, so that workers' clocks may differ.

import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

/** A heart silent for this long has stopped. Several beats, so that a busy process is not taken for a dead one. */
export const stoppedMs = 15_000;

const upsertBeat = statement<[workerId: string]>(`
  insert into worker_heartbeat (worker_id) values ($1)
  on conflict (worker_id) do update set beat_at = now()`);

export async function beat(db: Tx, workerId: string): Promise<void> {
  await upsertBeat(db, workerId);
}

const selectStopped = statement<[silentMs: number], { worker_id: string }>(`
  select worker_id from worker_heartbeat where beat_at < now() - make_interval(secs => $1::float8 / 1000)`);

/** Workers that have not beaten for that long. */
export async function listStopped(db: Tx, silentMs: number): Promise<readonly string[]> {
  return (await selectStopped(db, silentMs)).map((row) => row.worker_id);
}

const deleteBeats = statement<[workerIds: readonly string[]]>(
  `delete from worker_heartbeat where worker_id = any ($1::text[])`,
);

export async function removeHeartbeats(db: Tx, workerIds: readonly string[]): Promise<void> {
  await deleteBeats(db, workerIds);
}

// The library hands back all jobs of a worker or none, so this is its own statement for the few that are meant.
const releaseJobs = statement<[workerId: string, running: string, olderThanMs: number]>(`
  with released as (
    update graphile_worker._private_jobs set locked_by = null, locked_at = null
    where locked_by = $1 and id <> all ($2::bigint[]) and locked_at < now() - make_interval(secs => $3::float8 / 1000)
  )
  update graphile_worker._private_job_queues q set locked_by = null, locked_at = null
  where q.locked_by = $1 and q.locked_at < now() - make_interval(secs => $3::float8 / 1000)
    and not exists (select from graphile_worker._private_jobs j
      where j.job_queue_id = q.id and j.id = any ($2::bigint[]))`);

/** Hands back jobs that are locked for a worker that does not run them. */
export const releaseUnknown = (
  db: Tx,
  workerId: string,
  running: readonly string[],
  olderThanMs: number,
): Promise<unknown> => releaseJobs(db, workerId, `{${running.join(',')}}`, olderThanMs);

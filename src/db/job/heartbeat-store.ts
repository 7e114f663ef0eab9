// Writes worker_heartbeat. Only the database's clock is compared, so workers' clocks may differ.

import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** A worker without a heartbeat for this long has stopped. Several intervals: a worker may be busy. */
export const stoppedMs = 15_000;

const upsertBeat = statement<[workerId: string]>(`
  insert into worker_heartbeat (worker_id) values ($1)
  on conflict (worker_id) do update set beat_at = now()`);

export async function beat(db: Tx, workerId: string): Promise<void> {
  await upsertBeat(db, workerId);
}

const selectStopped = statement<[silentMs: number], { worker_id: string }>(`
  select worker_id from worker_heartbeat where beat_at < now() - make_interval(secs => $1::float8 / 1000)`);

/** Workers without a heartbeat for that long. */
export async function listStopped(db: Tx, silentMs: number): Promise<readonly string[]> {
  return (await selectStopped(db, silentMs)).map((row) => row.worker_id);
}

const deleteBeats = statement<[workerIds: readonly string[]]>(
  `delete from worker_heartbeat where worker_id = any ($1::text[])`,
);

export async function removeHeartbeats(db: Tx, workerIds: readonly string[]): Promise<void> {
  await deleteBeats(db, workerIds);
}

const selectUnknown = statement<[workerId: string, running: string, olderThanMs: number], { id: string }>(`
  select id::text from graphile_worker.jobs
  where locked_by = $1 and id <> all ($2::bigint[]) and locked_at < now() - make_interval(secs => $3::float8 / 1000)`);

/** Jobs locked by a worker that does not run them: it never received the answer that named them. */
export async function listUnknown(
  db: Tx,
  workerId: string,
  running: readonly string[],
  olderThanMs: number,
): Promise<readonly string[]> {
  return (await selectUnknown(db, workerId, `{${running.join(',')}}`, olderThanMs)).map(({ id }) => id);
}

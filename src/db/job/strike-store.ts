// Writes job_strike: jobs that were running when the event loop of their process was blocked.

import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** A job with this many strikes is set aside. */
export const strikesMax = 2;

/** The ids and the tasks are in the same order. The watchdog calls this on its own connection. */
export const recordStrikes = statement<[ids: readonly string[], tasks: readonly string[]]>(`
  insert into job_strike as s (job_id, task)
  select * from unnest($1::bigint[], $2::text[])
  on conflict (job_id) do update set struck_at = now(),
    strikes = case when s.struck_at > now() - interval '1 hour' then s.strikes + 1 else 1 end`);

const selectStrikes = statement<[], { job_id: string; task: string; strikes: number }>(`
  select job_id::text, task, strikes from job_strike where struck_at > now() - interval '1 hour'`);

export type Strike = { readonly jobId: string; readonly task: string; readonly strikes: number };

/** Strikes of the last hour: a job with older ones gets another chance. */
export async function listStrikes(db: Tx): Promise<readonly Strike[]> {
  const rows = await selectStrikes(db);
  return rows.map(({ job_id: jobId, task, strikes }) => ({ jobId, task, strikes }));
}

const deleteStrikes = statement<[]>("delete from job_strike where struck_at < now() - interval '7 days'");

export async function forgetStrikes(db: Tx): Promise<void> {
  await deleteStrikes(db);
}

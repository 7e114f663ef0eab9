// Writes job_strike: jobs that were under way when the event loop of their process stood still.

import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

/** A job that was there so often is set aside. */
export const strikesMax = 2;

/** As the watchdog writes them, with a connection of its own: ids and tasks of jobs, in the same order. */
export const recordStrikesText = `
  insert into job_strike as s (job_id, task)
  select * from unnest($1::bigint[], $2::text[])
  on conflict (job_id) do update set struck_at = now(),
    strikes = case when s.struck_at > now() - interval '1 hour' then s.strikes + 1 else 1 end`;

const selectStrikes = statement<[], { job_id: string; task: string; strikes: number }>(`
  select job_id::text, task, strikes from job_strike where struck_at > now() - interval '1 hour'`);

export type Strike = { readonly jobId: string; readonly task: string; readonly strikes: number };

/** Those of the last hour: what is older is given another chance. */
export async function listStrikes(db: Tx): Promise<readonly Strike[]> {
  const rows = await selectStrikes(db);
  return rows.map(({ job_id: jobId, task, strikes }) => ({ jobId, task, strikes }));
}

const deleteStrikes = statement<[]>("delete from job_strike where struck_at < now() - interval '7 days'");

export async function forgetStrikes(db: Tx): Promise<void> {
  await deleteStrikes(db);
}

// Removes old rows of queues, of the audit log, of the sandbox host and of the job library. Partitioned
// tables drop whole months (partition.ts), and retention-store.ts removes test data. How long each table
// keeps its rows: retention.ts.
//
// Each statement removes some thousand rows in its own transaction, so that no transaction waits for it for
// long and no snapshot grows old.

import type { OrganizationId, QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const rowsMax = 5_000;

type Removed = { readonly removed: number };

async function untilNoneIsLeft(remove: () => Promise<readonly Removed[]>): Promise<void> {
  for (;;) if (((await remove())[0]?.removed ?? 0) < rowsMax) return;
}

const counted = (text: string): string =>
  `with gone as (${text} returning 1) select count(*)::int as removed from gone`;

const selectQueues = statement<[], { id: QueueId }>('select id from queue');

// Locked before they are removed: a pull request that is submitted again meanwhile stays.
const deleteEntries = statement<[queueId: string, before: Date], Removed>(
  counted(`delete from queue_entry e using (
      select pr_number from queue_entry where queue_id = $1 and concluded_at < $2 and plan is null and not landing
      limit ${rowsMax} for update skip locked) old
    where e.queue_id = $1 and e.pr_number = old.pr_number`),
);

const deleteTellings = statement<[queueId: string, before: Date]>(`
  delete from status_comment l where queue_id = $1 and coalesce(written_at, posted_state_at, label_used_at, '-infinity') < $2
    and not exists (select from queue_entry e where e.queue_id = $1 and e.pr_number = l.pr_number)`);

// The run that decided a landing is part of its attestation, and is kept as long.
const deleteRuns = statement<[queueId: string, before: Date], Removed>(
  counted(`delete from test_run t using (
      select id from test_run o where queue_id = $1 and created_at < $2 and status <> 'in_progress' and phase = 'closed'
        and not exists (select from landing l where l.queue_id = $1 and l.test_run_id = o.id)
      limit ${rowsMax} for update skip locked) old
    where t.queue_id = $1 and t.id = old.id`),
);

const deleteLandings = statement<[queueId: string, before: Date], Removed>(`
  with old as materialized (
    select number from landing where queue_id = $1 and concluded_at < $2 and observed order by number limit ${rowsMax}
  ), members as (
    delete from landing_pull_request m using old where m.queue_id = $1 and m.number = old.number
  ), gone as (
    delete from landing l using old where l.queue_id = $1 and l.number = old.number returning 1
  )
  select count(*)::int as removed from gone`);

export type QueueDeadlines = {
  /** Pull requests that left the queue, and test runs. */
  readonly history: Date;
  /** Landings with their attestations, and the audit log. */
  readonly records: Date;
};

export async function forgetQueues(db: Tx, { history, records }: QueueDeadlines): Promise<void> {
  for (const { id } of await selectQueues(db)) {
    await untilNoneIsLeft(() => deleteLandings(db, id, records));
    await untilNoneIsLeft(() => deleteRuns(db, id, history));
    await untilNoneIsLeft(() => deleteEntries(db, id, history));
    await deleteTellings(db, id, history);
  }
}

const selectOrganizations = statement<[], { id: OrganizationId }>('select id from organization');

const deleteAudit = statement<[organizationId: string, before: Date], Removed>(
  counted(`delete from audit a using (
      select at, seq from audit where organization_id = $1 and at < $2 order by at, seq limit ${rowsMax}) old
    where a.organization_id = $1 and a.at = old.at and a.seq = old.seq`),
);

export async function forgetAudit(db: Tx, before: Date): Promise<void> {
  for (const { id } of await selectOrganizations(db))
    await untilNoneIsLeft(() => deleteAudit(db, id, before));
}

// A queued pull request keeps its targets, however old they are.
const deleteTargets = statement<[before: Date, replacedBefore: Date], Removed>(
  counted(`delete from impacted_targets t using (
      select i.repository_id, i.pr_number, i.head_sha from impacted_targets i
      where (i.uploaded_at < $1 or i.uploaded_at < $2
          and exists (select from impacted_targets later where later.repository_id = i.repository_id
            and later.pr_number = i.pr_number and later.uploaded_at > i.uploaded_at)
          and not exists (select from queue q join attempt a on a.queue_id = q.id and a.pr_number = i.pr_number
            and a.head_sha = i.head_sha where q.repository_id = i.repository_id))
        and not exists (select from queue q join queue_entry e on e.queue_id = q.id and e.pr_number = i.pr_number
          where q.repository_id = i.repository_id and e.concluded_at is null)
      limit ${rowsMax}) old
    where t.repository_id = old.repository_id and t.pr_number = old.pr_number and t.head_sha = old.head_sha`),
);

/** `replaced`: for heads that were replaced by a push and that no attempt ended with. */
export async function forgetTargets(
  db: Tx,
  before: { readonly any: Date; readonly replaced: Date },
): Promise<void> {
  await untilNoneIsLeft(() => deleteTargets(db, before.any, before.replaced));
}

const deleteTokenUse = statement<[before: Date]>('delete from api_token_use where day < $1::date');
const deleteSessions = statement<[before: Date]>('delete from session where expires_at < $1');
const deleteJobTokens = statement<[before: Date]>('delete from job_token where expires_at < $1');

export async function forgetTokenUse(db: Tx, before: Date): Promise<void> {
  await deleteTokenUse(db, before);
  await deleteSessions(db, before);
  await deleteJobTokens(db, before);
}

const sandboxDeletes = [
  'delete from sandbox_issue where updated_at < $1 and not is_open',
  `delete from sandbox_ci where created_at < $1 and state = 'done'`,
  'delete from sandbox_check where updated_at < $1',
  `delete from sandbox_pull_request p where updated_at < $1 and state <> 'open' and not exists (
    select from queue q join queue_entry e on e.queue_id = q.id and e.pr_number = p.number where q.repository_id = p.repository_id)`,
  `delete from sandbox_comment c where updated_at < $1 and not exists (select from sandbox_pull_request p
    where p.repository_id = c.repository_id and p.number = c.pr_number)`,
].map((text) => statement<[before: Date]>(text));

/** Removes the sandbox host's data of closed pull requests. */
export async function forgetSandbox(db: Tx, before: Date): Promise<void> {
  for (const remove of sandboxDeletes) await remove(db, before);
}

// Uses the view and the function that the library documents.
const completeFailed = statement<[before: Date], Removed>(`
  select count(*)::int as removed from graphile_worker.complete_jobs(array(
    select id from graphile_worker.jobs where attempts >= max_attempts and locked_at is null and updated_at < $1
    limit ${rowsMax}))`);

/** Jobs without attempts left that are older than this: people had the time to read their errors. */
export const forgetFailedJobs = (db: Tx, before: Date): Promise<void> =>
  untilNoneIsLeft(() => completeFailed(db, before));

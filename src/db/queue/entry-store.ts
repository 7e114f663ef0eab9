// Writes queue_entry, attempt and the facts of entries (queue-store.ts writes those of queues), with their webhook
// events (webhook-event.ts).

import { assert } from '#base/assert.ts';
import type { EntryId, QueueId } from '#base/id.ts';
import { evolve } from '#core/queue/evolve.ts';
import type { Fact } from '#core/queue/fact.ts';
import { type Entry, isEnded, isUnderTest, type PlannedEntry, type Queue } from '#core/queue/model.ts';
import { outgoingAction, outgoingRun } from '#core/queue/outgoing.ts';
import type { Tx } from '../cell.ts';
import {
  entryColumns,
  entryInsertColumns,
  toEntry,
  type EntryRow,
  entryRow,
  queueColumns,
  toQueue,
  type QueueRow,
  rewritableColumns,
  attemptColumns,
  toAttemptRow,
} from '../row.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';
import {
  insertDeliveries,
  hasWebhookEndpointsColumn,
  eventRunSql,
  wantedInQueue,
} from '../webhook/webhook-event.ts';

type LoadedRow = QueueRow & EntryRow & { next_seniority: number; has_endpoints: boolean };

export const loadEntryStatement = `
  select ${queueColumns}, ${entryColumns}, nextval('entry_seniority') as next_seniority,
    ${hasWebhookEndpointsColumn('q.repository_id')} as has_endpoints
  from queue q
  left join queue_entry e on e.queue_id = q.id and e.pr_number = $2
  where q.id = $1 and q.deleted_at is null`;

const selectEntry = statement<[queueId: string, prNumber: number], LoadedRow>(loadEntryStatement);

export type LoadedEntry = {
  readonly queue: Queue;
  readonly entry: Entry | null;
  /** Larger than every seniority assigned before. */
  readonly nextSeniority: number;
  /** Whether a webhook endpoint of the organization may want these events. */
  readonly hasEndpoints: boolean;
};

/** Null if the queue was deleted meanwhile. */
export async function loadEntry(tx: Tx, lock: QueueLock, prNumber: number): Promise<LoadedEntry | null> {
  const [row] = await selectEntry(tx, lock.queueId, prNumber);
  if (row === undefined) return null;
  return {
    queue: toQueue(row),
    entry: row.entry_id === null ? null : toEntry(row),
    nextSeniority: row.next_seniority,
    hasEndpoints: row.has_endpoints,
  };
}

export type EntryChange = {
  readonly before: Entry | null;
  readonly facts: readonly Fact[];
  /** The id of the entry if this is its first fact. */
  readonly newId: EntryId;
};

const rewritable = rewritableColumns.map((column) => `${column} = excluded.${column}`).join(', ');

const changesText = `
  saved as (
    insert into queue_entry (${entryInsertColumns})
    select ${entryInsertColumns} from jsonb_populate_recordset(null::queue_entry, $1)
    on conflict (queue_id, pr_number) do update set ${rewritable}
  ), ended as (
    insert into attempt (${attemptColumns}) select ${attemptColumns} from jsonb_populate_recordset(null::attempt, $2)
  )`;

export const factsText = `
  insert into queue_fact (queue_id, recorded_at, pr_number, attempt, kind, state, reason, actor, test_run_id, restart, payload)
  select f.queue_id, f.recorded_at, f.pr_number, f.attempt, f.kind, f.state, f.reason, f.actor, f.test_run_id, f.restart, f.payload
  from jsonb_to_recordset($3) as f (n int, queue_id uuid, recorded_at timestamptz, pr_number bigint, attempt int,
    kind text, state text, reason text, actor text, test_run_id uuid, restart boolean, payload jsonb)
  order by f.n`;

export const saveEntriesStatement = `with ${changesText} ${factsText}`;

type SaveEntriesArgs = [entries: string, attempts: string, facts: string];

const insertChanges = statement<SaveEntriesArgs>(saveEntriesStatement);

/**
 * The same with the events for webhook endpoints. It is a separate statement: where no endpoint wants the
 * events, planning their part would cost processor time on every change. `entries`: a join that names the
 * author of each changed entry as `e.pr_author`.
 */
export const withEventsText = (changes: string, entries: string): string => `
  with ${changes}, recorded as (${factsText}),
  wanted as (${wantedInQueue("($3::jsonb -> 0 ->> 'queue_id')::uuid")}),
  happened as (
    select f.n, f.action, f.queue_id, f.pr_number, e.pr_author as author, f.state, f.reason, f.recorded_at, t.*
    from jsonb_to_recordset($3) as f (n int, action text, run uuid, queue_id uuid, pr_number bigint, state text,
      reason text, recorded_at timestamptz)
    ${entries}
    left join lateral ${eventRunSql('f.queue_id', 'f.run')} t on true
    where f.action is not null and exists (select from wanted)
      -- The event about a run that this transaction begins is written when the run is pushed.
      and (f.action <> 'testing' or t.run_id is not null)
  ), ${insertDeliveries}`;

const insertChangesWithEvents = statement<SaveEntriesArgs>(
  withEventsText(
    changesText,
    'join jsonb_to_recordset($1) as e (pr_number bigint, pr_author text) on e.pr_number = f.pr_number',
  ),
);

/** Applies facts to entries and stores both, with a row for every attempt that ended. Returns the entries. */
export async function saveEntries(
  tx: Tx,
  lock: QueueLock,
  changes: readonly EntryChange[],
  /** Whether a webhook endpoint may want the events, as loaded in the same transaction. */
  hasWebhookEndpoints: boolean,
): Promise<readonly Entry[]> {
  const attempts: object[] = [];
  const facts: object[] = [];
  const entries = changes.map((change) => {
    let entry = change.before;
    for (const fact of change.facts) {
      const before = entry;
      entry = evolve(before, fact, change.newId);
      facts.push({ n: facts.length, ...factRow(lock.queueId, before, fact, entry) });
      if (isEnded(entry.stage)) attempts.push(toAttemptRow(lock.queueId, entry));
    }
    assert(entry !== null, 'a change has at least one fact');
    return entry;
  });
  const rows = entries.map((entry) => entryRow(lock.queueId, entry));
  const save = hasWebhookEndpoints ? insertChangesWithEvents : insertChanges;
  await save(tx, JSON.stringify(rows), JSON.stringify(attempts), JSON.stringify(facts));
  return entries;
}

/** The part of a fact that the columns of its row do not hold; null: nothing. */
function pickFactPayload(fact: Fact): object | null {
  if (fact.kind === 'moved') return null;
  if (fact.kind === 'restart_requested')
    return fact.ruleChange === undefined ? null : { ruleChange: fact.ruleChange };
  const { kind: _kind, at: _at, actor: _actor, ...payload } = fact;
  return Object.keys(payload).length === 0 ? null : payload;
}

export function factRow(
  queueId: QueueId,
  before: PlannedEntry | null,
  fact: Fact,
  after: PlannedEntry,
): object {
  const { kind, at, actor } = fact;
  const { stage } = after;
  const leftTest = before !== null && isUnderTest(before.stage) && stage.kind === 'pending';
  return {
    queue_id: queueId,
    recorded_at: at,
    pr_number: after.pullRequest.number,
    attempt: after.attempt,
    kind,
    // Only facts that move an entry appear in its timeline.
    state: kind === 'moved' || kind === 'submitted' || kind === 'restart_requested' ? stage.kind : null,
    reason: 'reason' in fact ? fact.reason : null,
    actor,
    test_run_id: 'runId' in stage ? stage.runId : null,
    restart: kind === 'restart_requested' || leftTest,
    action: outgoingAction(fact),
    run: outgoingRun(before, after),
    payload: pickFactPayload(fact),
  };
}

// Writes entry, trip, and the facts of entries (those of queues are written by queue-store.ts), with the events that tell
// of them (webhook-event.ts).

import { assert } from '#base/assert.ts';
import type { EntryId, QueueId } from '#base/id.ts';
import { evolve } from '#core/queue/evolve.ts';
import type { Fact } from '#core/queue/fact.ts';
import { type Entry, isEnded, isUnderTest, type PlannedEntry, type Queue } from '#core/queue/model.ts';
import { outgoingAction, outgoingRun } from '#core/queue/outgoing.ts';
import type { Tx } from './cell.ts';
import {
  entryColumns,
  entryInsertColumns,
  entryOf,
  type EntryRow,
  entryRow,
  queueColumns,
  queueOf,
  type QueueRow,
  rewritableColumns,
  tripColumns,
  tripRow,
} from './row.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';
import { insertDeliveries, isToldColumn, runOf, wantedInQueue } from './webhook-event.ts';

type LoadedRow = QueueRow & EntryRow & { next_seniority: number; is_told: boolean };

export const loadEntryStatement = `
  select ${queueColumns}, ${entryColumns}, nextval('entry_seniority') as next_seniority,
    ${isToldColumn('q.repository_id')} as is_told
  from queue q
  left join entry e on e.queue_id = q.id and e.pr_number = $2
  where q.id = $1 and q.deleted_at is null`;

const selectEntry = statement<[queueId: string, prNumber: number], LoadedRow>(loadEntryStatement);

export type LoadedEntry = {
  readonly queue: Queue;
  readonly entry: Entry | null;
  /** Larger than every seniority given out before. */
  readonly nextSeniority: number;
  /** Whether an endpoint of the organization may want to know of what happens. */
  readonly isTold: boolean;
};

/** Null when the queue was deleted meanwhile. */
export async function loadEntry(tx: Tx, lock: QueueLock, prNumber: number): Promise<LoadedEntry | null> {
  const [row] = await selectEntry(tx, lock.queueId, prNumber);
  if (row === undefined) return null;
  return {
    queue: queueOf(row),
    entry: row.entry_id === null ? null : entryOf(row),
    nextSeniority: row.next_seniority,
    isTold: row.is_told,
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
    insert into entry (${entryInsertColumns})
    select ${entryInsertColumns} from jsonb_populate_recordset(null::entry, $1)
    on conflict (queue_id, pr_number) do update set ${rewritable}
  ), ended as (
    insert into trip (${tripColumns}) select ${tripColumns} from jsonb_populate_recordset(null::trip, $2)
  )`;

export const factsText = `
  insert into fact (queue_id, recorded_at, pr_number, trip, kind, state, reason, actor, test_run_id, restart, payload)
  select f.queue_id, f.recorded_at, f.pr_number, f.trip, f.kind, f.state, f.reason, f.actor, f.test_run_id, f.restart, f.payload
  from jsonb_to_recordset($3) as f (n int, queue_id uuid, recorded_at timestamptz, pr_number bigint, trip int,
    kind text, state text, reason text, actor text, test_run_id uuid, restart boolean, payload jsonb)
  order by f.n`;

export const saveEntriesStatement = `with ${changesText} ${factsText}`;

type ChangeArgs = [entries: string, trips: string, facts: string];

const insertChanges = statement<ChangeArgs>(saveEntriesStatement);

// A statement of its own: what is planned for nobody would still cost its part of the processor each time.
const insertToldChanges = statement<ChangeArgs>(`
  with ${changesText}, recorded as (${factsText}),
  wanted as (${wantedInQueue("($3::jsonb -> 0 ->> 'queue_id')::uuid")}),
  happened as (
    select f.n, f.action, f.queue_id, f.pr_number, e.pr_author as author, f.state, f.reason, f.recorded_at, t.*
    from jsonb_to_recordset($3) as f (n int, action text, run uuid, queue_id uuid, pr_number bigint, state text,
      reason text, recorded_at timestamptz)
    join jsonb_to_recordset($1) as e (pr_number bigint, pr_author text) on e.pr_number = f.pr_number
    left join lateral ${runOf('f.queue_id', 'f.run')} t on true
    where f.action is not null and exists (select from wanted)
      -- A run that this transaction begins is told of when it is pushed.
      and (f.action <> 'testing' or t.run_id is not null)
  ), ${insertDeliveries}`);

/** Applies facts to entries and records both, with the row of every trip that ended. Returns the entries as they are now. */
export async function saveEntries(
  tx: Tx,
  lock: QueueLock,
  changes: readonly EntryChange[],
  /** Whether somebody outside wants to know: as it was loaded, in the same transaction. */
  isTold: boolean,
): Promise<readonly Entry[]> {
  const trips: object[] = [];
  const facts: object[] = [];
  const entries = changes.map((change) => {
    let entry = change.before;
    for (const fact of change.facts) {
      const before = entry;
      entry = evolve(before, fact, change.newId);
      facts.push({ n: facts.length, ...factRow(lock.queueId, before, fact, entry) });
      if (isEnded(entry.stage)) trips.push(tripRow(lock.queueId, entry));
    }
    assert(entry !== null, 'a change has at least one fact');
    return entry;
  });
  const rows = entries.map((entry) => entryRow(lock.queueId, entry));
  const save = isTold ? insertToldChanges : insertChanges;
  await save(tx, JSON.stringify(rows), JSON.stringify(trips), JSON.stringify(facts));
  return entries;
}

/** What a fact holds beside the columns of its row; null: nothing. */
function payloadOf(fact: Fact): object | null {
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
    trip: after.trip,
    kind,
    // Only what moves an entry shows in its timeline.
    state: kind === 'moved' || kind === 'submitted' || kind === 'restart_requested' ? stage.kind : null,
    reason: 'reason' in fact ? fact.reason : null,
    actor,
    test_run_id: 'runId' in stage ? stage.runId : null,
    restart: kind === 'restart_requested' || leftTest,
    action: outgoingAction(fact),
    run: outgoingRun(before, after),
    payload: payloadOf(fact),
  };
}

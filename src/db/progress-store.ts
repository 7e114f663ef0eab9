// Writes what a reconcile decided about entries: their progress, their place in the line and what the planner remembers of
// them, with their facts and the row of every attempt that ended. The texts of pull requests are neither read nor written.

import type { QueueId } from '#base/id.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { StoredItem } from '#core/queue/engine/stored.ts';
import { progress } from '#core/queue/evolve.ts';
import type { ProgressBody, ProgressFact } from '#core/queue/fact.ts';
import { isEnded, type PlannedEntry } from '#core/queue/model.ts';
import type { Tx } from './cell.ts';
import { factRow, factsText } from './entry-store.ts';
import { tripColumns, tripRow } from './row.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';
import { insertDeliveries, runOf, wantedInQueue } from './webhook-event.ts';

export type ChangedEntry = {
  readonly before: PlannedEntry;
  readonly facts: readonly ProgressBody[];
  /** Null: it is not in the queue any more. */
  readonly place: LinePlace | null;
  /** What the planner remembers of it; null: nothing. */
  readonly plan: StoredItem | null;
};

export const placeColumns = (place: LinePlace | null) => ({
  line_rank: place?.rank ?? null,
  line_major: place?.major ?? null,
  line_minor: place?.minor ?? null,
});

const columns = {
  state: 'text',
  state_changed_at: 'timestamptz',
  reason: 'text',
  test_run_id: 'uuid',
  queued_at: 'timestamptz',
  concluded_at: 'timestamptz',
  wait_ms: 'bigint',
  test_ms: 'bigint',
  in_queue_ms: 'bigint',
  restarts: 'int',
  landing: 'boolean',
  end_requested: 'text',
  restart_requested: 'boolean',
  plan: 'jsonb',
  line_rank: 'smallint',
  line_major: 'bigint',
  line_minor: 'bigint',
} as const;
const assignments = Object.keys(columns)
  .map((name) => `${name} = c.${name}`)
  .join(', ');
const recordColumns = Object.entries(columns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

const changesText = `
  saved as (
    update entry e set ${assignments}
    from jsonb_to_recordset($1) as c (queue_id uuid, pr_number bigint, ${recordColumns})
    where e.queue_id = c.queue_id and e.pr_number = c.pr_number
  ), ended as (
    insert into trip (${tripColumns}) select ${tripColumns} from jsonb_populate_recordset(null::trip, $2)
  )`;

type ChangeArgs = [entries: string, trips: string, facts: string];

const updateEntries = statement<ChangeArgs>(`with ${changesText} ${factsText}`);

// A statement of its own: what is planned for nobody would still cost its part of the processor each time.
const updateToldEntries = statement<ChangeArgs>(`
  with ${changesText}, recorded as (${factsText}),
  wanted as (${wantedInQueue("($3::jsonb -> 0 ->> 'queue_id')::uuid")}),
  happened as (
    select f.n, f.action, f.queue_id, f.pr_number, e.pr_author as author, f.state, f.reason, f.recorded_at, t.*
    from jsonb_to_recordset($3) as f (n int, action text, run uuid, queue_id uuid, pr_number bigint, state text,
      reason text, recorded_at timestamptz)
    join entry e on e.queue_id = f.queue_id and e.pr_number = f.pr_number
    left join lateral ${runOf('f.queue_id', 'f.run')} t on true
    where f.action is not null and exists (select from wanted)
      -- A run that this transaction begins is told of when it is pushed.
      and (f.action <> 'testing' or t.run_id is not null)
  ), ${insertDeliveries}`);

/** Written with one statement. More at once would keep the event loop busy for too long with making its text. */
const partMax = 1_000;

export function* partsOf<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += partMax) yield rows.slice(from, from + partMax);
}

/** Members of a batch are told of together, so what is about a run is written with one statement. */
function* partsWithRuns(changes: readonly ChangedEntry[]): Generator<readonly ChangedEntry[]> {
  const ofRuns = changes.filter(isOfRun);
  if (ofRuns.length > 0) yield ofRuns;
  yield* partsOf(changes.filter((change) => !isOfRun(change)));
}

const isOfRun = ({ before, facts }: ChangedEntry): boolean =>
  'runId' in before.stage || facts.some((fact) => fact.kind === 'moved' && 'runId' in fact.to);

/** Applies facts to entries and records both. `isTold`: whether an endpoint may want to know, as it was loaded. */
export async function saveProgress(
  tx: Tx,
  { queueId }: QueueLock,
  changes: readonly ChangedEntry[],
  at: Date,
  isTold: boolean,
): Promise<void> {
  const save = isTold ? updateToldEntries : updateEntries;
  for (const part of isTold ? partsWithRuns(changes) : partsOf(changes)) {
    const rows = part.map((change) => progressRows(queueId, change, at));
    await save(
      tx,
      JSON.stringify(rows.map(({ entry }) => entry)),
      JSON.stringify(rows.flatMap(({ trips }) => trips)),
      JSON.stringify(rows.flatMap(({ facts }) => facts).map((fact, n) => ({ n, ...fact }))),
    );
  }
}

type ProgressRows = {
  readonly entry: object;
  readonly trips: readonly object[];
  readonly facts: readonly object[];
};

function progressRows(
  queueId: QueueId,
  { before, facts, place, plan }: ChangedEntry,
  at: Date,
): ProgressRows {
  const trips: object[] = [];
  const rows: object[] = [];
  let entry = before;
  for (const body of facts) {
    const fact: ProgressFact = { ...body, at, actor: 'queue' };
    const after = progress(entry, fact);
    rows.push(factRow(queueId, entry, fact, after));
    entry = after;
    if (isEnded(entry.stage)) trips.push(tripRow(queueId, entry));
  }
  const { stage } = entry;
  const row = {
    queue_id: queueId,
    pr_number: entry.pullRequest.number,
    state: stage.kind,
    state_changed_at: entry.stageChangedAt,
    reason: 'reason' in stage ? stage.reason : null,
    test_run_id: 'runId' in stage ? stage.runId : null,
    queued_at: entry.queuedAt,
    concluded_at: isEnded(stage) ? entry.stageChangedAt : null,
    wait_ms: entry.waitMs,
    test_ms: entry.testMs,
    in_queue_ms: entry.inQueueMs,
    restarts: entry.restarts,
    landing: entry.landing,
    end_requested: entry.endRequested,
    restart_requested: entry.restartRequested,
    plan,
    ...placeColumns(place),
  } satisfies Record<keyof typeof columns | 'queue_id' | 'pr_number', unknown>;
  return { entry: row, trips, facts: rows };
}

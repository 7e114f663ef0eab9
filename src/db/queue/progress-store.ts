// Writes what a reconcile decided about entries: their progress, their position in the queue and what the
// planner remembers of them, with their facts and the row of every attempt that ended. It neither reads nor
// writes the texts of pull requests.

import type { QueueId } from '#base/id.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { StoredItem } from '#core/queue/engine/stored.ts';
import { progress } from '#core/queue/evolve.ts';
import type { ProgressBody, ProgressFact } from '#core/queue/fact.ts';
import { isEnded, type PlannedEntry } from '#core/queue/model.ts';
import type { Tx } from '../cell.ts';
import { factRow, factsText, withEventsText } from './entry-store.ts';
import { progressRow, attemptColumns, toAttemptRow } from '../row.ts';
import { statement } from '../statement.ts';
import { storedItemRow } from '../stored-item.ts';
import type { QueueLock } from '../transaction.ts';

export type ChangedEntry = {
  readonly before: PlannedEntry;
  readonly facts: readonly ProgressBody[];
  /** Null: the entry is not in the queue any more. */
  readonly place: LinePlace | null;
  /** What the planner remembers of it; null: nothing. */
  readonly plan: StoredItem | null;
};

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
    update queue_entry e set ${assignments}
    from jsonb_to_recordset($1) as c (queue_id uuid, pr_number bigint, ${recordColumns})
    where e.queue_id = c.queue_id and e.pr_number = c.pr_number
  ), ended as (
    insert into attempt (${attemptColumns}) select ${attemptColumns} from jsonb_populate_recordset(null::attempt, $2)
  )`;

type UpdateEntriesArgs = [entries: string, attempts: string, facts: string];

const updateEntries = statement<UpdateEntriesArgs>(`with ${changesText} ${factsText}`);

const updateEntriesWithEvents = statement<UpdateEntriesArgs>(
  withEventsText(changesText, 'join queue_entry e on e.queue_id = f.queue_id and e.pr_number = f.pr_number'),
);

/** Entries per statement. More at once would block the event loop for too long. */
const partMax = 1_000;

export function* partsOf<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += partMax) yield rows.slice(from, from + partMax);
}

/** An event names all members of a batch, so the changes of a run are written with one statement. */
function* partsWithRuns(changes: readonly ChangedEntry[]): Generator<readonly ChangedEntry[]> {
  const ofRuns = changes.filter(isOfRun);
  if (ofRuns.length > 0) yield ofRuns;
  yield* partsOf(changes.filter((change) => !isOfRun(change)));
}

const isOfRun = ({ before, facts }: ChangedEntry): boolean =>
  'runId' in before.stage || facts.some((fact) => fact.kind === 'moved' && 'runId' in fact.to);

/** Applies facts to entries and stores both. `hasWebhookEndpoints`: whether a webhook endpoint may want the events. */
export async function saveProgress(
  tx: Tx,
  { queueId }: QueueLock,
  changes: readonly ChangedEntry[],
  at: Date,
  hasWebhookEndpoints: boolean,
): Promise<void> {
  const save = hasWebhookEndpoints ? updateEntriesWithEvents : updateEntries;
  for (const part of hasWebhookEndpoints ? partsWithRuns(changes) : partsOf(changes)) {
    const rows = part.map((change) => progressRows(queueId, change, at));
    await save(
      tx,
      JSON.stringify(rows.map(({ entry }) => entry)),
      JSON.stringify(rows.flatMap(({ attempts }) => attempts)),
      JSON.stringify(rows.flatMap(({ facts }) => facts).map((fact, n) => ({ n, ...fact }))),
    );
  }
}

type ProgressRows = {
  readonly entry: object;
  readonly attempts: readonly object[];
  readonly facts: readonly object[];
};

function progressRows(
  queueId: QueueId,
  { before, facts, place, plan }: ChangedEntry,
  at: Date,
): ProgressRows {
  const attempts: object[] = [];
  const rows: object[] = [];
  let entry = before;
  for (const body of facts) {
    const fact: ProgressFact = { ...body, at, actor: 'queue' };
    const after = progress(entry, fact);
    rows.push(factRow(queueId, entry, fact, after));
    entry = after;
    if (isEnded(entry.stage)) attempts.push(toAttemptRow(queueId, entry));
  }
  const row = { ...progressRow(queueId, entry, place), plan: storedItemRow(plan) } satisfies Record<
    keyof typeof columns | 'queue_id' | 'pr_number',
    unknown
  >;
  return { entry: row, attempts, facts: rows };
}

// Reads the picture of a queue, and writes what a look at it decided: queue_plan, the planner's columns of entry,
// test_run and test_run_member, and landings that are intended.

import type { EntryId, OrganizationId, QueueId, RepositoryId, RunId } from '#base/id.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { Look } from '#core/queue/engine/look.ts';
import type { LandingReport, Picture, PictureEntry, RunReport } from '#core/queue/engine/picture.ts';
import { isSameJson, type StoredItem, type StoredPlan } from '#core/queue/engine/stored.ts';
import type { Fact } from '#core/queue/fact.ts';
import { limitsFrom } from '#core/queue/planner/limits.ts';
import type { Entry } from '#core/queue/model.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import { type EntryChange, saveEntries } from './entry-store.ts';
import { noticeQueue } from './queue-notice.ts';
import { saveQueue } from './queue-store.ts';
import { entryColumns, entryOf, type EntryRow, queueColumns, queueOf, type QueueRow } from './row.ts';
import { requiredChecksColumn, wireState } from './required-view.ts';
import { measureRuns } from './run-measure-store.ts';
import { holdRuns } from './run-store.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';
import { isToldColumn } from './webhook-event.ts';

type HeadRow = QueueRow & {
  repository_id: string;
  organization_id: string;
  host: string;
  owner: string;
  name: string;
  branch_sha: string | null;
  host_away_at: Date | null;
  plan: StoredPlan | null;
  measured_at: Date | null;
  start_p99_ms: number | null;
  test_p99_ms: number | null;
  is_told: boolean;
};

const selectHead = statement<[queueId: string], HeadRow>(`
  select ${queueColumns}, q.repository_id, r.organization_id, r.host, r.owner, r.name, q.branch_sha, q.host_away_at,
    p.state as plan, p.measured_at, p.start_p99_ms, p.test_p99_ms, ${isToldColumn('r.id')} as is_told
  from queue q join repository r on r.id = q.repository_id left join queue_plan p on p.queue_id = q.id
  where q.id = $1 and q.deleted_at is null`);

type OpenRow = EntryRow & {
  plan: StoredItem | null;
  probed_tip: string | null;
  tested_on_tip: string | null;
  line_rank: number | null;
  line_major: number | null;
  line_minor: number | null;
  targets_at: Date | null;
  impacts_all: boolean | null;
  untold: 'not' | 'soon' | 'later';
};

const selectOpen = statement<[queueId: string], OpenRow>(`
  select ${entryColumns}, e.plan, e.probed_tip, e.tested_on_tip, e.line_rank, e.line_major, e.line_minor,
    i.uploaded_at as targets_at, i.impacts_all,
    case when l.told_at is null then 'soon'
      when l.told_at = e.state_changed_at then case e.state when 'not_ready' then 'later' else 'not' end
      when e.concluded_at is not null then 'soon' else 'later' end as untold
  from entry e join queue q on q.id = e.queue_id
  left join telling l on l.queue_id = e.queue_id and l.pr_number = e.pr_number
  left join impacted_targets i on i.repository_id = q.repository_id and i.pr_number = e.pr_number
    and i.head_sha = e.pr_sha
  where e.queue_id = $1 and (e.line_rank is not null or e.plan is not null)
  order by e.seniority`);

type RunRow = {
  id: string;
  number: number;
  pushed_at: Date | null;
  outcome: string | null;
  outcome_detail: object | null;
  required: RequiredCheck[];
  checks: Check[] | null;
  started_at: Date | null;
};

const selectRuns = statement<[queueId: string], RunRow>(`
  select t.id, t.number, t.pushed_at, t.outcome, t.outcome_detail, t.started_at,
    ${requiredChecksColumn('t')} as required,
    case when t.status = 'in_progress' and t.test_branch_sha is not null then (
      select json_agg(c.body) from commit_check c
      where c.repository_id = q.repository_id and c.sha = t.test_branch_sha) end as checks
  from queue_plan p join queue q on q.id = p.queue_id, jsonb_array_elements(p.state -> 'runs') as r
  join test_run t on t.queue_id = $1 and t.number = (r ->> 'id')::bigint
  where p.queue_id = $1`);

type LandingRow = { number: number; status: string; landed_sha: string | null; detail: object | null };

const selectLanding = statement<[queueId: string], LandingRow>(`
  select number, status, landed_sha, detail from landing
  where queue_id = $1 and not observed and status <> 'intended' order by number limit 1`);

/** Where the targets of many entries come from; only lanes need them. */
export type TargetSource = (
  repositoryId: RepositoryId,
  wanted: readonly { readonly prNumber: number; readonly headSha: string; readonly at: number }[],
) => Promise<ReadonlyMap<number, Targets>>;

export type LoadedPicture = {
  readonly picture: Picture;
  readonly repository: RepositoryName & {
    readonly id: RepositoryId;
    readonly organizationId: OrganizationId;
  };
  /** As the rows hold them now. */
  readonly places: ReadonlyMap<number, LinePlace>;
  /** Whether some pull request is to be told where it stands; soon, if its trip begins or has ended. */
  readonly untold: 'not' | 'soon' | 'later';
  /** When the times of the queue's runs were last computed. */
  readonly measuredAt: Date | null;
  /** Whether an endpoint of the organization may want to know of what happens. */
  readonly isTold: boolean;
};

/** Null when the queue was deleted meanwhile. */
export async function loadPicture(
  tx: Tx,
  lock: QueueLock,
  targetsOf: TargetSource,
): Promise<LoadedPicture | null> {
  const { queueId } = lock;
  const [heads, open, runs, landings] = await Promise.all([
    selectHead(tx, queueId),
    selectOpen(tx, queueId),
    selectRuns(tx, queueId),
    selectLanding(tx, queueId),
  ]);
  const [head] = heads;
  if (head === undefined) return null;
  const queue = queueOf(head);
  const repositoryId = head.repository_id as RepositoryId;
  const inLanes = queue.settings.mode === 'parallel' || queue.switching?.mode === 'parallel';
  const wanted = open.flatMap((row) =>
    inLanes && row.targets_at !== null && row.impacts_all === false
      ? [{ prNumber: row.pr_number, headSha: row.pr_sha, at: row.targets_at.getTime() }]
      : [],
  );
  const sets = wanted.length === 0 ? new Map<number, Targets>() : await targetsOf(repositoryId, wanted);
  const { organization_id: organizationId, host, owner, name } = head;
  return {
    repository: { id: repositoryId, organizationId: organizationId as OrganizationId, host, owner, name },
    places: new Map(open.flatMap(placeOf)),
    untold: (['soon', 'later'] as const).find((when) => open.some((row) => row.untold === when)) ?? 'not',
    measuredAt: head.measured_at,
    isTold: head.is_told,
    picture: {
      queue,
      branchSha: head.branch_sha,
      limits: limitsFrom({ startP99Ms: head.start_p99_ms, testP99Ms: head.test_p99_ms }),
      hostAwayAt: head.host_away_at,
      stored: head.plan,
      entries: open.map((row) => pictureEntry(row, sets)),
      runs: runs.map(reportOf),
      landing: landings.map(landingReport)[0] ?? null,
    },
  };
}

const placeOf = ({ pr_number: pr, line_rank: rank, line_major: major, line_minor: minor }: OpenRow) =>
  rank === null || major === null || minor === null
    ? []
    : [[pr, { rank: rank as LinePlace['rank'], major, minor }] as const];

function pictureEntry(row: OpenRow, sets: ReadonlyMap<number, Targets>): PictureEntry {
  return {
    entry: entryOf(row),
    stored: row.plan,
    targets:
      row.targets_at === null
        ? null
        : { at: row.targets_at.getTime(), set: sets.get(row.pr_number) ?? 'ALL' },
    probedTip: row.probed_tip,
    testedOnTip: row.tested_on_tip,
  };
}

function reportOf(row: RunRow): RunReport {
  return {
    id: row.id as RunId,
    number: row.number,
    // Written by the jobs as the union says.
    outcome:
      row.outcome === null ? null : ({ kind: row.outcome, ...row.outcome_detail } as RunReport['outcome']),
    pushedAt: row.pushed_at?.getTime() ?? null,
    required: row.required,
    checks: row.checks ?? [],
    startedAt: row.started_at?.getTime() ?? null,
  };
}

function landingReport({ number, status, landed_sha: sha, detail }: LandingRow): LandingReport {
  // Written by the landing job as the union says.
  return { number, kind: status, ...(sha === null ? {} : { tip: sha }), ...detail } as LandingReport;
}

const upsertPlan = statement<[queueId: string, state: string]>(`
  insert into queue_plan (queue_id, state) values ($1, $2)
  on conflict (queue_id) do update set state = excluded.state`);

const updateItems = statement<[queueId: string, items: string]>(`
  update entry e set plan = i.plan, line_rank = i.rank, line_major = i.major, line_minor = i.minor
  from jsonb_to_recordset($2) as i (pr bigint, plan jsonb, rank smallint, major bigint, minor bigint)
  where e.queue_id = $1 and e.pr_number = i.pr`);

const insertRuns = statement<[queueId: string, runs: string, members: string]>(`
  with runs as (
    insert into test_run (queue_id, id, number, kind, created_at, test_branch, base_sha, composition)
    select $1, r.id, r.number, r.kind, r.created_at, r.test_branch, r.base_sha, r.composition
    from jsonb_to_recordset($2) as r (id uuid, number bigint, kind text, created_at timestamptz, test_branch text,
      base_sha text, composition text)
  )
  insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha, under_test)
  select $1, m.id, m.position, m.pr, m.head, m.under_test
  from jsonb_to_recordset($3) as m (id uuid, position int, pr bigint, head text, under_test boolean)`);

// What CI said stays with the run; the working copy is swept by age.
const concludeRuns = statement<[queueId: string, runs: string, at: Date]>(`
  update test_run t set status = r.status, concluded_at = $3,
    outcome = coalesce(t.outcome, r.outcome),
    status_checks = coalesce(checks.statuses, '[]'), check_suites = coalesce(checks.suites, '[]')
  from jsonb_to_recordset($2) as r (number bigint, status text, outcome text),
  lateral (
    select
      json_agg(json_build_object('context', c.name, 'url', c.body ->> 'url', 'state', ${wireState},
        'creator', c.body ->> 'creator') order by c.name) filter (where c.kind = 'status') as statuses,
      (select json_agg(json_build_object('checkRuns', s.runs)) from (
        select json_agg(json_build_object('name', k.body ->> 'name', 'url', k.body ->> 'url',
          'status', upper(k.body ->> 'status'), 'conclusion', upper(k.body ->> 'conclusion'),
          'app', k.body ->> 'app') order by k.name) as runs
        from commit_check k join queue kq on kq.id = $1 and kq.repository_id = k.repository_id
        where k.sha = (select x.test_branch_sha from test_run x where x.queue_id = $1 and x.number = r.number)
          and k.kind = 'check'
        group by k.body ->> 'suite') s) as suites
    from commit_check c join queue q on q.id = $1 and q.repository_id = c.repository_id
    where c.sha = (select x.test_branch_sha from test_run x where x.queue_id = $1 and x.number = r.number)
  ) checks
  where t.queue_id = $1 and t.number = r.number and t.status = 'in_progress'`);

const insertLanding = statement<
  [
    queueId: string,
    number: number,
    proof: string,
    runId: string | null,
    method: string,
    baseSha: string,
    at: Date,
    members: string,
  ]
>(`
  with landing as (
    insert into landing (queue_id, number, proof, test_run_id, method, base_sha, intended_at)
    values ($1, $2, $3, $4, $5, $6, $7)
  ), epoch as (
    update queue set branch_epoch = branch_epoch + 1 where id = $1
  )
  insert into landing_member (queue_id, number, position, pr_number, trip, head_sha, forced)
  select $1, $2, m.position, m.pr, m.trip, m.head,
    coalesce((select e.forced from entry e where e.queue_id = $1 and e.pr_number = m.pr and e.trip = m.trip), false)
  from jsonb_to_recordset($8) as m (position int, pr bigint, trip int, head text)`);

const markObserved = statement<[queueId: string, number: number]>(
  `update landing set observed = true where queue_id = $1 and number = $2`,
);

/** Writes a look in the transaction that read its picture. */
export async function saveLook(
  tx: Tx,
  lock: QueueLock,
  { picture, places, measuredAt, isTold }: LoadedPicture,
  look: Look,
  now: Date,
): Promise<void> {
  const { queueId } = lock;
  const entries = new Map(picture.entries.map(({ entry }) => [entry.pullRequest.number, entry]));
  const sent: Promise<unknown>[] = [];
  if (look.queue !== picture.queue) sent.push(saveQueue(tx, lock, look.queue));
  const changes = [...look.facts].map(([pr, bodies]): EntryChange => {
    const before = entries.get(pr)!;
    const facts = bodies.map((body): Fact => ({ ...body, at: now, actor: 'queue' }));
    return { before, facts, newId: before.id satisfies EntryId };
  });
  if (changes.length > 0) sent.push(saveEntries(tx, lock, changes, isTold));
  const items = changedItems(picture, places, look);
  if (items.length > 0) sent.push(updateItems(tx, queueId, JSON.stringify(items)));
  if (!isSameJson(look.stored, picture.stored))
    sent.push(upsertPlan(tx, queueId, JSON.stringify(look.stored)));
  if (look.started.length > 0) sent.push(saveRuns(tx, queueId, picture, look, entries, now));
  if (look.concluded.length > 1) sent.push(holdRuns(tx, queueId));
  if (look.concluded.length > 0)
    sent.push(concludeRuns(tx, queueId, JSON.stringify(look.concluded.map(conclusionRow)), now));
  // After the runs are concluded, so that they count too.
  if (look.concluded.length > 0) sent.push(measureRuns(tx, queueId, measuredAt, now));
  if (picture.landing !== null) sent.push(markObserved(tx, queueId, picture.landing.number));
  if (look.landing !== null) sent.push(saveLanding(tx, queueId, picture, look.landing, entries, now));
  if (sent.length > 0) sent.push(noticeQueue(tx, queueId));
  await Promise.all(sent);
}

const samePlace = (a: LinePlace | undefined, b: LinePlace | undefined): boolean =>
  a?.rank === b?.rank && a?.major === b?.major && a?.minor === b?.minor;

function changedItems(picture: Picture, before: ReadonlyMap<number, LinePlace>, look: Look): object[] {
  const rows: object[] = [];
  for (const { entry, stored } of picture.entries) {
    const { number: pr } = entry.pullRequest;
    const place = look.places.get(pr);
    const changed = look.items.get(pr);
    // Facts about an entry rewrite its row, and its place with it.
    if (changed === undefined && !look.facts.has(pr) && samePlace(place, before.get(pr))) continue;
    const plan = changed === undefined ? stored : changed;
    rows.push({
      pr,
      plan,
      rank: place?.rank ?? null,
      major: place?.major ?? null,
      minor: place?.minor ?? null,
    });
  }
  return rows;
}

const statuses = {
  passed: 'succeeded',
  failed: 'failed',
  // It says nothing about the change.
  infrastructure: 'cancelled',
  timed_out: 'failed',
  not_started: 'failed',
  cancelled: 'cancelled',
} as const;

const conclusionRow = ({ number, outcome }: Look['concluded'][number]) => ({
  number,
  outcome,
  status: statuses[outcome],
});

/** The test branch ends in the run's id, so that CI can derive it from its ref. */
const testBranchOf = (targetBranch: string, pr: number, runId: RunId): string =>
  `signalbox/${targetBranch}/pr-${pr}/${runId}`;

function saveRuns(
  tx: Tx,
  queueId: QueueId,
  { queue }: Picture,
  { started }: Look,
  entries: ReadonlyMap<number, Entry>,
  now: Date,
): Promise<unknown> {
  const headOf = (pr: number) => entries.get(pr)!.pullRequest.headSha;
  const runs = started.map(({ id, run: { id: number, of, composition } }) => ({
    id,
    number,
    kind: of.kind === 'line' ? 'main' : 'bisection',
    created_at: now,
    test_branch: testBranchOf(queue.targetBranch, composition.members.at(-1)!, id),
    base_sha: composition.base,
    composition: [composition.base, ...composition.members.map(headOf)].join('+'),
  }));
  const members = started.flatMap(({ id, run: { composition } }) =>
    composition.members.map((pr, position) => ({
      id,
      position,
      pr,
      head: headOf(pr),
      under_test: position >= composition.members.length - composition.tested,
    })),
  );
  return insertRuns(tx, queueId, JSON.stringify(runs), JSON.stringify(members));
}

function saveLanding(
  tx: Tx,
  queueId: QueueId,
  { queue, runs }: Picture,
  { landing, base }: NonNullable<Look['landing']>,
  entries: ReadonlyMap<number, Entry>,
  now: Date,
): Promise<unknown> {
  const { proof, id: number } = landing;
  const runId = proof.kind === 'direct' ? null : runs.find((run) => run.number === proof.run)!.id;
  const members = landing.members.map((pr, position) => {
    const { trip, pullRequest } = entries.get(pr)!;
    return { position, pr, trip, head: pullRequest.headSha };
  });
  const { mergeMethod } = queue.settings;
  return insertLanding(
    tx,
    queueId,
    number,
    proof.kind,
    runId,
    mergeMethod,
    base,
    now,
    JSON.stringify(members),
  );
}

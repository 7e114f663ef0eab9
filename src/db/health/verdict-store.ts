// Writes the classification of tests (status, quarantine, impact in test_case) and test_fact, with events.

import type { RepositoryId } from '#base/id.ts';
import type { HeldBackReason, QuarantineRoom } from '#core/health/quarantine/quarantine-contract.ts';
import type { QuarantineSetting } from '#core/health/quarantine/quarantine.ts';
import {
  completeSettings,
  type ResolvedHealthSettings,
  type HealthSettingsOverrides,
} from '#core/health/settings.ts';
import type { HealthStatus, Mute } from '#core/health/status.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import { repositoryEndpointsSql } from '../webhook/webhook-event.ts';
import { recordTestEvents } from './webhook-test-event.ts';

/** The state of a test. */
export type TestHealthRow = {
  readonly id: string;
  /** Null: no upload named the test; a sandbox set its state. */
  readonly ordinal: number | null;
  readonly status: HealthStatus;
  readonly status_reason: string;
  readonly quarantine_setting: QuarantineSetting;
  readonly quarantine_expires_at: Date | null;
  readonly quarantined_at: Date | null;
  readonly quarantine_held_back: HeldBackReason | null;
  readonly quarantine_warned_days: number | null;
  readonly manual_status: HealthStatus | null;
  readonly name: string;
  readonly file_path: string | null;
  readonly created_at: Date;
  readonly status_changed_at: Date;
};

const selectTestHealth = statement<[repositoryId: string, ids: readonly string[]], TestHealthRow>(`
  select id, ordinal, status, status_reason, quarantine_setting, quarantine_expires_at, quarantined_at,
    quarantine_held_back, quarantine_warned_days, manual_status, name, file_path, created_at,
    status_changed_at
  from test_case where repository_id = $1 and id = any ($2::uuid[])`);

export async function findTestHealth(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TestHealthRow>> {
  if (ids.length === 0) return new Map();
  const rows = await selectTestHealth(db, repositoryId, ids);
  return new Map(rows.map((row) => [row.id, row]));
}

const selectMutes = statement<
  [repositoryId: string, ids: readonly string[], now: Date],
  { test_case_id: string; monitor: string; until: Date }
>(`
  select test_case_id, monitor, until from test_mute
  where repository_id = $1 and test_case_id = any ($2::uuid[]) and until > $3`);

export async function findMutes(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, readonly Mute[]>> {
  const mutes = new Map<string, Mute[]>();
  for (const { test_case_id, monitor, until } of await selectMutes(db, repositoryId, ids, now)) {
    const known = mutes.get(test_case_id) ?? [];
    known.push({ monitor, until: until.getTime() });
    mutes.set(test_case_id, known);
  }
  return mutes;
}

const selectSettings = statement<
  [repositoryId: string],
  { settings: HealthSettingsOverrides | null; branches: string[]; slug: string }
>(`
  select (select settings from health_settings where repository_id = $1) as settings, o.slug,
    array(select distinct branch from queue where repository_id = $1 and deleted_at is null order by branch limit 10)
      as branches
  from repository r join organization o on o.id = r.organization_id where r.id = $1`);

export type HealthContext = {
  readonly organizationSlug: string;
  readonly settings: ResolvedHealthSettings;
  /** From the settings, or else the branches of queues and the two usual names. */
  readonly defaultBranches: readonly string[];
};

/** Null: there is no such repository. */
export async function findHealthContext(db: Tx, repositoryId: RepositoryId): Promise<HealthContext | null> {
  const [row] = await selectSettings(db, repositoryId);
  if (row === undefined) return null;
  const settings = completeSettings(row.settings);
  return {
    organizationSlug: row.slug,
    settings,
    defaultBranches: settings.defaultBranches ?? ['main', 'master', ...row.branches],
  };
}

export type TestClassification = {
  readonly id: string;
  readonly status: HealthStatus;
  readonly status_reason: string;
  readonly isStatusNew: boolean;
  readonly quarantine_setting: QuarantineSetting;
  readonly quarantine_expires_at: Date | null;
  readonly quarantined_at: Date | null;
  readonly quarantine_held_back: HeldBackReason | null;
  readonly quarantine_warned_days: number | null;
};

const updateVerdicts = statement<[repositoryId: string, now: Date, rows: string]>(`
  update test_case c set status = r.status, status_reason = r.status_reason,
    status_changed_at = case when r."isStatusNew" then $2 else c.status_changed_at end,
    quarantine_setting = r.quarantine_setting, quarantine_expires_at = r.quarantine_expires_at,
    quarantined_at = r.quarantined_at, quarantine_held_back = r.quarantine_held_back,
    quarantine_warned_days = r.quarantine_warned_days
  from jsonb_to_recordset($3::jsonb) as r (id uuid, status text, status_reason text, "isStatusNew" boolean,
    quarantine_setting text, quarantine_expires_at timestamptz, quarantined_at timestamptz,
    quarantine_held_back text, quarantine_warned_days smallint)
  where c.repository_id = $1 and c.id = r.id`);

export async function putVerdicts(
  tx: Tx,
  { repositoryId }: TestsLock,
  verdicts: readonly TestClassification[],
  now: Date,
): Promise<void> {
  if (verdicts.length > 0) await updateVerdicts(tx, repositoryId, now, JSON.stringify(verdicts));
}

const selectRoom = statement<[repositoryId: string, enough: number], QuarantineRoom>(`
  select (select count(*) from test_case where repository_id = $1 and quarantined_at is not null) as quarantined,
    (select count(*) from (select from test_case where repository_id = $1 limit $2::bigint) counted) as suite`);

/** `enough`: tests beyond that number are not counted. */
export async function readQuarantineRoom(
  tx: Tx,
  repositoryId: RepositoryId,
  enough: number,
): Promise<QuarantineRoom> {
  const [row] = await selectRoom(tx, repositoryId, enough);
  return row!;
}

/** The cause of a change: an upload, the passing of time, or a person's request. */
export type FactTrigger =
  | { readonly kind: 'upload'; readonly uploadId: string }
  | { readonly kind: 'time' }
  | { readonly kind: 'person'; readonly actor: string };

export type TestFact = {
  readonly testCaseId: string;
  readonly kind:
    | 'status_changed'
    | 'monitor_status_changed'
    | 'quarantining_setting_changed'
    | 'quarantine_held_back'
    | 'quarantine_ending'
    | 'breakage_located'
    | 'fix_verification_changed'
    | 'renamed';
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  /** How often the test showed its former status again while it had it; undefined: not known, or no change of status. */
  readonly repeats?: number;
};

const insertFacts = statement<
  [repositoryId: string, now: Date, trigger: string, rows: string],
  { is_wanted: boolean }
>(`
  with recorded as (
    insert into test_fact (repository_id, recorded_at, test_case_id, kind, before, after, trigger, repeats)
    select $1::uuid, $2::timestamptz, r."testCaseId", r.kind, r.before, r.after, $3::jsonb, r.repeats
    from jsonb_to_recordset($4::jsonb) as r ("testCaseId" uuid, kind text, before jsonb, after jsonb, repeats int)
  )
  select exists (${repositoryEndpointsSql('$1::uuid')}) as is_wanted`);

export async function appendTestFacts(
  tx: Tx,
  { repositoryId }: TestsLock,
  facts: readonly TestFact[],
  trigger: FactTrigger,
  now: Date,
): Promise<void> {
  if (facts.length === 0) return;
  const [row] = await insertFacts(tx, repositoryId, now, JSON.stringify(trigger), JSON.stringify(facts));
  if (row!.is_wanted) await recordTestEvents(tx, repositoryId, facts, trigger, now);
}

const updateImpact = statement<[repositoryId: string, ids: readonly string[], now: Date]>(`
  update test_case c set pull_requests_impacted_7d = i.impacted
  from (select wanted.id, (select count(distinct f.pr_number) from test_failure f
      where f.repository_id = $1 and f.test_case_id = wanted.id and f.failed_at > $3::timestamptz - interval '7 days'
        and f.failed_at <= $3 and f.was_unhealthy and f.is_trusted and f.outcome = 'failed') as impacted
    from unnest($2::uuid[]) as wanted (id)) i
  where c.repository_id = $1 and c.id = i.id and c.pull_requests_impacted_7d <> i.impacted`);

/** Recounts the pull requests in which these tests failed while they were unhealthy. */
export async function countImpact(
  tx: Tx,
  { repositoryId }: TestsLock,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (ids.length > 0) await updateImpact(tx, repositoryId, ids, now);
}

// The scope of a request: the token, its organization, the repository, the queue and the entry in one
// statement. Every request under /v1 and /app/api begins with it, so a plain read of an entry costs one round
// trip, and a revoked token is refused from the next request on.

import { createHash } from 'node:crypto';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { BoundJob } from '#core/ci-job.ts';
import type { Queue } from '#core/queue/model.ts';
import type { EntryStatus } from '#core/queue/text/entry-status.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { failedTestsSql } from '../run/failed-test-view.ts';
import { requiredChecksColumn } from '../host/required-view.ts';
import { entryColumns, toEntry, type EntryRow, queueColumns, toQueue, type QueueRow } from '../row.ts';
import { statement } from '../statement.ts';

export type Principal = {
  readonly kind: 'token' | 'person';
  /** Of the token or the person. */
  readonly id: string;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly organizationSlug: string;
  readonly organizationName: string;
  readonly scopes: readonly string[];
  /** Of the token; null where it has no end, and of a person. */
  readonly expiresAt: Date | null;
  /** Null where the token itself was shown. */
  readonly sessionExpiresAt: Date | null;
  /** The CI job that the token was made for; null: any other caller. */
  readonly job: BoundJob | null;
};

/** The credential of a request: a token, that of a CI job, or a session. */
export type Credential = { readonly kind: 'token' | 'job' | 'session'; readonly hash: Buffer };

/** Tokens of CI jobs begin with it. */
export const jobTokenPrefix = 'sbj_';

export type RepositoryRecord = RepositoryName & { readonly id: RepositoryId };

/** The named objects that exist; null from the first one on that does not. */
export type RequestScope = {
  readonly principal: Principal;
  readonly repository: RepositoryRecord | null;
  readonly queue: Queue | null;
  /** The host of the queue's repository does not answer. */
  readonly isHostAway: boolean;
  readonly entry: EntryStatus | null;
};

export type ScopeKey = {
  readonly repository?: RepositoryName | undefined;
  readonly branch?: string | undefined;
  readonly prNumber?: number | undefined;
};

type ScopeRow = {
  person_id?: string | null;
  principal_id: string;
  principal_name: string;
  organization_id: string;
  slug: string;
  organization_name: string;
  scopes: string[];
  expires_at: Date | null;
  session_expires_at?: Date;
  job?: BoundJob;
  repository_id: string | null;
  host: string;
  owner: string;
  name: string;
} & StatusRow & { [Column in keyof QueueRow]: QueueRow[Column] } & {
    [Column in keyof EntryRow]: EntryRow[Column];
  };

/** How many entries of the line come before `e`. */
export const positionColumn = `case when e.line_rank < 2 then (
    select count(*) from queue_entry ahead
    where ahead.queue_id = e.queue_id and ahead.line_rank is not null
      and (ahead.line_rank, ahead.line_major, ahead.line_minor) < (e.line_rank, e.line_major, e.line_minor)
  ) end as position`;

/**
 * What the last evaluation of the queue stored of an entry, and what was reported of its run since. Only what the entry's
 * state needs is read. Needs `q` for the queue.
 */
export const statusColumns = `
  case when e.line_rank < 2 then e.plan -> 'situation' end as situation,
  case when e.line_rank < 2 then (
    select p.situation from queue_plan p where p.queue_id = e.queue_id) end as queue_situation,
  case when e.line_rank = 0 and e.plan -> 'situation' ->> 'kind' in ('testing', 'bisected') then (
    select json_build_object('pushedAt', floor(extract(epoch from t.pushed_at) * 1000),
      'startedAt', floor(extract(epoch from t.started_at) * 1000), 'required', ${requiredChecksColumn('t')},
      'checks', coalesce((select json_agg(c.body) from commit_check c
        where c.repository_id = q.repository_id and c.sha = t.test_branch_sha), '[]'),
      'selectedTests', cardinality(t.selected_tests))
    from test_run t where t.queue_id = e.queue_id and t.id = e.test_run_id) end as run,
  case when e.state in ('pending_failure', 'failed') then (
    select ${failedTestsSql('q.repository_id')} from test_run t
    where t.queue_id = e.queue_id and t.id = e.test_run_id) end as failed_tests,
  q.host_away_at is not null as is_host_away`;

export type StatusRow = {
  readonly has_impacted_targets: boolean;
  readonly position: number | null;
  readonly situation: EntryStatus['situation'];
  readonly queue_situation: EntryStatus['queueSituation'];
  readonly run: EntryStatus['run'];
  readonly failed_tests: EntryStatus['failedTests'];
  readonly is_host_away: boolean;
};

export const toEntryStatus = (row: EntryRow & StatusRow): EntryStatus => ({
  entry: toEntry(row),
  hasImpactedTargets: row.has_impacted_targets,
  position: row.position,
  situation: row.situation,
  queueSituation: row.queue_situation,
  run: row.run,
  isHostAway: row.is_host_away,
  failedTests: row.failed_tests,
});

/** Whether targets were uploaded for exactly the head of `e`; needs `r` for the repository. */
export const hasTargetsColumn = `exists (
    select from impacted_targets i
    where i.repository_id = r.id and i.pr_number = e.pr_number and i.head_sha = e.pr_sha
  ) as has_impacted_targets`;

type Origin = {
  /** What is known of who asks, with `organization_id` at its table. */
  readonly columns: string;
  readonly from: string;
  readonly organizationId: string;
  /** A further condition on the repository `r`. */
  readonly also?: string;
  readonly where: string;
};

const scopeFrom = ({ columns, from, organizationId, also = '', where }: Origin) => `
  select ${columns}, o.id as organization_id, o.slug, o.name as organization_name,
    r.id as repository_id, r.host, r.owner, r.name, ${queueColumns}, ${entryColumns},
    ${hasTargetsColumn}, ${positionColumn}, ${statusColumns}
  from ${from}
  join organization o on o.id = ${organizationId}
  left join repository r on r.organization_id = ${organizationId}
    and r.host_key = $2 and r.owner_key = $3 and r.name_key = $4
    and (t.repository_ids is null or r.id = any (t.repository_ids))${also}
  left join queue q on q.repository_id = r.id and q.branch = $5 and q.deleted_at is null
  left join queue_entry e on e.queue_id = q.id and e.pr_number = $6
  where ${where}`;

/** Of the row `t` of api_token: it is neither revoked nor expired. */
export const isTokenGood = 't.revoked_at is null and (t.expires_at is null or t.expires_at > now())';

export const scopeStatement = scopeFrom({
  columns: 't.id as principal_id, t.name as principal_name, t.scopes, t.expires_at',
  from: 'api_token t',
  organizationId: 't.organization_id',
  where: `t.hash = $1 and ${isTokenGood}`,
});

const jobStatement = scopeFrom({
  columns: 't.id as principal_id, t.name as principal_name, t.scopes, j.expires_at, j.job',
  from: 'job_token j join api_token t on t.id = j.api_token_id',
  organizationId: 'j.organization_id',
  also: ' and r.id = j.repository_id',
  where: `j.hash = $1 and j.expires_at > now() and ${isTokenGood}`,
});

const sessionStatement = scopeFrom({
  columns: `p.id as person_id, coalesce(t.id, p.id::text) as principal_id, coalesce(t.name, p.name) as principal_name,
    coalesce(s.scopes, t.scopes) as scopes, t.expires_at, s.expires_at as session_expires_at`,
  from: 'session s left join api_token t on t.id = s.api_token_id left join person p on p.id = s.person_id',
  organizationId: 's.organization_id',
  where: `s.hash = $1 and s.expires_at > now() and (p.id is not null or (t.id is not null and ${isTokenGood}))`,
});

type ScopeArguments = [
  hash: Buffer,
  host: string | null,
  owner: string | null,
  name: string | null,
  branch: string | null,
  pr: number | null,
];

const selectScope = {
  token: statement<ScopeArguments, ScopeRow>(scopeStatement),
  job: statement<ScopeArguments, ScopeRow>(jobStatement),
  session: statement<ScopeArguments, ScopeRow>(sessionStatement),
};

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Null when the token, or the session or its token, is unknown, revoked or expired. */
export async function readScope(
  db: Tx,
  { kind, hash }: Credential,
  key: ScopeKey,
): Promise<RequestScope | null> {
  const repository = key.repository === undefined ? undefined : repositoryKey(key.repository);
  const [row] = await selectScope[kind](
    db,
    hash,
    repository?.host ?? null,
    repository?.owner ?? null,
    repository?.name ?? null,
    key.branch ?? null,
    key.prNumber ?? null,
  );
  if (row === undefined) return null;
  return {
    principal: {
      kind: (row.person_id ?? null) === null ? 'token' : 'person',
      id: row.principal_id,
      name: row.principal_name,
      organizationId: row.organization_id as OrganizationId,
      organizationSlug: row.slug,
      organizationName: row.organization_name,
      scopes: row.scopes,
      expiresAt: row.expires_at,
      sessionExpiresAt: row.session_expires_at ?? null,
      job: row.job ?? null,
    },
    repository:
      row.repository_id === null
        ? null
        : { id: row.repository_id as RepositoryId, host: row.host, owner: row.owner, name: row.name },
    queue: row.queue_id === null ? null : toQueue(row),
    isHostAway: row.is_host_away,
    entry: row.entry_id === null ? null : toEntryStatus(row),
  };
}

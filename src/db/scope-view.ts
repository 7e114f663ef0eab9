// Who is asking, and about what: the token, its organization, the repository, the queue and the entry in one statement.
// Every request under /v1 and /app/api begins with it, so a plain read of an entry costs one round trip, and a revoked token is
// refused from the next request on.

import { createHash } from 'node:crypto';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import type { LineFacts, Standing } from '#core/queue/standing.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import { failedTestsOf } from './failed-test-view.ts';
import { requiredChecksColumn } from './required-view.ts';
import { entryColumns, entryOf, type EntryRow, queueColumns, queueOf, type QueueRow } from './row.ts';
import { membersOf } from './run-member.ts';
import { statement } from './statement.ts';

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
};

/** What somebody shows of themselves: a token, or a session. */
export type Credential = { readonly kind: 'token' | 'session'; readonly hash: Buffer };

export type Repository = RepositoryName & { readonly id: RepositoryId };

/** What exists of what was named; null from the first part on that does not. */
export type Scope = {
  readonly principal: Principal;
  readonly repository: Repository | null;
  readonly queue: Queue | null;
  /** The host of the queue's repository does not answer. */
  readonly isHostAway: boolean;
  readonly entry: Standing | null;
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
  repository_id: string | null;
  host: string;
  owner: string;
  name: string;
  has_impacted_targets: boolean;
  position: number | null;
} & LineRow & { [Column in keyof QueueRow]: QueueRow[Column] } & {
    [Column in keyof EntryRow]: EntryRow[Column];
  };

/** How many entries of the line come before `e`. */
export const positionColumn = `case when e.line_rank < 2 then (
    select count(*) from entry ahead
    where ahead.queue_id = e.queue_id and ahead.line_rank is not null
      and (ahead.line_rank, ahead.line_major, ahead.line_minor) < (e.line_rank, e.line_major, e.line_minor)
  ) end as position`;

/** See LineFacts; only what the entry's state needs is read. Needs `q` for the queue. */
export const lineColumns = `
  case when e.line_rank = 0 then (
    select json_build_object('status', t.status, 'outcome', t.outcome, 'isBisection', t.kind = 'bisection',
      'createdAt', t.created_at, 'pushedAt', t.pushed_at, 'required', ${requiredChecksColumn('t')},
      'isBatch', (select count(*) > 1 from test_run_member m
        where m.queue_id = t.queue_id and m.test_run_id = t.id and m.under_test),
      'tested', coalesce((select json_agg(m.pr_number order by m.position) from test_run_member m
        where m.queue_id = t.queue_id and m.test_run_id = t.id and m.under_test), '[]'),
      'ahead', coalesce((select json_agg(m.pr_number order by m.position) from ${membersOf('t')} m
        join entry a on a.queue_id = t.queue_id and a.pr_number = m.pr_number and a.line_rank = 0
        where not m.under_test), '[]'),
      'checks', coalesce((select json_agg(c.body) from commit_check c
        where c.repository_id = q.repository_id and c.sha = t.test_branch_sha), '[]'))
    from test_run t where t.queue_id = e.queue_id and t.id = e.test_run_id) end as line_run,
  case when e.line_rank = 1 then json_build_object(
    'conflictsWith', (select b.pr_number from entry b where b.queue_id = e.queue_id
      and b.pr_number = (e.plan -> 'place' ->> 'behind')::bigint and b.line_rank < 2),
    'before', coalesce((select json_agg(b.pr_number) from (
      select a.pr_number from entry a where a.queue_id = e.queue_id and a.line_rank = 1
        and (a.line_major, a.line_minor) < (e.line_major, e.line_minor)
      order by a.line_rank, a.line_major, a.line_minor limit 3) b), '[]'),
    'testingCount', (select count(*) from entry a where a.queue_id = e.queue_id and a.line_rank = 0),
    'slotsTaken', (select count(*) from test_run t
      where t.queue_id = e.queue_id and t.status = 'in_progress' and t.kind = 'main')) end as line_pending,
  case when e.state in ('pending_failure', 'failed') then (
    select ${failedTestsOf('q.repository_id')} from test_run t
    where t.queue_id = e.queue_id and t.id = e.test_run_id) end as line_failed_tests,
  q.host_away_at is not null as is_host_away`;

export type LineRow = {
  readonly line_run: LineFacts['run'];
  readonly line_pending: LineFacts['pending'];
  readonly line_failed_tests: LineFacts['failedTests'];
  readonly is_host_away: boolean;
};

export const lineFactsOf = (row: LineRow): LineFacts => ({
  run: row.line_run,
  pending: row.line_pending,
  isHostAway: row.is_host_away,
  failedTests: row.line_failed_tests,
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
  readonly where: string;
};

const scopeFrom = ({ columns, from, organizationId, where }: Origin) => `
  select ${columns}, o.id as organization_id, o.slug, o.name as organization_name,
    r.id as repository_id, r.host, r.owner, r.name, ${queueColumns}, ${entryColumns},
    ${hasTargetsColumn}, ${positionColumn}, ${lineColumns}
  from ${from}
  join organization o on o.id = ${organizationId}
  left join repository r on r.organization_id = ${organizationId}
    and r.host_key = $2 and r.owner_key = $3 and r.name_key = $4
    and (t.repository_ids is null or r.id = any (t.repository_ids))
  left join queue q on q.repository_id = r.id and q.branch = $5 and q.deleted_at is null
  left join entry e on e.queue_id = q.id and e.pr_number = $6
  where ${where}`;

const isTokenGood = 't.revoked_at is null and (t.expires_at is null or t.expires_at > now())';

export const scopeStatement = scopeFrom({
  columns: 't.id as principal_id, t.name as principal_name, t.scopes, t.expires_at',
  from: 'api_token t',
  organizationId: 't.organization_id',
  where: `t.hash = $1 and ${isTokenGood}`,
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
  session: statement<ScopeArguments, ScopeRow>(sessionStatement),
};

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Null when the token, or the session or its token, is unknown, revoked or expired. */
export async function readScope(db: Tx, { kind, hash }: Credential, key: ScopeKey): Promise<Scope | null> {
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
    },
    repository:
      row.repository_id === null
        ? null
        : { id: row.repository_id as RepositoryId, host: row.host, owner: row.owner, name: row.name },
    queue: row.queue_id === null ? null : queueOf(row),
    isHostAway: row.is_host_away,
    entry:
      row.entry_id === null
        ? null
        : {
            entry: entryOf(row),
            hasImpactedTargets: row.has_impacted_targets,
            position: row.position,
            line: lineFactsOf(row),
          },
  };
}

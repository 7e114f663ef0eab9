// Writes audit: every change to settings, by any actor, with the value before. It also holds the reads: a
// list.

import type { OrganizationId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { filteredStatement, statement } from './statement.ts';

/** Who makes the change, in which organization, and when. */
export type Auditor = { readonly organizationId: OrganizationId; readonly actor: string; readonly now: Date };

export type AuditChange = {
  /** Such as `test.quarantine`. */
  readonly action: string;
  /** What was changed, for people. */
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
};

const insertAudit = statement<[string, Date, string, string, string, string, string]>(`
  insert into audit (organization_id, at, actor, action, subject, before, after)
  values ($1, $2, $3, $4, $5, $6, $7)`);

export const recordAudit = (tx: Tx, by: Auditor, change: AuditChange): Promise<unknown> =>
  insertAudit(
    tx,
    by.organizationId,
    by.now,
    by.actor,
    change.action,
    change.subject,
    JSON.stringify(change.before ?? null),
    JSON.stringify(change.after ?? null),
  );

/** The position of an entry in the log. */
export type AuditCursor = { readonly at: Date; readonly seq: number };

type AuditRow = {
  readonly at: Date;
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
};

/** Null: any value. */
export type AuditFilter = {
  readonly organizationId: OrganizationId;
  /** A part of it, in any case. */
  readonly actor: string | null;
  /** Its prefix. */
  readonly action: string | null;
  /** A part of it, in any case. */
  readonly subject: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
};

type AuditPage = { readonly rows: readonly AuditRow[]; readonly next: AuditCursor | null };

/** Most entries that one page reads: a search without matches must not read the whole log. */
const lookedAtMax = 20_000;

type WithinArguments = [
  organizationId: string,
  afterTime: Date | null,
  afterSeq: number | null,
  since: Date | null,
  until: Date | null,
];

const newestWithin = `from audit
  where organization_id = $1 and ($2::timestamptz is null or (at, seq) < ($2, $3::bigint))
    and ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5)
  order by at desc, seq desc`;

const selectAudit = filteredStatement<
  [...WithinArguments, actor: string | null, action: string | null, subject: string | null, take: number],
  AuditRow
>(`
  select * from (
    select at, seq, actor, action, subject, before, after ${newestWithin} limit ${lookedAtMax}) looked
  where ($6::text is null or position(lower($6) in lower(actor)) > 0)
    and ($7::text is null or starts_with(action, $7))
    and ($8::text is null or position(lower($8) in lower(subject)) > 0)
  order by at desc, seq desc limit $9`);

const selectEnd = filteredStatement<WithinArguments, AuditCursor>(
  `select at, seq ${newestWithin} offset ${lookedAtMax - 1} limit 1`,
);

/** Newest first, after the cursor. The next page starts after the last row, or after the last entry read. */
export async function listAudit(
  db: Tx,
  filter: AuditFilter,
  after: AuditCursor | null,
  take: number,
): Promise<AuditPage> {
  const { organizationId, actor, action, subject, since, until } = filter;
  const within: WithinArguments = [organizationId, after?.at ?? null, after?.seq ?? null, since, until];
  // One more row than asked for shows whether there is a next page.
  const rows = await selectAudit(db, ...within, actor, action, subject, take + 1);
  if (rows.length > take) return { rows: rows.slice(0, take), next: rows[take - 1]! };
  return { rows, next: (await selectEnd(db, ...within))[0] ?? null };
}

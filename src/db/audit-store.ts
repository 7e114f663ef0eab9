// Writes audit: every change that a person or a token made to settings, with what was there before. Reads it too: there
// is no more to it than a list.

import type { OrganizationId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

/** Who does it, for whom, and when. */
export type Auditor = { readonly organizationId: OrganizationId; readonly actor: string; readonly now: Date };

export type AuditChange = {
  /** Such as `test.quarantine`. */
  readonly action: string;
  /** What was changed, for a person to read. */
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

/** An entry's place in the log. */
export type AuditCursor = { readonly at: Date; readonly seq: number };

export type AuditRow = {
  readonly at: Date;
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
};

const selectAudit = statement<[string, Date | null, number | null, number], AuditRow>(`
  select at, seq, actor, action, subject, before, after from audit
  where organization_id = $1 and ($2::timestamptz is null or (at, seq) < ($2, $3::bigint))
  order by at desc, seq desc limit $4`);

/** Newest first, those after the cursor. */
export const listAudit = (
  db: Tx,
  organizationId: OrganizationId,
  after: AuditCursor | null,
  take: number,
): Promise<AuditRow[]> => selectAudit(db, organizationId, after?.at ?? null, after?.seq ?? null, take);

// Writes audit: every change to settings, whoever made it, with what was there before. Reads it too: there is no more to
// it than a list.

import { sql } from 'kysely';
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

type AuditRow = {
  readonly at: Date;
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
};

/** What is asked for; null: whatever it is. */
export type AuditFilter = {
  readonly organizationId: OrganizationId;
  /** Part of it, in any case of letters. */
  readonly actor: string | null;
  /** How it begins. */
  readonly action: string | null;
  /** Part of it, in any case of letters. */
  readonly subject: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
};

type AuditPage = { readonly rows: readonly AuditRow[]; readonly next: AuditCursor | null };

/** Entries that one page looks at, however few of them fit: a word that is nowhere must not read the whole log. */
const lookedAtMax = 20_000;

/** Newest first, those after the cursor. The next page begins after the last row, or after what was looked at. */
export async function listAudit(
  db: Tx,
  filter: AuditFilter,
  after: AuditCursor | null,
  take: number,
): Promise<AuditPage> {
  const { actor, action, subject, since, until } = filter;
  const within = [sql`organization_id = ${filter.organizationId}`];
  if (after !== null) within.push(sql`(at, seq) < (${after.at}, ${after.seq})`);
  if (since !== null) within.push(sql`at >= ${since}`);
  if (until !== null) within.push(sql`at < ${until}`);
  const fits = [sql`true`];
  if (actor !== null) fits.push(sql`position(lower(${actor}) in lower(actor)) > 0`);
  if (action !== null) fits.push(sql`starts_with(action, ${action})`);
  if (subject !== null) fits.push(sql`position(lower(${subject}) in lower(subject)) > 0`);
  const looked = sql`from audit where ${sql.join(within, sql` and `)} order by at desc, seq desc`;
  // One more than asked for tells whether there is a next page.
  const { rows } = await sql<AuditRow>`
    select * from (
      select at, seq, actor, action, subject, before, after ${looked} limit ${lookedAtMax}
    ) looked
    where ${sql.join(fits, sql` and `)} order by at desc, seq desc limit ${take + 1}`.execute(db);
  if (rows.length > take) return { rows: rows.slice(0, take), next: rows[take - 1]! };
  const { rows: ends } = await sql<AuditCursor>`
    select at, seq ${looked} offset ${lookedAtMax - 1} limit 1`.execute(db);
  return { rows, next: ends[0] ?? null };
}

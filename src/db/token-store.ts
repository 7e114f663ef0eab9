// Writes api_token as people ask for it, each time with a line in the audit log, and reads the list of them. Never the
// hashes: what lets somebody in is shown once, when it is made.

import type { OrganizationId } from '#base/id.ts';
import { type Auditor, recordAudit } from './audit-store.ts';
import type { Cell, Tx } from './cell.ts';
import { insertNewToken, type NewToken } from './organization-store.ts';
import { statement } from './statement.ts';
import { withTransaction } from './transaction.ts';

export type TokenRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** The repositories that it is bound to, as host/owner/name; null: it is bound to none. */
  readonly repositories: readonly string[] | null;
};

const columns = `id, name, scopes, created_at, expires_at, revoked_at,
  case when repository_ids is not null then array(select r.host || '/' || r.owner || '/' || r.name from repository r
    where r.id = any (repository_ids) order by 1) end as repositories`;

const selectToken = statement<[id: string], TokenRow>(`select ${columns} from api_token where id = $1`);

/** A token as the audit log names it: names need not differ. */
const subjectOf = ({ id, name }: Pick<TokenRow, 'id' | 'name'>): string => `${name} (${id})`;

const grantOf = ({
  scopes,
  expires_at: expiresAt,
  repositories,
}: Pick<TokenRow, 'scopes' | 'expires_at' | 'repositories'>) => ({
  scopes,
  expiresAt,
  ...(repositories === null ? {} : { repositories }),
});

/** The secret cannot be read again. */
export function issueToken(
  cell: Cell,
  by: Auditor,
  token: NewToken,
): Promise<{ readonly row: TokenRow; readonly secret: string }> {
  return withTransaction(cell, async (tx) => {
    const { id, text } = await insertNewToken(tx, cell.name, by.organizationId, token);
    const [row] = await selectToken(tx, id);
    const change = { action: 'token.create', subject: subjectOf(row!), before: null, after: grantOf(row!) };
    await recordAudit(tx, by, change);
    return { row: row!, secret: text };
  });
}

const updateRevoked = statement<
  [id: string, organizationId: string | null],
  TokenRow & { readonly organization_id: string }
>(`
  update api_token set revoked_at = now()
  where id = $1 and ($2::uuid is null or organization_id = $2) and revoked_at is null
  returning organization_id, ${columns}`);

/** From the next request on it is refused, and so are the sessions made with it. Null: no such token that still holds. */
export function revokeToken(
  cell: Cell,
  { id, organizationId }: { readonly id: string; readonly organizationId: OrganizationId | null },
  { actor, now }: Omit<Auditor, 'organizationId'>,
): Promise<TokenRow | null> {
  return withTransaction(cell, async (tx) => {
    const [row] = await updateRevoked(tx, id, organizationId);
    if (row === undefined) return null;
    const by = { organizationId: row.organization_id as OrganizationId, actor, now };
    const change = { action: 'token.revoke', subject: subjectOf(row), before: grantOf(row), after: null };
    await recordAudit(tx, by, change);
    return row;
  });
}

const selectOwn = statement<[organizationId: string, id: string], TokenRow>(
  `select ${columns} from api_token where organization_id = $1 and id = $2`,
);

export async function findToken(
  db: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<TokenRow | null> {
  const [row] = await selectOwn(db, organizationId, id);
  return row ?? null;
}

type TokenList = {
  readonly organizationId: OrganizationId;
  /** Those that are revoked or expired too. */
  readonly withEnded: boolean;
  /** The last of the page before. Tokens are never deleted. */
  readonly after: string | null;
  readonly take: number;
};

const selectTokens = statement<
  [organizationId: string, withEnded: boolean, after: string | null, take: number],
  TokenRow
>(`
  select ${columns} from api_token
  where organization_id = $1
    and ($2 or (revoked_at is null and (expires_at is null or expires_at > now())))
    and ($3::text is null or (created_at, id) < (
      select before.created_at, before.id from api_token before where before.organization_id = $1 and before.id = $3))
  order by created_at desc, id desc limit $4`);

/** Newest first. */
export const listTokens = (
  db: Tx,
  { organizationId, withEnded, after, take }: TokenList,
): Promise<TokenRow[]> => selectTokens(db, organizationId, withEnded, after, take);

// Creating and revoking API tokens. Each is one transaction with its line in the audit log.

import type { OrganizationId } from '#base/id.ts';
import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { insertNewToken, type NewToken } from '#db/account/organization-store.ts';
import { markTokenRevoked, readToken, type TokenRow } from '#db/account/token-store.ts';
import { withTransaction } from '#db/transaction.ts';

/** A token as the audit log names it: two tokens may have the same name. */
const subjectOf = ({ id, name }: Pick<TokenRow, 'id' | 'name'>): string => `${name} (${id})`;

const grantOf = ({ scopes, expires_at: expiresAt, repositories, identity }: TokenRow) => ({
  scopes,
  expiresAt,
  ...(repositories === null ? {} : { repositories }),
  ...(identity === null ? {} : { identity }),
});

/** The secret cannot be read again. */
export function issueToken(
  cell: Cell,
  by: Auditor,
  token: NewToken,
): Promise<{ readonly row: TokenRow; readonly secret: string }> {
  return withTransaction(cell, async (tx) => {
    const { id, text } = await insertNewToken(tx, cell.name, by.organizationId, token);
    const row = await readToken(tx, id);
    const change = { action: 'token.create', subject: subjectOf(row), before: null, after: grantOf(row) };
    await recordAudit(tx, by, change);
    return { row, secret: text };
  });
}

/**
 * From the next request on, the token and the sessions that were created with it are refused. Null: there is no such token, or
 * it was revoked before.
 */
export function revokeToken(
  cell: Cell,
  { id, organizationId }: { readonly id: string; readonly organizationId: OrganizationId | null },
  { actor, now }: Omit<Auditor, 'organizationId'>,
): Promise<TokenRow | null> {
  return withTransaction(cell, async (tx) => {
    const row = await markTokenRevoked(tx, id, organizationId);
    if (row === null) return null;
    const by = { organizationId: row.organization_id, actor, now };
    const change = { action: 'token.revoke', subject: subjectOf(row), before: grantOf(row), after: null };
    await recordAudit(tx, by, change);
    return row;
  });
}

// Writes session. Of the cookie only the hash is kept; the cell's name is part of it, as it is of a token.

import { randomBytes } from 'node:crypto';
import type { Cell, Tx } from './cell.ts';
import { hashToken } from './scope-view.ts';
import { statement } from './statement.ts';

// It never outlives the token. What has expired is swept a little at a time by whoever signs in.
const insertSession = statement<[tokenHash: Buffer, hash: Buffer], { expires_at: Date }>(`
  with swept as (
    delete from session where hash in (
      select hash from session where expires_at <= now() order by expires_at limit 100 for update skip locked)
  )
  insert into session (hash, api_token_id, organization_id, expires_at)
  select $2, t.id, t.organization_id, least(now() + interval '12 hours', t.expires_at)
  from api_token t where t.hash = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
  returning expires_at`);

export type NewSession = {
  /** The cookie's value: it cannot be read again. */
  readonly value: string;
  readonly expiresAt: Date;
};

/** Null when the token is unknown, revoked or expired. */
export async function createSession(cell: Cell, tokenHash: Buffer): Promise<NewSession | null> {
  const value = `sbs_${cell.name}_${randomBytes(32).toString('base64url')}`;
  const [row] = await insertSession(cell.db, tokenHash, hashToken(value));
  return row === undefined ? null : { value, expiresAt: row.expires_at };
}

const removeSession = statement<[hash: Buffer]>('delete from session where hash = $1');

export async function deleteSession(db: Tx, hash: Buffer): Promise<void> {
  await removeSession(db, hash);
}

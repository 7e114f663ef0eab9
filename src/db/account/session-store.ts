// Writes session. Only the hash of the cookie is stored; the cookie names its cell, as a token does.

import { randomBytes } from 'node:crypto';
import type { OrganizationId } from '#base/id.ts';
import type { Cell, Tx } from '../cell.ts';
import { hashToken, isTokenGood } from './scope-view.ts';
import { statement } from '../statement.ts';

// Each sign-in deletes some of the expired sessions.
const swept = `swept as (
    delete from session where hash in (
      select hash from session where expires_at <= now() order by expires_at limit 100 for update skip locked)
  )`;

// A session never outlives its token.
const insertOfToken = statement<[tokenHash: Buffer, hash: Buffer], { expires_at: Date }>(`
  with ${swept}
  insert into session (hash, api_token_id, organization_id, expires_at)
  select $2, t.id, t.organization_id, least(now() + interval '12 hours', t.expires_at)
  from api_token t where t.hash = $1 and ${isTokenGood}
  returning expires_at`);

const insertOfPerson = statement<
  [hash: Buffer, organizationId: string, personId: string, scopes: readonly string[]],
  { expires_at: Date }
>(`
  with ${swept}
  insert into session (hash, organization_id, person_id, scopes, expires_at)
  values ($1, $2, $3, $4, now() + interval '12 hours') returning expires_at`);

export type NewSession = {
  /** The cookie's value: it cannot be read again. */
  readonly value: string;
  readonly expiresAt: Date;
};

const newValue = (cell: Cell): string => `sbs_${cell.name}_${randomBytes(32).toString('base64url')}`;

/** Null when the token is unknown, revoked or expired. */
export async function createSession(cell: Cell, tokenHash: Buffer): Promise<NewSession | null> {
  const value = newValue(cell);
  const [row] = await insertOfToken(cell.db, tokenHash, hashToken(value));
  return row === undefined ? null : { value, expiresAt: row.expires_at };
}

export type SessionPerson = {
  readonly organizationId: OrganizationId;
  readonly personId: string;
  readonly scopes: readonly string[];
};

export async function createPersonSession(cell: Cell, person: SessionPerson): Promise<NewSession> {
  const value = newValue(cell);
  const { organizationId, personId, scopes } = person;
  const [row] = await insertOfPerson(cell.db, hashToken(value), organizationId, personId, scopes);
  return { value, expiresAt: row!.expires_at };
}

const removeSession = statement<[hash: Buffer]>('delete from session where hash = $1');

export async function deleteSession(db: Tx, hash: Buffer): Promise<void> {
  await removeSession(db, hash);
}

// Writes organization and api_token. A token is shown once, when it is made; only its hash is kept.

import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { OrganizationId } from '#base/id.ts';
import { sql } from 'kysely';
import type { Cell, Tx } from './cell.ts';
import { ensureSandboxConnection } from './connection-store.ts';
import { hashToken } from './scope-view.ts';
import { statement } from './statement.ts';

const insertOrganization = statement<
  [id: string, slug: string, name: string],
  { id: string; created: boolean }
>(`
  insert into organization (id, slug, name) values ($1, $2, $3)
  on conflict (slug) do update set slug = excluded.slug
  returning id, (xmax = 0) as created`);

/** The organization of that slug, made if it is not there. */
export async function ensureOrganization(
  tx: Tx,
  slug: string,
  name: string,
): Promise<{ readonly id: OrganizationId; readonly created: boolean }> {
  const [row] = await insertOrganization(tx, newId(), slug, name);
  const id = row!.id as OrganizationId;
  await ensureSandboxConnection(tx, id);
  return { id, created: row!.created };
}

export async function findOrganization(db: Tx, slug: string): Promise<OrganizationId | null> {
  const row = await db.selectFrom('organization').select('id').where('slug', '=', slug).executeTakeFirst();
  return row === undefined ? null : (row.id as OrganizationId);
}

export type NewToken = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
};

const idAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const newTokenId = (): string => Array.from(randomBytes(10), (byte) => idAlphabet[byte % 36]).join('');

/** Makes a token of the form `sbx_<cell>_<id>_<secret>` and returns it: it cannot be read again. */
export async function createToken(
  cell: Cell,
  organizationId: OrganizationId,
  token: NewToken,
): Promise<string> {
  const id = newTokenId();
  const text = `sbx_${cell.name}_${id}_${randomBytes(32).toString('hex')}`;
  await insertToken(cell.db, id, organizationId, hashToken(text), token);
  return text;
}

/** Registers a token whose text was chosen by somebody else. False if it is known already. */
export function importToken(
  cell: Cell,
  organizationId: OrganizationId,
  text: string,
  token: NewToken,
): Promise<boolean> {
  return insertToken(cell.db, newTokenId(), organizationId, hashToken(text), token);
}

async function insertToken(
  db: Tx,
  id: string,
  organizationId: OrganizationId,
  hash: Buffer,
  { name, scopes, expiresAt }: NewToken,
): Promise<boolean> {
  const rows = await db
    .insertInto('api_token')
    .values({ id, organization_id: organizationId, hash, name, scopes: [...scopes], expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('id')
    .execute();
  return rows.length > 0;
}

export type TokenRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
};

export function listTokens(db: Tx, organizationId: OrganizationId): Promise<readonly TokenRow[]> {
  return db
    .selectFrom('api_token')
    .select(['id', 'name', 'scopes', 'created_at', 'expires_at', 'revoked_at'])
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .execute();
}

/** False if there is no such token, or it is revoked already. */
export async function revokeToken(db: Tx, id: string): Promise<boolean> {
  const result = await db
    .updateTable('api_token')
    .set({ revoked_at: sql`now()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

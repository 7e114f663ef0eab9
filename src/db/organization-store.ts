// Writes organization and new rows of api_token. A token is shown once, when it is made; only its hash is kept. What people
// ask for, with its line in the audit log, is in token-store.ts.

import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
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
  /** The repositories that it may name; null or absent: every one of its organization. */
  readonly repositoryIds?: readonly RepositoryId[] | null;
};

const idAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const newTokenId = (): string => Array.from(randomBytes(10), (byte) => idAlphabet[byte % 36]).join('');

/** Makes a token of the form `sbx_<cell>_<id>_<secret>` and returns it: it cannot be read again. */
export async function createToken(
  cell: Cell,
  organizationId: OrganizationId,
  token: NewToken,
): Promise<string> {
  return (await insertNewToken(cell.db, cell.name, organizationId, token)).text;
}

export async function insertNewToken(
  tx: Tx,
  cellName: string,
  organizationId: OrganizationId,
  token: NewToken,
): Promise<{ readonly id: string; readonly text: string }> {
  const id = newTokenId();
  const text = `sbx_${cellName}_${id}_${randomBytes(32).toString('hex')}`;
  await insertToken(tx, id, organizationId, hashToken(text), token);
  return { id, text };
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
  { name, scopes, expiresAt, repositoryIds = null }: NewToken,
): Promise<boolean> {
  const rows = await db
    .insertInto('api_token')
    .values({
      id,
      organization_id: organizationId,
      hash,
      name,
      scopes: [...scopes],
      expires_at: expiresAt,
      repository_ids: repositoryIds === null ? null : [...repositoryIds],
    })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('id')
    .execute();
  return rows.length > 0;
}

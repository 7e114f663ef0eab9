// Writes organization and new rows of api_token. A token is shown once, when it is created; only its hash is
// stored. The commands, with their audit log entries, are in command/token.ts.

import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { CiIdentity } from '#core/ci-job.ts';
import type { Cell, Tx } from '../cell.ts';
import { ensureSandboxConnection } from './connection-store.ts';
import { hashToken } from './scope-view.ts';
import { statement } from '../statement.ts';

const insertOrganization = statement<
  [id: string, slug: string, name: string],
  { id: string; created: boolean }
>(`
  insert into organization (id, slug, name) values ($1, $2, $3)
  on conflict (slug) do update set slug = excluded.slug
  returning id, (xmax = 0) as created`);

/** The organization with that slug, created if missing. */
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

const selectOrganization = statement<[slug: string], { id: string }>(
  'select id from organization where slug = $1',
);

export async function findOrganization(db: Tx, slug: string): Promise<OrganizationId | null> {
  const [row] = await selectOrganization(db, slug);
  return row === undefined ? null : (row.id as OrganizationId);
}

export type NewToken = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** The repositories that the token may access; null or absent: all of its organization. */
  readonly repositoryIds?: readonly RepositoryId[] | null;
  /** The CI jobs that it stands for; null or absent: anyone who has its secret. */
  readonly identity?: CiIdentity | null;
};

const idAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const newTokenId = (): string => Array.from(randomBytes(10), (byte) => idAlphabet[byte % 36]).join('');

/**
 * Creates a token of the form `sbx_<cell>_<id>_<secret>` and returns it: it cannot be read again.
 *
 * @internal
 */
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

/** Registers a token whose text comes from elsewhere. False if it is known already. */
export function importToken(
  cell: Cell,
  organizationId: OrganizationId,
  text: string,
  token: NewToken,
): Promise<boolean> {
  return insertToken(cell.db, newTokenId(), organizationId, hashToken(text), token);
}

const insertTokenRow = statement<
  [
    id: string,
    organizationId: string,
    hash: Buffer,
    name: string,
    scopes: readonly string[],
    expiresAt: Date | null,
    repositoryIds: readonly string[] | null,
    identity: string | null,
  ],
  { id: string }
>(`
  insert into api_token (id, organization_id, hash, name, scopes, expires_at, repository_ids, identity)
  values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb) on conflict (hash) do nothing returning id`);

async function insertToken(
  db: Tx,
  id: string,
  organizationId: OrganizationId,
  hash: Buffer,
  { name, scopes, expiresAt, repositoryIds = null, identity = null }: NewToken,
): Promise<boolean> {
  const rows = await insertTokenRow(
    db,
    id,
    organizationId,
    hash,
    name,
    scopes,
    expiresAt,
    repositoryIds,
    identity === null ? null : JSON.stringify(identity),
  );
  return rows.length > 0;
}

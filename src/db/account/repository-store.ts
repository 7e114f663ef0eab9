// Writes repository.

import { v7 as newId } from 'uuid';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import type { RepositoryRecord } from './scope-view.ts';
import { statement } from '../statement.ts';

const insertRepository = statement<
  [
    id: string,
    organizationId: string,
    host: string,
    owner: string,
    name: string,
    hostKey: string,
    ownerKey: string,
    nameKey: string,
    isSandbox: boolean,
  ],
  { id: string; host: string; owner: string; name: string }
>(`
  insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key, is_sandbox)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (organization_id, host_key, owner_key, name_key)
    do update set is_sandbox = repository.is_sandbox and excluded.is_sandbox
  returning id, host, owner, name`);

/** A repository as the Git host that serves it names it. */
export type FoundRepository = RepositoryName & {
  /** Whether the sandbox host serves it. */
  readonly isSandbox: boolean;
};

/** The repository, created if missing; it keeps the spelling of its first name. */
export async function ensureRepository(
  tx: Tx,
  organizationId: OrganizationId,
  { host, owner, name, isSandbox }: FoundRepository,
): Promise<RepositoryRecord> {
  const key = repositoryKey({ host, owner, name });
  const [row] = await insertRepository(
    tx,
    newId(),
    organizationId,
    host,
    owner,
    name,
    key.host,
    key.owner,
    key.name,
    isSandbox,
  );
  return { ...row!, id: row!.id as RepositoryId };
}

const selectRepository = statement<
  [id: string],
  { organization_id: string; host: string; owner: string; name: string }
>(`select organization_id, host, owner, name from repository where id = $1`);

export async function findRepository(
  db: Tx,
  id: RepositoryId,
): Promise<(RepositoryRecord & { readonly organizationId: OrganizationId }) | null> {
  const [row] = await selectRepository(db, id);
  if (row === undefined) return null;
  const { organization_id, ...name } = row;
  return { id, organizationId: organization_id as OrganizationId, ...name };
}

const selectRepositoryIds = statement<[keys: string], { n: number; id: string }>(`
  select k.n, r.id from jsonb_to_recordset($1) as k (n int, organization uuid, host text, owner text, name text)
  join repository r on r.organization_id = k.organization and r.host_key = k.host and r.owner_key = k.owner
    and r.name_key = k.name`);

type RepositoryKey = { readonly organizationId: OrganizationId; readonly key: RepositoryName };

/** For each name the id, or null if the organization has no such repository. */
export async function findRepositoryIds(
  db: Tx,
  wanted: readonly RepositoryKey[],
): Promise<readonly (RepositoryId | null)[]> {
  const numbers = new Map<string, number>();
  const at = wanted.map(({ organizationId, key }) => {
    const text = `${organizationId} ${key.host} ${key.owner} ${key.name}`;
    const n = numbers.get(text) ?? numbers.size;
    numbers.set(text, n);
    return { n, organization: organizationId, ...key };
  });
  const distinct = [...new Map(at.map((key) => [key.n, key])).values()];
  const rows = await selectRepositoryIds(db, JSON.stringify(distinct));
  const ids = new Map(rows.map((row) => [row.n, row.id as RepositoryId]));
  return at.map(({ n }) => ids.get(n) ?? null);
}

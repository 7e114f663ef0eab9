// Finds the repositories that events are about, and writes the names of those that were renamed or
// transferred. A host with repository ids sends the id in its events: the id stays when the name changes, and
// a name that became free may be given to another repository.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

type RepositoryMatchRow = { n: number; id: string; host_id: string | null; is_called_so: boolean };

const selectRepositories = statement<[keys: string], RepositoryMatchRow>(`
  with k as (
    select * from jsonb_to_recordset($1) as k (n int, organization uuid, host text, owner text, name text, host_id text))
  select k.n, r.id, r.host_id, true as is_called_so from k
  join repository r on r.organization_id = k.organization and r.host_key = k.host and r.owner_key = k.owner
    and r.name_key = k.name
  union all
  select k.n, r.id, r.host_id, false from k
  join repository r on r.organization_id = k.organization and r.host_key = k.host and r.host_id = k.host_id
    and (r.owner_key, r.name_key) is distinct from (k.owner, k.name)
  where k.host_id is not null`);

// Two events of one batch may name two repositories with one id: the first counts.
const updateHostId = statement<[id: string, hostId: string]>(`
  update repository r set host_id = $2 where r.id = $1 and r.host_id is null and not exists (
    select from repository o where o.organization_id = r.organization_id and o.host_key = r.host_key and o.host_id = $2)`);

const updateName = statement<
  [id: string, owner: string, name: string, ownerKey: string, nameKey: string],
  { id: string }
>(`
  update repository r set owner = $2, name = $3, owner_key = $4, name_key = $5
  where r.id = $1 and not exists (select from repository o where o.organization_id = r.organization_id
    and o.host_key = r.host_key and o.owner_key = $4 and o.name_key = $5 and o.id <> r.id)
  returning r.id`);

type RepositoryReference = {
  readonly organizationId: OrganizationId;
  readonly repository: RepositoryName & { readonly hostId?: string };
};

type KeyedRepositoryReference = {
  readonly n: number;
  readonly key: RepositoryName;
  readonly repository: RepositoryReference['repository'];
};

/** For each event the id, or null if the organization has no such repository. */
export async function followRepositories(
  tx: Tx,
  wanted: readonly RepositoryReference[],
): Promise<readonly (RepositoryId | null)[]> {
  const asked = new Map<string, KeyedRepositoryReference & { readonly organizationId: OrganizationId }>();
  const at = wanted.map(({ organizationId, repository }) => {
    const key = repositoryKey(repository);
    const text = JSON.stringify([organizationId, key, repository.hostId ?? null]);
    const known = asked.get(text) ?? { n: asked.size, key, repository, organizationId };
    asked.set(text, known);
    return known.n;
  });
  const keys = [...asked.values()].map(({ n, key, repository, organizationId: organization }) => ({
    n,
    organization,
    ...key,
    host_id: repository.hostId ?? null,
  }));
  const rows = await selectRepositories(tx, JSON.stringify(keys));
  const ids = new Map<number, RepositoryId>();
  for (const one of asked.values()) {
    const id = await follow(
      tx,
      one,
      rows.filter(({ n }) => n === one.n),
    );
    if (id !== null) ids.set(one.n, id);
  }
  return at.map((n) => ids.get(n) ?? null);
}

async function follow(
  tx: Tx,
  { key, repository }: KeyedRepositoryReference,
  rows: readonly RepositoryMatchRow[],
): Promise<RepositoryId | null> {
  const { owner, name, hostId } = repository;
  const moved = rows.find(({ is_called_so }) => !is_called_so);
  const called = rows.find(({ is_called_so }) => is_called_so);
  if (moved !== undefined) {
    // If another row has the new name already, this one keeps the old: both are one repository to the host.
    await updateName(tx, moved.id, owner, name, key.owner, key.name);
    return moved.id as RepositoryId;
  }
  if (called === undefined) return null;
  // Another repository has got the name since.
  if (hostId !== undefined && called.host_id !== null && called.host_id !== hostId) return null;
  if (hostId !== undefined && called.host_id === null) await updateHostId(tx, called.id, hostId);
  return called.id as RepositoryId;
}

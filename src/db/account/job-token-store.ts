// Writes job_token: short tokens of CI jobs that proved who they are. Each names its cell, as an API token does.

import { randomBytes } from 'node:crypto';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { BoundJob, CiIdentity } from '#core/ci-job.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import type { Cell, Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { hashToken, isTokenGood, jobTokenPrefix } from './scope-view.ts';

export type TrustedCi = {
  /** Of the API token that lets its jobs in. */
  readonly id: string;
  readonly identity: CiIdentity;
  readonly organizationId: OrganizationId;
  readonly repositoryId: RepositoryId;
  /** The id of the repository at its Git host; null: not known. */
  readonly hostId: string | null;
};

type TrustedRow = {
  id: string;
  identity: CiIdentity;
  organization_id: string;
  repository_id: string;
  host_id: string | null;
};

const selectTrusted = statement<
  [slug: string, issuer: string, host: string, owner: string, name: string],
  TrustedRow
>(`
  select t.id, t.identity, t.organization_id, r.id as repository_id, r.host_id
  from organization o
  join api_token t on t.organization_id = o.id
  join repository r on r.organization_id = o.id and r.id = any (t.repository_ids)
  where o.slug = $1 and t.identity ->> 'issuer' = $2 and r.host_key = $3 and r.owner_key = $4 and r.name_key = $5
    and ${isTokenGood}
  order by t.created_at, t.id limit 100`);

/** The tokens that stand for jobs of the issuer in the repository. */
export async function listTrustedCi(
  db: Tx,
  slug: string,
  issuer: string,
  repository: RepositoryName,
): Promise<readonly TrustedCi[]> {
  const { host, owner, name } = repositoryKey(repository);
  const rows = await selectTrusted(db, slug, issuer, host, owner, name);
  return rows.map((row) => ({
    id: row.id,
    identity: row.identity,
    organizationId: row.organization_id as OrganizationId,
    repositoryId: row.repository_id as RepositoryId,
    hostId: row.host_id,
  }));
}

// Each new one deletes some of the expired ones.
const insertJobToken = statement<
  [hash: Buffer, apiTokenId: string, repositoryId: string, job: string, expiresAt: Date],
  { expires_at: Date }
>(`
  with swept as (
    delete from job_token where hash in (
      select hash from job_token where expires_at <= now() order by expires_at limit 100 for update skip locked)
  )
  insert into job_token (hash, organization_id, api_token_id, repository_id, job, expires_at)
  select $1, t.organization_id, t.id, $3, $4::jsonb, least($5::timestamptz, t.expires_at)
  from api_token t where t.id = $2 returning expires_at`);

/** The secret cannot be read again. The token ends when the one that lets it in ends, or is revoked. */
export async function createJobToken(
  cell: Cell,
  trusted: Pick<TrustedCi, 'id' | 'repositoryId'>,
  job: BoundJob,
  expiresAt: Date,
): Promise<{ readonly secret: string; readonly expiresAt: Date }> {
  const secret = `${jobTokenPrefix}${cell.name}_${randomBytes(32).toString('base64url')}`;
  const { id, repositoryId } = trusted;
  const [row] = await insertJobToken(
    cell.db,
    hashToken(secret),
    id,
    repositoryId,
    JSON.stringify(job),
    expiresAt,
  );
  return { secret, expiresAt: row!.expires_at };
}

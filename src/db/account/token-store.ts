// Revokes and lists API tokens, never with their hashes. The commands are in command/token.ts;
// organization-store.ts writes new rows.

import type { OrganizationId } from '#base/id.ts';
import type { CiIdentity } from '#core/ci-job.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type TokenRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** The repositories that the token is limited to, as host/owner/name; null: it is not limited. */
  readonly repositories: readonly string[] | null;
  /** The CI jobs that it stands for; null: anyone who has its secret. */
  readonly identity: CiIdentity | null;
};

const columns = `id, name, scopes, created_at, expires_at, revoked_at, identity,
  case when repository_ids is not null then array(select r.host || '/' || r.owner || '/' || r.name from repository r
    where r.id = any (repository_ids) order by 1) end as repositories`;

const selectToken = statement<[id: string], TokenRow>(`select ${columns} from api_token where id = $1`);

/** The token must exist. */
export async function readToken(db: Tx, id: string): Promise<TokenRow> {
  return (await selectToken(db, id))[0]!;
}

const updateRevoked = statement<
  [id: string, organizationId: string | null],
  TokenRow & { readonly organization_id: OrganizationId }
>(`
  update api_token set revoked_at = now()
  where id = $1 and ($2::uuid is null or organization_id = $2) and revoked_at is null
  returning organization_id, ${columns}`);

/** Null: there is no such token, or it was revoked before. `organizationId` null: of any organization. */
export async function markTokenRevoked(
  tx: Tx,
  id: string,
  organizationId: OrganizationId | null,
): Promise<(TokenRow & { readonly organization_id: OrganizationId }) | null> {
  return (await updateRevoked(tx, id, organizationId))[0] ?? null;
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
  /** Includes revoked and expired tokens. */
  readonly withEnded: boolean;
  /** The last token of the page before. Tokens are never deleted. */
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

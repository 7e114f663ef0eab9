// API tokens of an organization, for its admins.

import { dayMs } from '#base/duration.ts';
import { appError } from '#base/error.ts';
import type { RepositoryId } from '#base/id.ts';
import { issueToken, revokeToken } from '#command/token.ts';
import type { Scope } from '#contract/common.ts';
import type { ApiToken } from '#contract/token.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import { findRepositoryIds } from '#db/account/repository-store.ts';
import type { Principal } from '#db/account/scope-view.ts';
import { findToken, listTokens, type TokenRow } from '#db/account/token-store.ts';
import { auditorFrom, type Context, type Handlers, isOnlyUpload, notConnected } from '../endpoint/context.ts';

function presentToken(row: TokenRow, principal: Principal, now: Date): ApiToken {
  const isExpired = row.expires_at !== null && row.expires_at <= now;
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as Scope[],
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    ...(row.repositories === null ? {} : { repositories: [...row.repositories] }),
    state: row.revoked_at === null ? (isExpired ? 'expired' : 'active') : 'revoked',
    isCaller: principal.kind === 'token' && principal.id === row.id,
  };
}

/** An upload-only token may be public, so it is bound to repositories; others see the organization. */
async function boundTo(
  { cell, scope }: Context,
  scopes: readonly Scope[],
  repositories: readonly RepositoryName[] | undefined,
): Promise<readonly RepositoryId[] | null> {
  const isUploadOnly = isOnlyUpload(scopes);
  if (isUploadOnly !== (repositories !== undefined))
    throw appError('VALIDATION_FAILED', {
      public: isUploadOnly
        ? 'A token whose only scope is upload needs repositories. List those that it may send reports for.'
        : 'Only a token whose only scope is upload can be limited to repositories. Leave them out.',
      details: [{ path: 'repositories', message: isUploadOnly ? 'is required' : 'must be absent' }],
    });
  if (repositories === undefined) return null;
  const { organizationId } = scope.principal;
  const found = await findRepositoryIds(
    cell.db,
    repositories.map((name) => ({ organizationId, key: repositoryKey(name) })),
  );
  const ids = found.filter((id) => id !== null);
  const unknown = repositories[found.indexOf(null)];
  if (ids.length < found.length && unknown !== undefined) throw notConnected(unknown);
  return ids;
}

export const tokenHandlers: Handlers<'listTokens' | 'createToken' | 'revokeToken'> = {
  listTokens: async ({ cell, scope: { principal }, now }, { cursor, take, includeEnded }) => {
    const { organizationId } = principal;
    const list = { organizationId, withEnded: includeEnded, after: cursor ?? null, take: take + 1 };
    const rows = await listTokens(cell.reader, list);
    const shown = rows.slice(0, take);
    return {
      tokens: shown.map((row) => presentToken(row, principal, now)),
      ...(rows.length > take && { nextCursor: shown.at(-1)!.id }),
    };
  },

  createToken: async (context, { name, scopes, expiresInDays, repositories }) => {
    const { cell, now, scope } = context;
    const repositoryIds = await boundTo(context, scopes, repositories);
    const expiresAt = expiresInDays ? new Date(now.getTime() + expiresInDays * dayMs) : null;
    const wanted = { name: name.trim(), scopes: [...new Set(scopes)], expiresAt, repositoryIds };
    const { row, secret } = await issueToken(cell, auditorFrom(context), wanted);
    return { token: presentToken(row, scope.principal, now), value: secret };
  },

  revokeToken: async (context, { tokenId: id }) => {
    const { cell, now, scope } = context;
    const { organizationId } = scope.principal;
    const revoked = await revokeToken(cell, { id, organizationId }, auditorFrom(context));
    // Revoking twice is the same as once.
    const row = revoked ?? (await findToken(cell.db, organizationId, id));
    if (row === null)
      throw appError('TOKEN_NOT_FOUND', {
        public: `The organization has no token ${id}. List them with listTokens.`,
      });
    return { token: presentToken(row, scope.principal, now) };
  },
};

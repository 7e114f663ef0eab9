// API tokens of an organization, for its admins.

import { dayMs } from '#base/duration.ts';
import { appError } from '#base/error.ts';
import type { RepositoryId } from '#base/id.ts';
import { issueToken, revokeToken } from '#command/token.ts';
import type { Scope } from '#contract/common.ts';
import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import type { ApiToken } from '#contract/token.ts';
import { type CiIdentity, usualIssuers } from '#core/ci-job.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import { findRepositoryIds } from '#db/account/repository-store.ts';
import type { Principal } from '#db/account/scope-view.ts';
import { findToken, listTokens, type TokenRow } from '#db/account/token-store.ts';
import { parseWebhookTarget } from '#event/webhook-address.ts';
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
    ...(row.identity === null
      ? {}
      : { identity: { ...row.identity, branches: row.identity.branches && [...row.identity.branches] } }),
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
  return repositories === undefined ? null : requireRepositories({ cell, scope }, repositories);
}

async function requireRepositories(
  { cell, scope }: Pick<Context, 'cell' | 'scope'>,
  repositories: readonly RepositoryName[],
): Promise<readonly RepositoryId[]> {
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

const refusedField = (path: string, text: string) =>
  appError('VALIDATION_FAILED', { public: text, details: [{ path, message: text }] });

/** Which jobs the request means. */
function identityOf(context: Context, input: RequestOf<'trustCi'>): CiIdentity {
  const { provider, repositories, pipeline = null, branches = null } = input;
  const issuer = input.issuer ?? usualIssuers[provider];
  if (issuer === null)
    throw refusedField(
      'issuer',
      'Name the issuer: the URL that the identity tokens have in their claim iss.',
    );
  const problem = parseWebhookTarget(issuer, context.deps.config.webhook.allow);
  if (typeof problem === 'string') throw appError('WEBHOOK_URL_REFUSED', { public: problem });
  const hasOwnNames = provider === 'gitlab_ci' || provider === 'buildkite';
  if (hasOwnNames !== (pipeline !== null))
    throw refusedField(
      'pipeline',
      hasOwnNames
        ? 'Name the pipeline: at GitLab the project as group/project, at Buildkite organization/pipeline.'
        : 'Jobs of this CI system name their repository. Leave the pipeline out.',
    );
  if (hasOwnNames && repositories.length > 1)
    throw refusedField(
      'repositories',
      'A pipeline belongs to one repository. Trust each pipeline on its own.',
    );
  return { provider, issuer, pipeline: pipeline?.toLowerCase() ?? null, branches };
}

export const tokenHandlers: Handlers<'listTokens' | 'createToken' | 'trustCi' | 'revokeToken'> = {
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

  trustCi: async (context, input) => {
    const { cell, now, scope } = context;
    const identity = identityOf(context, input);
    const repositoryIds = await requireRepositories(context, input.repositories);
    const wanted = { name: input.name.trim(), scopes: ['upload'], expiresAt: null, repositoryIds, identity };
    const { row } = await issueToken(cell, auditorFrom(context), wanted);
    return { token: presentToken(row, scope.principal, now) };
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

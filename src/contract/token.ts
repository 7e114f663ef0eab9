// API tokens: who may call what. A secret is in one answer only, the one that makes it.

import { z } from 'zod';
import { InstantOut, lenientEnum, line, part, Repository, scopes } from './common.ts';

const ApiToken = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(scopes)),
    createdAt: InstantOut,
    expiresAt: InstantOut.nullable().meta({ description: 'Null: it does not expire.' }),
    revokedAt: InstantOut.nullable(),
    repositories: z
      .array(z.string())
      .optional()
      .meta({ description: 'What it is bound to, as host/owner/name. Absent: it is bound to none.' }),
    state: z.enum(['active', 'expired', 'revoked']),
    isCaller: z
      .boolean()
      .meta({ description: 'Whether this call was let in by it, or by a session made with it.' }),
  })
  .meta({ id: 'ApiToken', description: 'A token without its secret.' });
export type ApiToken = z.output<typeof ApiToken>;

export const ListTokensRequest = z.object({
  cursor: part(100).nullish().meta({ description: 'nextCursor of the page before.' }),
  take: z.int().min(1).max(100).default(50),
  includeEnded: z
    .boolean()
    .default(false)
    .meta({ description: 'Also those that are revoked or have expired.' }),
});

export const ListTokensResponse = z.object({
  tokens: z.array(ApiToken).meta({ description: 'Newest first.' }),
  nextCursor: z.string().optional(),
});

/** Longest time until a token expires. */
const tokenDaysMax = 3_650;

export const CreateTokenRequest = z.object({
  name: line(1, 100)
    .refine((name) => name.trim() !== '', 'must not be blank')
    .meta({
      description: 'Who or what it is for. Timelines and the audit log show it, so give each its own.',
      pattern: '\\S',
    }),
  scopes: z.array(lenientEnum(scopes)).min(1).max(scopes.length).meta({
    description: 'What it may do. An admin may grant any scope, also those that are not their own.',
  }),
  expiresInDays: z
    .int()
    .min(1)
    .max(tokenDaysMax)
    .nullish()
    .meta({ description: 'Null or absent: it does not expire.' }),
  repositories: z.array(Repository).min(1).max(100).optional().meta({
    description:
      'Required for a token whose only scope is upload, and only for one: the repositories that it may send reports for. Each must have a queue or reports already.',
  }),
});

export const CreateTokenResponse = z.object({
  token: ApiToken,
  value: z
    .string()
    .meta({ description: 'What goes into x-api-token. It is not shown again: only its hash is kept.' }),
});

export const RevokeTokenRequest = z.object({ tokenId: part(100) });

export const RevokeTokenResponse = z.object({ token: ApiToken });

// API tokens and their scopes. A secret is in one response only: the one that creates it.

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
    repositories: z.array(z.string()).optional().meta({
      description: 'The repositories the token is limited to, as host/owner/name. Absent: it is not limited.',
    }),
    state: z.enum(['active', 'expired', 'revoked']),
    isCaller: z
      .boolean()
      .meta({ description: 'Whether this call used the token, or a session that was started with it.' }),
  })
  .meta({ id: 'ApiToken', description: 'A token without its secret.' });
export type ApiToken = z.output<typeof ApiToken>;

export const ListTokensRequest = z.object({
  cursor: part(100).nullish().meta({ description: 'nextCursor of the previous page.' }),
  take: z.int().min(1).max(100).default(50),
  includeEnded: z.boolean().default(false).meta({ description: 'True: also revoked and expired tokens.' }),
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
      description:
        'Who or what uses the token. Timelines and the audit log show the name, so use a different one for each token.',
      pattern: '\\S',
    }),
  scopes: z.array(lenientEnum(scopes)).min(1).max(scopes.length).meta({
    description:
      'What the token is allowed to do. An admin can grant any scope, including scopes the admin does not have.',
  }),
  expiresInDays: z
    .int()
    .min(1)
    .max(tokenDaysMax)
    .nullish()
    .meta({ description: 'Null or absent: it does not expire.' }),
  repositories: z.array(Repository).min(1).max(100).optional().meta({
    description:
      'The repositories the token can upload reports for. Required if upload is the only scope, and not allowed otherwise. Each repository must have a queue or reports already.',
  }),
});

export const CreateTokenResponse = z.object({
  token: ApiToken,
  value: z.string().meta({
    description:
      'The value for the header x-api-token. It is not shown again: Signalbox stores only its hash.',
  }),
});

export const RevokeTokenRequest = z.object({ tokenId: part(100) });

export const RevokeTokenResponse = z.object({ token: ApiToken });

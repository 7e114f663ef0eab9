// API tokens and their scopes. A secret is in one response only: the one that creates it.

import { z } from 'zod';
import { ciProviders } from '#core/ci-job.ts';
import { CommitSha, InstantOut, lenientEnum, line, part, Repository, scopes } from './common.ts';

const pattern = line(1, 255);

const CiIdentity = z
  .object({
    provider: z.enum(ciProviders),
    issuer: z.string().meta({ description: 'Who signs the identity tokens of the jobs.' }),
    pipeline: z.string().nullable().meta({
      description:
        'The GitLab project, or the Buildkite pipeline as organization/pipeline. Null: it is named as the repository is.',
    }),
    branches: z
      .array(pattern)
      .nullable()
      .meta({ description: 'Patterns of branches. Null: every branch, and pull requests.' }),
  })
  .meta({ id: 'CiIdentity', description: 'CI jobs that prove who they are.' });

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
    identity: CiIdentity.optional().meta({
      description: 'The CI jobs that use it without a secret. Absent: it has a secret.',
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

export const TrustCiRequest = z.object({
  name: CreateTokenRequest.shape.name,
  provider: lenientEnum(ciProviders).meta({
    description: 'The CI system. Released versions of Gitea sign no identity tokens for jobs.',
  }),
  issuer: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .optional()
    .meta({
      description:
        'Who signs the identity tokens, exactly as in their claim iss. Default: that of github.com, gitlab.com or Buildkite. Required for Forgejo.',
    }),
  repositories: z.array(Repository).min(1).max(100).meta({
    description:
      'The repositories whose jobs are let in; with GitLab CI and Buildkite only one. Each must have a queue or reports already.',
  }),
  pipeline: part(255).optional().meta({
    description:
      'Required for GitLab CI, the project as group/project, and for Buildkite, organization/pipeline. Not allowed otherwise.',
  }),
  branches: z.array(pattern).min(1).max(20).optional().meta({
    description:
      'Let in only jobs of these branches: * is any text, slashes too, and ? is one character. Absent: every branch, and pull requests.',
  }),
});

export const TrustCiResponse = z.object({ token: ApiToken });

/** Longer than any CI system issues. */
const idTokenLengthMax = 16_384;

export const ExchangeCiTokenRequest = z.object({
  organization: part(100).meta({ description: 'The slug of the organization.' }),
  repo: Repository,
  idToken: part(idTokenLengthMax).meta({
    description: 'The identity token of the CI job, whose audience is the URL of Signalbox.',
  }),
  sha: CommitSha.optional().meta({
    description:
      'The commit that the job reports about: of a pull request its head. Absent: the present head, or the commit of the job.',
  }),
});

export const ExchangeCiTokenResponse = z.object({
  value: z.string().meta({ description: 'The value for the header x-api-token.' }),
  expiresAt: InstantOut,
  isTrusted: z.boolean().meta({
    description:
      'Whether its reports classify tests. False: unreviewed code may be running, such as that of a fork.',
  }),
  sha: z.string().nullable().meta({
    description: 'The commit that its reports are about, whatever they say. Null: they say it.',
  }),
  branch: z.string().nullable(),
  prNumber: z.int().nullable(),
});

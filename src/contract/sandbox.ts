// The control API of the sandbox host: scripts what its pull requests and tests look like.

import { z } from 'zod';
import { mergeabilities } from '#core/queue/model.ts';
import {
  Branch,
  InstantIn,
  PullRequestRef,
  Repository,
  Uuid,
  lenientEnum,
  line,
  shaPattern,
} from './common.ts';

const Sha = z.string().regex(shaPattern, 'must be a full commit sha');

const target = { repo: Repository, pr: PullRequestRef };

const wishes = {
  title: line(1, 500).optional(),
  sha: Sha.optional(),
  baseBranch: Branch.optional(),
  author: line(1, 100).optional(),
  mergeability: lenientEnum(mergeabilities).optional(),
  draft: z.boolean().optional(),
  state: lenientEnum(['open', 'closed', 'merged']).optional(),
};

export const SandboxPullRequestRequest = z.object(target);
export const SandboxWriteRequest = z.object({ ...target, ...wishes });
export const SandboxPushRequest = z.object({ ...target, sha: Sha.optional() });

export const SandboxPullRequestResponse = z.object({
  pullRequest: z
    .object({
      number: z.int(),
      title: z.string(),
      sha: z.string(),
      baseBranch: z.string(),
      author: z.string(),
      mergeability: z.enum(mergeabilities),
      draft: z.boolean(),
      state: z.enum(['open', 'closed', 'merged']),
    })
    .meta({ id: 'SandboxPullRequest' }),
});

const quarantineSettings = ['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE', 'NEVER_QUARANTINE'] as const;

export const PutTestCasesRequest = z.object({
  repo: Repository,
  testCases: z
    .array(
      z.object({
        name: line(1, 1024),
        variant: line(0, 64).default(''),
        file: line(1, 1024).optional(),
        classname: line(1, 1024).optional(),
        parent: line(1, 1024).optional(),
        status: lenientEnum(['healthy', 'flaky', 'broken']),
        reason: line(0, 1024).default(''),
        statusChangedAt: InstantIn.optional(),
        quarantineSetting: lenientEnum(quarantineSettings).default('AUTO_QUARANTINE'),
        pullRequestsImpacted: z.int().min(0).max(1_000_000).default(0),
        codeowners: z.array(line(1, 255)).max(100).default([]),
        failures: z
          .array(
            z.object({ summary: line(1, 4096), at: InstantIn, count: z.int().min(1).max(10_000).default(1) }),
          )
          .max(100)
          .default([]),
        runs: z
          .array(
            z.object({
              at: InstantIn,
              runs: z.int().min(0).max(1_000_000),
              failures: z.int().min(0).max(1_000_000),
            }),
          )
          .max(1_000)
          .default([]),
      }),
    )
    .min(1)
    .max(1_000),
});

export const PutTestCasesResponse = z.object({
  testCases: z.array(z.object({ id: Uuid, name: z.string() })),
});

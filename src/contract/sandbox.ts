// The control API of the sandbox host: creates pull requests, checks and test results for demos and tests.

import { z } from 'zod';
import { mergeabilities } from '#core/queue/model.ts';
import { mergeMethods } from '#core/queue/settings.ts';
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

// oxlint-disable-next-line no-control-regex -- control characters are what must be refused
const filePath = /^(?!\/)(?!.*(^|\/)(\.{0,2}|\.[gG][iI][tT])(\/|$))[^\u0000-\u001f\u007f]+$/;

const Content = z.string().max(1_048_576);

const Files = z
  .record(
    z.string().max(512).regex(filePath, 'must be a file path inside the repository'),
    z.union([Content, z.object({ content: Content, executable: z.boolean().default(false) }), z.null()]),
  )
  .refine((files) => Object.keys(files).length <= 1_000, 'must name at most 1000 files')
  .meta({
    description: 'By path: the content of a file as text, or with `executable`; null deletes the file.',
  });

const pullRequestFields = {
  title: line(1, 500).optional(),
  body: z.string().max(65_536).optional(),
  sha: Sha.optional(),
  baseBranch: Branch.optional(),
  author: line(1, 100).optional(),
  fork: line(1, 200)
    .nullable()
    .optional()
    .meta({ description: 'The repository that its head comes from, as owner/name. Null: this one.' }),
  mergeability: lenientEnum(mergeabilities).optional(),
  draft: z.boolean().optional(),
  state: lenientEnum(['open', 'closed', 'merged']).optional(),
};

export const SandboxPullRequestRequest = z.object(target);
export const SandboxWriteRequest = z.object({ ...target, ...pullRequestFields });
export const SandboxCreateRequest = z
  .object({
    ...target,
    ...pullRequestFields,
    files: Files.optional(),
    parentSha: Sha.optional().meta({
      description: 'The commit that `files` are added to. Default: the base branch.',
    }),
    branch: Branch.optional().meta({
      description: 'A pushed branch; its head becomes the head of the pull request.',
    }),
  })
  .superRefine(({ sha, files, branch }, context) => {
    if ([sha, files, branch].filter((head) => head !== undefined).length > 1)
      context.addIssue({
        code: 'custom',
        path: ['sha'],
        message: 'must not have more than one of sha, files and branch',
      });
  });
export const SandboxPushRequest = z.object({ ...target, sha: Sha.optional(), files: Files.optional() });

const SandboxPullRequest = z
  .object({
    number: z.int(),
    title: z.string(),
    body: z.string().optional().meta({ description: 'Absent: it is empty.' }),
    sha: z.string(),
    baseBranch: z.string(),
    author: z.string(),
    fork: z.string().optional().meta({ description: 'Absent: its head is a branch of the same repository.' }),
    mergeability: z.enum(mergeabilities),
    draft: z.boolean(),
    state: z.enum(['open', 'closed', 'merged']),
    labels: z.array(z.string()),
    mergeSha: z
      .string()
      .optional()
      .meta({ description: 'The commit that merged it; absent: it is not merged.' }),
  })
  .meta({ id: 'SandboxPullRequest' });

export const SandboxPullRequestResponse = z.object({ pullRequest: SandboxPullRequest });

export const SandboxReviewRequest = z.object({
  ...target,
  by: line(1, 100).meta({ description: 'The login of the reviewer.' }),
  state: lenientEnum(['approved', 'changes_requested', 'commented', 'dismissed']),
  sha: Sha.optional().meta({ description: 'The reviewed commit. Default: the head.' }),
});

const Label = line(1, 50);

export const SandboxLabelRequest = z.object({
  ...target,
  add: z.array(Label).max(100).default([]),
  remove: z.array(Label).max(100).default([]),
  by: line(1, 100).meta({ description: 'The login of the user.' }),
});

export const SandboxWriteCommentRequest = z.object({
  ...target,
  author: line(1, 100),
  text: z.string().min(1).max(65_536),
});
export const SandboxEditCommentRequest = z.object({
  ...target,
  id: line(1, 100),
  text: z.string().min(1).max(65_536),
});
export const SandboxCommentRequest = z.object({ ...target, id: line(1, 100) });

const SandboxComment = z
  .object({ id: z.string(), author: z.string(), text: z.string() })
  .meta({ id: 'SandboxComment' });

export const SandboxCommentResponse = z.object({ comment: SandboxComment });
export const SandboxCommentsResponse = z.object({
  comments: z.array(SandboxComment).meta({ description: 'Oldest first, at most 500.' }),
});

export const SandboxMergeRequest = z.object({
  ...target,
  method: lenientEnum(mergeMethods).default('squash'),
});
export const SandboxMergeResponse = z.object({ pullRequest: SandboxPullRequest, sha: z.string() });

export const SandboxCommitRequest = z
  .object({
    repo: Repository,
    branch: Branch,
    files: Files.optional(),
    message: z.string().min(1).max(65_536).optional(),
    author: line(1, 100).optional(),
    sha: Sha.optional().meta({ description: 'Moves the branch to this commit.' }),
    force: z.boolean().default(false).meta({ description: 'Allow a move that loses commits.' }),
    delete: z.boolean().default(false).meta({ description: 'Deletes the branch.' }),
  })
  .superRefine(({ files, sha, delete: isDeleted }, context) => {
    if ([files !== undefined, sha !== undefined, isDeleted].filter(Boolean).length !== 1)
      context.addIssue({
        code: 'custom',
        path: ['files'],
        message: 'must have exactly one of files, sha and delete',
      });
  });
export const SandboxCommitResponse = z.object({
  branch: z.string(),
  sha: z.string().nullable().meta({ description: 'The head of the branch; null: the branch is deleted.' }),
});

const AppId = line(1, 20);

/** The states of a commit status, then the other conclusions of a check run (GitHub REST docs, "Check runs"). */
const checkStates = [
  'pending',
  'success',
  'failure',
  'error',
  'neutral',
  'skipped',
  'cancelled',
  'timed_out',
  'stale',
  'startup_failure',
  'action_required',
] as const;

export const SandboxCheckRequest = z
  .object({
    repo: Repository,
    sha: Sha.optional(),
    testRunOf: PullRequestRef.shape.number
      .optional()
      .meta({ description: 'The commit of the newest test run of this pull request.' }),
    name: line(1, 255),
    state: lenientEnum(checkStates).meta({
      description:
        'pending, success, failure and error are reported as a commit status, the others as a check run with that conclusion.',
    }),
    url: z.string().max(2048).default(''),
    app: AppId.optional().meta({
      description: 'The id of the App that reports it. The report is then a check run, whatever its state.',
    }),
  })
  .superRefine(({ sha, testRunOf }, context) => {
    if ((sha === undefined) === (testRunOf === undefined))
      context.addIssue({ code: 'custom', path: ['sha'], message: 'must have either sha or testRunOf' });
  });
export const SandboxCheckResponse = z.object({ sha: z.string() });

const milliseconds = z.int().min(0).max(3_600_000);
const Duration = z.union([milliseconds, z.object({ min: milliseconds, max: milliseconds })]);
const Context = line(1, 255);

const ci = {
  mode: lenientEnum(['auto', 'manual']),
  contexts: z.array(Context).max(20),
  script: z.boolean(),
  timeoutMs: z.int().min(100).max(3_600_000),
  flakeRate: z.number().min(0).max(1),
  seed: line(0, 100),
};

const faults = {
  webhooks: lenientEnum(['deliver', 'drop', 'double']),
  shuffleMs: z.int().min(0).max(600_000),
  answers: lenientEnum(['ok', '5xx', 'timeout', 'rate_limited', 'forbidden']),
};

const permissions = ['none', 'read', 'write', 'admin'] as const;

export const SandboxConfigureRequest = z.object({
  repo: Repository,
  ci: z
    .object({ ...ci, durationMs: Duration })
    .partial()
    .optional(),
  ciOn: lenientEnum(['test_branches', 'all']).optional(),
  protection: z
    .record(
      Branch,
      z
        .object({
          requiredChecks: z.array(Context).max(100).default([]),
          requiredApps: z.record(Context, AppId).default({}).meta({
            description: 'By required check: the id of the App that must report it.',
          }),
          refusePushes: z.boolean().default(false),
          refuseMerges: line(1, 1000).nullable().default(null),
          needsUpToDate: z.boolean().default(false),
        })
        .nullable(),
    )
    .optional()
    .meta({
      description: 'By branch; null: not protected. Any other branch requires the checks that CI reports.',
    }),
  people: z.record(line(1, 100), lenientEnum(permissions)).optional().meta({
    description: 'Permissions by login; `*` is for every other user (default: write).',
  }),
  faults: z
    .object({ ...faults, untilMs: z.int().min(1).max(86_400_000) })
    .partial()
    .optional()
    .meta({ description: '`untilMs`: the fault ends after this many milliseconds.' }),
});

const SandboxSettings = z
  .object({
    ci: z.object({ ...ci, durationMs: z.object({ min: z.int(), max: z.int() }) }),
    ciOn: z.enum(['test_branches', 'all']),
    protection: z.record(
      z.string(),
      z
        .object({
          requiredChecks: z.array(z.string()),
          requiredApps: z.record(z.string(), z.string()),
          refusePushes: z.boolean(),
          refuseMerges: z.string().nullable(),
          needsUpToDate: z.boolean(),
        })
        .nullable(),
    ),
    people: z.record(z.string(), z.enum(permissions)),
    faults: z.object({ ...faults, answersUntil: z.string().nullable() }),
  })
  .meta({ id: 'SandboxSettings' });

export const SandboxConfigureResponse = z.object({ settings: SandboxSettings });

export const SandboxRepositoryRequest = z.object({
  repo: Repository,
  sha: Sha.optional().meta({ description: 'Also return the check results of this commit.' }),
});
export const SandboxRepositoryResponse = z.object({
  cloneUrl: z.string().meta({ description: 'Use an API token as the password and any user name.' }),
  settings: SandboxSettings,
  branches: z.array(z.object({ name: z.string(), sha: z.string() })),
  pullRequests: z.array(SandboxPullRequest).meta({ description: 'Open pull requests, at most 500.' }),
  checks: z
    .array(
      z.object({
        name: z.string(),
        state: z.enum(checkStates),
        url: z.string(),
        app: z
          .string()
          .optional()
          .meta({ description: 'The id of the App that reported it; absent: no App did.' }),
      }),
    )
    .optional(),
  ciRuns: z
    .array(
      z.object({
        branch: z.string(),
        attempt: z.int(),
        state: z.enum(['queued', 'running', 'done']),
        outcome: z.enum(['success', 'failure', 'error']).nullable(),
        log: z.string(),
      }),
    )
    .optional(),
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

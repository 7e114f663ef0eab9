// Requests and responses about pull requests in a queue.

import { z } from 'zod';
import { entryStates, mergeabilities } from '#core/queue/model.ts';
import { priorities, priorityMax, type PriorityName } from '#core/queue/priority.ts';
import { reasons } from '#core/queue/reason.ts';
import {
  Branch,
  InstantIn,
  InstantOut,
  PullRequestRef,
  PullRequestWithSha,
  Repository,
  Uuid,
  lenientEnum,
  published,
  queueRef,
} from './common.ts';
import { FailedTests, RequiredCheck } from './testing.ts';
import { TimeSpent } from './time-spent.ts';

const priorityNames = Object.keys(priorities) as [PriorityName, ...PriorityName[]];

const Priority = z
  .preprocess(
    (input) => {
      if (typeof input !== 'string') return input;
      const name = input.toLowerCase();
      if (name in priorities) return priorities[name as PriorityName];
      return /^\d{1,3}$/.test(input) ? Number(input) : input;
    },
    z
      .int(`must be one of ${priorityNames.join(', ')}, or an integer from 0 to ${priorityMax}`)
      .min(0)
      .max(priorityMax),
  )
  .meta({
    ...published({
      oneOf: [
        { type: 'string', enum: priorityNames },
        { type: 'integer', minimum: 0, maximum: priorityMax },
      ],
    }),
    description: 'Lower numbers go first: urgent 0, high 10, medium 100 (default), low 200.',
  });

export const PullRequestRequest = z.object({ ...queueRef, pr: PullRequestRef });

export const SubmitRequest = z.object({
  ...queueRef,
  pr: PullRequestWithSha.meta({
    description:
      'With sha, only that head is submitted: if the head has changed, the answer is 409. Without it, the current head at the Git host is submitted.',
  }),
  priority: Priority.optional(),
  noBatch: z.boolean().optional().meta({ description: 'Test it alone even if the queue uses batches.' }),
});

/** The current state of a pull request at its Git host. */
export const HostedPullRequest = z
  .object({
    prNumber: z.int(),
    prTitle: z.string(),
    prSha: z
      .string()
      .meta({ description: 'The head commit; pass it to submitPullRequest to submit exactly this head.' }),
    prBaseBranch: z.string(),
    prAuthor: z.string(),
    prUrl: z.string(),
    state: z.enum(['open', 'closed', 'merged']),
    draft: z.boolean(),
  })
  .meta({ id: 'HostedPullRequest' });

export const GetSubmittedRequest = z.object({
  ...queueRef,
  pr: PullRequestRef,
  includeTimeline: z.boolean().optional(),
  includeTimeSpent: z.boolean().optional().meta({ description: 'Where the time went, per attempt.' }),
});

const impactedTargetLengthMax = 1024;

/** Characters are counted only if there may be too many. */
const isShort = (target: string): boolean =>
  target.length <= impactedTargetLengthMax || Array.from(target).length <= impactedTargetLengthMax;

export const SetImpactedTargetsRequest = z.object({
  repo: Repository,
  targetBranch: Branch,
  pr: PullRequestWithSha,
  // A list of 200,000 is checked in one pass by hand: a schema per element would cost several times as much.
  impactedTargets: z
    .unknown()
    .superRefine((input, context) => {
      const problem = (path: (string | number)[], message: string) =>
        context.addIssue({ code: 'custom', path, message });
      if (typeof input === 'string') {
        if (input.toUpperCase() !== 'ALL') problem([], 'must be "ALL" or a list of targets');
        return;
      }
      if (!Array.isArray(input)) {
        problem([], input === undefined ? 'is required' : 'must be "ALL" or a list of targets');
        return;
      }
      let problems = 0;
      for (const [index, target] of input.entries()) {
        if (typeof target === 'string' && target.length > 0 && isShort(target)) continue;
        problem([index], `must be a string of 1 to ${impactedTargetLengthMax} characters`);
        // For a list that is wrong throughout, only the first problems are reported.
        if (++problems === 100) return;
      }
    })
    .meta({
      ...published({
        oneOf: [
          { type: 'string', enum: ['ALL'] },
          { type: 'array', items: { type: 'string', minLength: 1, maxLength: impactedTargetLengthMax } },
        ],
      }),
      description: 'Targets the pull request impacts; "ALL" for every target, an empty list for none.',
    })
    .transform((input) => (typeof input === 'string' ? ('ALL' as const) : (input as readonly string[]))),
});

const TimelineEvent = z
  .object({
    timestamp: InstantOut,
    state: z.enum(entryStates),
    reason: z.enum(reasons).nullable(),
    actor: z.string(),
    testRunId: Uuid.optional(),
    trip: z.int(),
    ruleChange: z
      .object({ added: z.array(z.string()), removed: z.array(z.string()) })
      .optional()
      .meta({
        description:
          'How this pull request changes the required checks, while it is tested and after it has merged.',
      }),
    branchRuleChange: z
      .object({
        added: z.array(z.string()),
        bound: z
          .array(RequiredCheck)
          .meta({ description: 'Checks that were required before, and now from another source.' }),
        removed: z.array(z.string()),
      })
      .optional()
      .meta({
        description:
          'With the reason REQUIRED_STATUSES_CHANGED: how the required checks of the branch changed after it was tested.',
      }),
  })
  .meta({ id: 'TimelineEvent' });

/** Fields common to the record of a pull request and the list of a queue. */
export const entryFields = {
  id: Uuid,
  state: z.enum(entryStates),
  stateChangedAt: InstantOut,
  priorityValue: z.int(),
  priorityName: z.string(),
  usedDefaultPriorityName: z.string().optional(),
  skipTheLine: z.boolean(),
  noBatch: z.boolean(),
  prNumber: z.int(),
  prTitle: z.string(),
  prSha: z.string(),
  prBaseBranch: z.string(),
  prAuthor: z.string(),
};

export const SubmittedPullRequest = z
  .object({
    ...entryFields,
    forceEnqueued: z.boolean(),
    isCurrentlySubmittedToQueue: z.boolean(),
    readiness: z.object({
      requiresImpactedTargets: z.boolean(),
      doesBaseBranchMatch: z.boolean(),
      hasImpactedTargets: z.boolean(),
      gitHubMergeability: z.enum(mergeabilities),
    }),
    verifiedByTestRun: Uuid.nullable(),
    conclusionReason: z.enum(reasons).nullable(),
    queuePosition: z.int().nullable().meta({ description: '0 is next; null: not in the queue.' }),
    waitingFor: z
      .array(z.string())
      .meta({ description: 'The reason for the state, and what it is waiting for.' }),
    failedTests: FailedTests.nullable().meta({
      description: 'The failing tests in the reports of its failed run; null: it failed in no run.',
    }),
    estimatedMergeAt: InstantOut.nullable().meta({
      description:
        'The estimated time of its merge, if its tests pass. Null until five test runs of the queue have passed within two weeks, and whenever no estimate is possible.',
    }),
    estimatedMergeInterval: z
      .array(InstantOut)
      .length(2)
      .nullable()
      .meta({ description: 'The 10th and the 90th percentile of the estimate.' }),
    timeline: z.array(TimelineEvent).optional().meta({ description: 'Newest first.' }),
    timeSpent: z.array(TimeSpent).optional().meta({ description: 'Per attempt, newest first.' }),
  })
  .meta({ id: 'SubmittedPullRequest' });
export type SubmittedPullRequest = z.infer<typeof SubmittedPullRequest>;

export const ListPullRequestsRequest = z.object({
  ...queueRef,
  state: lenientEnum(entryStates).optional(),
  since: InstantIn.optional().meta({ description: 'Concluded at or after.' }),
  until: InstantIn.optional().meta({ description: 'Concluded before.' }),
  cursor: z.string().max(2048).optional(),
  take: z.int().min(1).max(100).default(50),
});

export const ListPullRequestsResponse = z.object({
  pullRequests: z.array(SubmittedPullRequest),
  nextCursor: z.string().optional(),
});

export const GetSubmittedManyRequest = z.object({ ...queueRef, prs: z.array(PullRequestRef).min(1).max(50) });

export const GetSubmittedManyResponse = z.object({
  pullRequests: z.array(SubmittedPullRequest),
  notFound: z.array(z.object({ number: z.int() })),
});

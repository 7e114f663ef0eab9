// Requests and responses about test runs.

import { z } from 'zod';
import { InstantIn, InstantOut, PullRequestRef, Uuid, queueRef } from './common.ts';

export const runStatuses = ['in_progress', 'succeeded', 'failed', 'cancelled'] as const;

const CheckSuite = z
  .object({
    checkRuns: z.array(
      z.object({
        name: z.string(),
        url: z.string(),
        status: z.enum(['QUEUED', 'IN_PROGRESS', 'COMPLETED']),
        conclusion: z.string().nullable(),
        app: z
          .string()
          .nullish()
          .meta({ description: 'The id of the App that reported it, if the Git host has Apps.' }),
      }),
    ),
  })
  .meta({ id: 'CheckSuite' });

const StatusCheck = z
  .object({
    context: z.string(),
    url: z.string(),
    state: z.enum(['ERROR', 'FAILURE', 'PENDING', 'SUCCESS']),
    creator: z
      .string()
      .nullish()
      .meta({ description: 'The account that posted it, where the Git host reports it.' }),
  })
  .meta({ id: 'StatusCheck' });

const TestedPullRequest = z
  .object({ prNumber: z.int(), prUrl: z.string(), title: z.string() })
  .meta({ id: 'TestedPullRequest' });

export const FailedTests = z
  .object({
    count: z.int(),
    first: z
      .array(
        z.object({
          testCaseId: Uuid,
          name: z.string(),
          verdict: z.enum(['flaky', 'broken', 'new', 'unknown']).meta({
            description:
              'flaky: known to be flaky; broken: already broken on the default branch; new: passed before; unknown: no history.',
          }),
          isQuarantined: z.boolean(),
        }),
      )
      .meta({ description: 'At most 10, the most informative first.' }),
  })
  .meta({ id: 'FailedTests', description: 'The failing tests in the reports for the commit of the run.' });

export const RequiredCheck = z
  .object({
    name: z.string(),
    source: z.string().nullable().meta({
      description:
        'The required source: `app:<id>`, a check run of that App; `check_run`, any check run; `commit_status`; null: any source.',
    }),
  })
  .meta({ id: 'RequiredCheck' });

export const RuleChange = z
  .object({
    prNumber: z.int(),
    added: z.array(z.string()),
    removed: z.array(z.string()),
  })
  .meta({
    id: 'RuleChange',
    description: 'How a pull request changes `merge.required_statuses` in `.signalbox.yaml`.',
  });

export const SelectedTestCount = z.int().nullable().meta({
  description:
    'How many tests the run runs, if it runs only those that failed in a batch, to find the culprit; null: all. Such a run permits no merge.',
});

export const TestRun = z
  .object({
    testRunId: Uuid,
    status: z.enum(runStatuses),
    createdAt: InstantOut,
    concludedAt: InstantOut.nullable(),
    queueType: z.enum(['main', 'bisection']),
    testBranch: z.string(),
    testBranchSha: z.string().nullable(),
    testTreeSha: z.string().nullable(),
    baseSha: z.string().nullable(),
    requiredStatuses: z.array(z.string()),
    requiredStatusesSource: z.enum(['queue', 'repository_file', 'branch_protection']).meta({
      description:
        'queue: the setting requiredStatuses of the queue. branch_protection: the protection of the branch, and .signalbox.yaml can add more. repository_file: only .signalbox.yaml.',
    }),
    requiredChecks: z
      .array(RequiredCheck)
      .meta({ description: 'The same checks, each with its required source.' }),
    ruleChanges: z.array(RuleChange),
    checkSuites: z.array(CheckSuite),
    statusChecks: z.array(StatusCheck),
    testedPullRequests: z.array(TestedPullRequest),
    dependentPrs: z
      .array(TestedPullRequest)
      .meta({ description: 'Pull requests in the base that are not under test.' }),
    failedTests: FailedTests,
    selectedTests: SelectedTestCount,
    impactedTargets: z.array(z.string()),
    impactedTargetsForTestedPrs: z.array(z.string()),
  })
  .meta({ id: 'TestRun' });
export type TestRun = z.infer<typeof TestRun>;

export const TestingDetailsRequest = z.object({
  ...queueRef,
  testRunId: Uuid.optional().meta({ description: 'The id of a run. Absent: see pr.' }),
  pr: PullRequestRef.optional().meta({
    description: 'Returns the current run of this pull request, or its latest.',
  }),
});

export const TestingDetailsResponse = z
  .union([TestRun, z.object({ testRuns: z.array(TestRun) }).meta({ id: 'TestRuns' })])
  .meta({
    description: 'One run if the request has testRunId or pr; otherwise every current run of the queue.',
  });

export const TestingResultsRequest = z.object({
  ...queueRef,
  since: InstantIn,
  until: InstantIn.optional(),
  offset: z.int().min(0).max(1_000_000).default(0),
  take: z.int().min(1).max(100).default(50),
});

export const TestingResultsResponse = z.object({ testingResults: z.array(TestRun), totalItems: z.int() });

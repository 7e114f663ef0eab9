// Requests and responses about landings and their attestations.

import { z } from 'zod';
import { InstantOut, PullRequestRef, queueRef, Uuid } from './common.ts';
import { RequiredCheck, RuleChange } from './testing.ts';

const shaPattern = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

export const GetLandingRequest = z
  .object({
    ...queueRef,
    commit: z
      .string()
      .toLowerCase()
      .regex(shaPattern, 'must be a full commit sha')
      .optional()
      .meta({ description: 'A commit that a landing put on the branch.' }),
    pr: PullRequestRef.optional().meta({ description: 'The latest landing of this pull request.' }),
  })
  .superRefine(({ commit, pr }, context) => {
    if ((commit === undefined) === (pr === undefined))
      context.addIssue({ code: 'custom', path: ['commit'], message: 'must have either commit or pr' });
  });

export const Landing = z
  .object({
    landedAt: InstantOut,
    proof: z.enum(['exact', 'lane', 'direct', 'partial', 'mismatch']).meta({
      description:
        'exact: the landed tree is the tested tree. lane: pull requests with disjoint targets landed in between. direct: its own checks passed on a head that contains the tip. partial: the Git host merged only the first pull requests of a batch that was tested as a whole, so no run tested exactly this tree. mismatch: the Git host merged something other than what was tested, and the queue is paused.',
    }),
    landingMode: z.enum(['fast_forward', 'host']),
    mergeMethod: z.enum(['merge_commit', 'squash', 'rebase']),
    baseSha: z.string().meta({ description: 'The head of the branch before the landing.' }),
    landedSha: z.string().meta({ description: 'The head of the branch after the landing.' }),
    testedTreeSha: z.string(),
    landedTreeSha: z.string(),
    testRunId: Uuid.nullable(),
    testBranchSha: z.string().nullable(),
    requiredStatuses: z.array(z.string()),
    requiredChecks: z
      .array(RequiredCheck)
      .meta({ description: 'The same checks, each with its required source.' }),
    ruleChanges: z
      .array(RuleChange)
      .meta({ description: 'How this landing changed the required checks of the branch.' }),
    flakyTestRunIds: z.array(Uuid).meta({
      description:
        'Earlier runs of the same commits that did not count, because every test that failed in them was known to be flaky. If only the failed jobs ran again, it includes the run itself.',
    }),
    statusChecks: z.array(z.looseObject({})).meta({ description: 'The check results as CI reported them.' }),
    members: z.array(
      z.object({
        prNumber: z.int(),
        prSha: z.string(),
        landedSha: z.string().nullable(),
        forced: z.boolean().meta({
          description: 'Submitted with --force, without waiting for the Git host to call it mergeable.',
        }),
      }),
    ),
  })
  .meta({ id: 'Landing' });

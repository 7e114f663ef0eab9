// Requests and responses about landings: the proof that what landed is what was tested.

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
    pr: PullRequestRef.optional().meta({ description: 'Its latest landing.' }),
  })
  .superRefine(({ commit, pr }, context) => {
    if ((commit === undefined) === (pr === undefined))
      context.addIssue({ code: 'custom', path: ['commit'], message: 'give either commit or pr' });
  });

export const Landing = z
  .object({
    landedAt: InstantOut,
    proof: z.enum(['exact', 'lane', 'direct', 'partial', 'mismatch']).meta({
      description:
        'exact: the tested tree is the landed tree. lane: others with disjoint targets landed in between. direct: its own checks passed on a head that holds the tip. partial: the host merged only the first pull requests of a batch that was tested as a whole, so no run tested exactly this tree. mismatch: the host merged something else than what was tested, and the queue is paused.',
    }),
    landingMode: z.enum(['fast_forward', 'host']),
    mergeMethod: z.enum(['merge_commit', 'squash', 'rebase']),
    baseSha: z.string().meta({ description: 'The branch before.' }),
    landedSha: z.string().meta({ description: 'The branch after.' }),
    testedTreeSha: z.string(),
    landedTreeSha: z.string(),
    testRunId: Uuid.nullable(),
    testBranchSha: z.string().nullable(),
    requiredStatuses: z.array(z.string()),
    requiredChecks: z
      .array(RequiredCheck)
      .meta({ description: 'The same checks, each with the source that had to report it.' }),
    ruleChanges: z
      .array(RuleChange)
      .meta({ description: 'What this landing changed in the required checks of the branch.' }),
    statusChecks: z.array(z.looseObject({})).meta({ description: 'What CI said, as it was said.' }),
    members: z.array(
      z.object({
        prNumber: z.int(),
        prSha: z.string(),
        landedSha: z.string().nullable(),
        forced: z.boolean().meta({ description: 'Submitted with --force, without waiting for the host.' }),
      }),
    ),
  })
  .meta({ id: 'Landing' });

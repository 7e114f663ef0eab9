// The body of each event that is sent to webhook endpoints. One list of types for the API, for the published
// document and for the code that builds the bodies.

import { z } from 'zod';
import { culpritReasons } from '#core/health/monitor/culprit.ts';
import { fixEnds } from '#core/health/fix/fix-verification.ts';
import { type OutgoingAction, outgoingActions } from '#core/queue/outgoing.ts';
import { entryStates, queueStates } from '#core/queue/model.ts';
import { troubleKinds } from '#core/queue/watch/trouble.ts';
import { InstantOut } from './common.ts';
import { HeldBack, TestCaseDetails } from './test-health.ts';

const testActions = [
  'status_changed',
  'quarantining_setting_changed',
  'monitor_status_changed',
  'quarantine_held_back',
  'quarantine_ending',
  'breakage_located',
  'fix_verification_changed',
  'renamed',
] as const;
const queueActions = ['halted', 'recovered', 'stalled', 'slow', 'state_changed'] as const;
const landingActions = ['mismatch'] as const;

/** A submission is always of a single pull request. */
const batchActions = outgoingActions.filter((action) => action !== 'submitted');

export const webhookTypes = [
  ...outgoingActions.map((action) => `pull_request.${action}` as const),
  ...batchActions.map((action) => `pull_request_batch.${action}` as const),
  ...testActions.map((action) => `test_case.${action}` as const),
  ...queueActions.map((action) => `queue.${action}` as const),
  ...landingActions.map((action) => `landing.${action}` as const),
] as const;
export type WebhookType = (typeof webhookTypes)[number];

const RepositoryName = z.object({ host: z.string(), owner: z.string(), name: z.string() });

const ofQueue = {
  http_details_url: z.string().meta({ description: 'URL of its page on the dashboard.' }),
  repository: RepositoryName,
  target_branch: z.string(),
  timestamp: InstantOut,
  state: z.enum(queueStates).meta({ description: 'The state of the queue.' }),
};

const reason = z
  .string()
  .meta({ description: 'Why, as sentences, with what to do about it where that is known.' });

const queueFields = {
  halted: { reason },
  recovered: {
    from: z.enum(['halted', ...troubleKinds]).meta({ description: 'What is over.' }),
    since: InstantOut.optional().meta({ description: 'When that began; absent: it was halted.' }),
    actor: z.string().optional().meta({ description: 'Who set it going again, if it was halted.' }),
  },
  stalled: { reason },
  slow: { reason },
  state_changed: { previous_state: z.enum(queueStates), actor: z.string() },
} as const;

const queueBody = (action: (typeof queueActions)[number]) =>
  z.object({
    type: z.literal(`queue.${action}`),
    action: z.literal(action),
    ...ofQueue,
    ...queueFields[action],
  });

const MismatchBody = z.object({
  type: z.literal('landing.mismatch'),
  action: z.literal('mismatch'),
  ...ofQueue,
  pr_numbers: z.array(z.int()),
  reason,
  tree: z.string().meta({ description: 'The git tree that was merged, or would have been.' }),
  tested_tree: z.string(),
  is_merged: z.boolean().meta({ description: 'Whether it is on the branch.' }),
});

const inQueue = {
  http_details_url: z.string().meta({ description: 'URL of its page on the dashboard.' }),
  repository: RepositoryName,
  status: z.enum(entryStates).meta({ description: 'Its current state.' }),
  target_branch: z.string(),
  timestamp: InstantOut,
  test_branch: z
    .string()
    .optional()
    .meta({ description: 'The branch of its test run; absent: it has none yet.' }),
  test_branch_sha: z.string().optional(),
  test_pr_number: z.int().optional().meta({ description: 'The draft pull request of the run.' }),
  batched: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the run tests several pull requests together.' }),
  is_bisection: z.boolean().optional().meta({ description: 'Whether the run is part of a bisection.' }),
};

const reasonKeys: { readonly [Action in OutgoingAction]?: string } = {
  queued: 'queued_reason',
  failed: 'failure_reason',
  canceled: 'cancellation_reason',
  merged: 'merged_reason',
};

const reasonField = (action: OutgoingAction) => {
  const key = reasonKeys[action];
  return key === undefined ? {} : { [key]: z.string().optional() };
};

const pullRequestBody = (action: OutgoingAction) =>
  z.object({
    type: z.literal(`pull_request.${action}`),
    action: z.literal(action),
    author: z.string(),
    pr_number: z.int(),
    ...inQueue,
    ...reasonField(action),
  });

const batchBody = (action: OutgoingAction) =>
  z.object({
    type: z.literal(`pull_request_batch.${action}`),
    action: z.literal(action),
    pr_numbers: z.array(z.int()),
    ...inQueue,
    ...reasonField(action),
  });

const changes = {
  status_changed: z.object({ value: z.enum(['healthy', 'flaky', 'broken']), reason: z.string() }),
  quarantining_setting_changed: z.object({ setting: z.string() }),
  monitor_status_changed: z.object({
    monitor: z.string(),
    isActive: z.boolean(),
    evidence: z.json().optional(),
  }),
  quarantine_held_back: z.object({ reason: HeldBack }),
  quarantine_ending: z.object({
    days: z.int().nullable().meta({
      description: 'Days before the end at which this warning is due; null: there was none before.',
    }),
    endsAt: InstantOut.optional(),
  }),
  breakage_located: z.object({
    culprit: z
      .int()
      .nullable()
      .meta({ description: 'The likeliest pull request; null: none is likelier than the others.' }),
    reason: z.enum(culpritReasons).nullish().meta({ description: 'Why it is the likeliest.' }),
    passed_sha: z
      .string()
      .nullish()
      .meta({ description: 'The last commit on which the test passed; null: not known.' }),
    failed_sha: z
      .string()
      .optional()
      .meta({ description: 'The first commit on which the test was seen failing.' }),
    candidates: z
      .array(z.object({ sha: z.string(), pull_request: z.int().nullable(), title: z.string() }))
      .optional()
      .meta({
        description:
          'What landed in between, the likeliest first, at most 20; pull_request is null for a commit that the queue did not land.',
      }),
    candidate_count: z.int().optional(),
    is_complete: z.boolean().optional().meta({ description: 'Whether every commit in between is known.' }),
    revert_command: z.string().nullish().meta({ description: 'The command that reverts the likeliest one.' }),
  }),
  fix_verification_changed: z.object({
    state: z.enum(['none', 'verifying', ...fixEnds]).meta({
      description: 'none: before it began; verifying: CI repeats the test; the others: how it ended.',
    }),
    fix_sha: z
      .string()
      .nullish()
      .meta({ description: 'The commit of the fix; null: it was on the default branch before.' }),
    failed_sha: z.string().optional().meta({ description: 'The commit on which the test failed again.' }),
  }),
  renamed: z.object({
    is_carried: z.boolean().meta({
      description:
        'Whether the history of the former test is carried over; false: it is not, or not any more.',
    }),
    former_test_case_id: z.string().optional(),
    former_name: z.string().optional(),
    how: z.enum(['moved', 'renamed', 'stated']).optional(),
    commit: z.string().optional().meta({
      description:
        'The first commit of the default branch with the new name; empty: a person stated the rename.',
    }),
  }),
} as const;

const testBody = (action: (typeof testActions)[number]) =>
  z.object({
    type: z.literal(`test_case.${action}`),
    action: z.literal(action),
    repository: RepositoryName,
    timestamp: InstantOut,
    http_details_url: z.string(),
    test: TestCaseDetails,
    previous: changes[action],
    current: changes[action],
    trigger: z
      .object({
        kind: z.enum(['upload', 'time', 'person']),
        uploadId: z.string().optional(),
        actor: z.string().optional(),
      })
      .meta({ description: 'The cause: an upload, the passage of time, or a request of a person.' }),
  });

const TestBody = z.object({
  type: z.literal('webhook.test'),
  timestamp: InstantOut,
  message: z.string(),
  http_details_url: z.string(),
});

/** The body of each type. */
export const webhookBodies: Readonly<Record<string, z.ZodType>> = Object.fromEntries([
  ...outgoingActions.map((action) => [`pull_request.${action}`, pullRequestBody(action)] as const),
  ...batchActions.map((action) => [`pull_request_batch.${action}`, batchBody(action)] as const),
  ...testActions.map((action) => [`test_case.${action}`, testBody(action)] as const),
  ...queueActions.map((action) => [`queue.${action}`, queueBody(action)] as const),
  ['landing.mismatch', MismatchBody] as const,
  ['webhook.test', TestBody] as const,
]);

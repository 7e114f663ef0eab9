// What is sent to endpoints: the body of each event. One list of types, for the API, for the published document and for
// whoever makes the bodies.

import { z } from 'zod';
import { type OutgoingAction, outgoingActions } from '#core/queue/outgoing.ts';
import { entryStates } from '#core/queue/model.ts';
import { InstantOut } from './common.ts';
import { TestCaseDetails } from './test-health.ts';

const testActions = ['status_changed', 'quarantining_setting_changed', 'monitor_status_changed'] as const;
/** A submission is that of one. */
const batchActions = outgoingActions.filter((action) => action !== 'submitted');

export const webhookTypes = [
  ...outgoingActions.map((action) => `pull_request.${action}` as const),
  ...batchActions.map((action) => `pull_request_batch.${action}` as const),
  ...testActions.map((action) => `test_case.${action}` as const),
] as const;
export type WebhookType = (typeof webhookTypes)[number];

const RepositoryName = z.object({ host: z.string(), owner: z.string(), name: z.string() });

const inQueue = {
  http_details_url: z.string().meta({ description: 'The page of the dashboard that shows it.' }),
  repository: RepositoryName,
  status: z.enum(entryStates).meta({ description: 'Where it is since then.' }),
  target_branch: z.string(),
  timestamp: InstantOut,
  test_branch: z.string().optional().meta({ description: 'Of its test run, once it has one.' }),
  test_branch_sha: z.string().optional(),
  test_pr_number: z.int().optional().meta({ description: 'The draft pull request that shows the run.' }),
  batched: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the run tests several pull requests together.' }),
  is_bisection: z.boolean().optional().meta({ description: 'Whether the run looks for who broke a batch.' }),
};

const reasonKeys: { readonly [Action in OutgoingAction]?: string } = {
  queued: 'queued_reason',
  failed: 'failure_reason',
  canceled: 'cancellation_reason',
  merged: 'merged_reason',
};

const reasonOf = (action: OutgoingAction) => {
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
    ...reasonOf(action),
  });

const batchBody = (action: OutgoingAction) =>
  z.object({
    type: z.literal(`pull_request_batch.${action}`),
    action: z.literal(action),
    pr_numbers: z.array(z.int()),
    ...inQueue,
    ...reasonOf(action),
  });

const changes = {
  status_changed: z.object({ value: z.enum(['healthy', 'flaky', 'broken']), reason: z.string() }),
  quarantining_setting_changed: z.object({ setting: z.string() }),
  monitor_status_changed: z.object({
    monitor: z.string(),
    isActive: z.boolean(),
    evidence: z.json().optional(),
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
      .meta({ description: 'What caused it: an upload, the passing of time, or what a person asked for.' }),
  });

const TestBody = z.object({
  type: z.literal('webhook.test'),
  timestamp: InstantOut,
  message: z.string(),
  http_details_url: z.string(),
});

/** Of every type its body. */
export const webhookBodies: Readonly<Record<string, z.ZodType>> = Object.fromEntries([
  ...outgoingActions.map((action) => [`pull_request.${action}`, pullRequestBody(action)] as const),
  ...batchActions.map((action) => [`pull_request_batch.${action}`, batchBody(action)] as const),
  ...testActions.map((action) => [`test_case.${action}`, testBody(action)] as const),
  ['webhook.test', TestBody] as const,
]);

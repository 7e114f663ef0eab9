// The history of one test, and the effect of quarantine. These keep the snake_case of test health.

import { z } from 'zod';
import { branchClasses } from '#core/health/branch.ts';
import { monitorIds } from '#core/health/monitor/monitors.ts';
import { InstantOut, Repository, Uuid } from '../common.ts';

const Slug = z.string().min(1).max(100);
const BranchClass = z.enum(branchClasses as [(typeof branchClasses)[number], ...typeof branchClasses]);

export const TestHistoryRequest = z.object({
  repo: Repository,
  org_url_slug: Slug,
  test_id: Uuid,
  days: z
    .int()
    .min(1)
    .max(90)
    .default(30)
    .meta({ description: 'Length of the period in days, until today.' }),
});

const TestDay = z
  .object({
    day: z.string().meta({ description: 'YYYY-MM-DD, UTC.' }),
    branch_class: BranchClass,
    runs: z.int().nullable().meta({
      description: 'Null: not known. Runs are counted for 16 days from the first failure of a test.',
    }),
    failed: z.int().meta({ description: 'Runs in which every attempt failed.' }),
    flaky: z.int().meta({ description: 'Runs in which some attempts failed and some passed.' }),
    suspect: z
      .int()
      .meta({ description: 'Failures in uploads that are mass failures; they are not part of any rate.' }),
    contradicted: z.int().meta({ description: 'Commits on which the test passed and failed.' }),
  })
  .meta({ id: 'TestDay' });

const TestFailureGroup = z
  .object({
    fingerprint: z.string(),
    summary: z.string(),
    text: z
      .string()
      .nullable()
      .meta({ description: 'The latest failure of this kind, truncated; null: not stored.' }),
    occurrence_count: z.int(),
    last_occurrence: InstantOut,
    is_flake: z
      .boolean()
      .meta({ description: 'The test also passed on the same commit, so quarantine excuses this failure.' }),
    pull_requests: z.int().meta({ description: 'Pull requests that it affected in these days.' }),
  })
  .meta({ id: 'TestFailureGroup' });

const HitPullRequest = z
  .object({
    number: z.int(),
    failures: z.int(),
    last_failed_at: InstantOut,
    verdict: z
      .enum(['flaky', 'broken', 'new', 'unknown'])
      .meta({ description: 'The verdict on the latest failure.' }),
    was_quarantined: z.boolean(),
    upload_id: Uuid.nullable(),
    target_branches: z.array(z.string()).meta({
      description: 'Target branches of the queues that the pull request was submitted to; at most 3.',
    }),
  })
  .meta({ id: 'HitPullRequest' });

const MonitorView = z
  .object({
    monitor: z.enum(monitorIds),
    says: z.enum(['flaky', 'broken']),
    is_on: z.boolean(),
    is_active: z.boolean(),
    sees: z.string().meta({ description: 'The current evidence, as a sentence.' }),
    muted_until: InstantOut.nullable(),
    mute_reason: z.string().nullable(),
  })
  .meta({ id: 'MonitorView' });

const TestChange = z
  .object({
    at: InstantOut,
    kind: z.enum([
      'status_changed',
      'monitor_status_changed',
      'quarantining_setting_changed',
      'quarantine_held_back',
      'quarantine_ending',
      'breakage_located',
      'fix_verification_changed',
      'renamed',
    ]),
    monitor: z.string().nullable(),
    before: z.string(),
    after: z.string(),
    reason: z.string(),
    trigger: z.enum(['upload', 'time', 'person']),
    upload_id: Uuid.nullable(),
    actor: z.string().nullable(),
  })
  .meta({ id: 'TestChange' });

export const TestHistoryResponse = z.object({
  since: z.string().meta({ description: 'The first day of the period: YYYY-MM-DD.' }),
  days: z.array(TestDay).meta({ description: 'Days on which it ran or failed, oldest first.' }),
  is_cut: z
    .boolean()
    .meta({ description: 'True: there are more failures; only the latest 20,000 are counted.' }),
  failures: z.array(TestFailureGroup).meta({ description: 'Most frequent first, at most 20.' }),
  pull_requests: z.array(HitPullRequest).meta({ description: 'Latest failure first, at most 50.' }),
  monitors: z
    .array(MonitorView)
    .meta({ description: 'Every monitor; empty: no upload has contained the test.' }),
  all_muted_until: InstantOut.nullable(),
  all_mute_reason: z.string().nullable(),
  changes: z.array(TestChange).meta({ description: 'Newest first, at most 50.' }),
});
export type TestHistoryResponse = z.infer<typeof TestHistoryResponse>;

export const QuarantineSummaryRequest = z.object({ repo: Repository, org_url_slug: Slug });

export const QuarantineSummaryResponse = z.object({
  is_enabled: z.boolean(),
  quarantined_tests: z.int(),
  held_back_tests: z.int().meta({
    description:
      'How many flaky or broken tests should be quarantined and are not: see quarantine_held_back.',
  }),
  set_by_people: z.int().meta({ description: 'How many of these are set to ALWAYS_QUARANTINE.' }),
  expiring_within_7d: z.int(),
  failures_excused_last_30d: z.int(),
  pull_requests_spared_last_30d: z.int().meta({
    description: 'Pull requests with an excused failure that would have failed without quarantine.',
  }),
  is_cut: z
    .boolean()
    .meta({ description: 'True: there are more failures; only the latest 100,000 are counted.' }),
});

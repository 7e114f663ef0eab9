// What is known of one test over time, and what quarantine saved. These keep the snake_case of test health.

import { z } from 'zod';
import { branchClasses } from '#core/health/branch.ts';
import { monitorIds } from '#core/health/settings.ts';
import { InstantOut, Repository, Uuid } from './common.ts';

const Slug = z.string().min(1).max(100);
const BranchClass = z.enum(branchClasses as [(typeof branchClasses)[number], ...typeof branchClasses]);

export const TestHistoryRequest = z.object({
  repo: Repository,
  org_url_slug: Slug,
  test_id: Uuid,
  days: z.int().min(1).max(90).default(30).meta({ description: 'How far back is looked, from today.' }),
});

const TestDay = z
  .object({
    day: z.string().meta({ description: 'YYYY-MM-DD, UTC.' }),
    branch_class: BranchClass,
    runs: z.int().nullable().meta({
      description: 'Null: not known. Runs are counted from a test’s first failure on, for 16 days.',
    }),
    failed: z.int().meta({ description: 'Runs in which every attempt failed.' }),
    flaky: z.int().meta({ description: 'Runs in which some attempts failed and some passed.' }),
    suspect: z.int().meta({ description: 'Failures in uploads that are mass failures; in no rate.' }),
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
      .meta({ description: 'The newest failure of this sort, cut; null: not kept.' }),
    occurrence_count: z.int(),
    last_occurrence: InstantOut,
    is_flake: z
      .boolean()
      .meta({ description: 'A pass on the same commit contradicted it: a quarantine excuses it.' }),
    pull_requests: z.int().meta({ description: 'Pull requests that it hit in the days that are looked at.' }),
  })
  .meta({ id: 'TestFailureGroup' });

const HitPullRequest = z
  .object({
    number: z.int(),
    failures: z.int(),
    last_failed_at: InstantOut,
    verdict: z
      .enum(['flaky', 'broken', 'new', 'unknown'])
      .meta({ description: 'What was told of the last one.' }),
    was_quarantined: z.boolean(),
    upload_id: Uuid.nullable(),
    target_branches: z
      .array(z.string())
      .meta({ description: 'Of queues that the pull request was submitted to; at most 3.' }),
  })
  .meta({ id: 'HitPullRequest' });

const MonitorView = z
  .object({
    monitor: z.enum(monitorIds),
    says: z.enum(['flaky', 'broken']),
    is_on: z.boolean(),
    is_active: z.boolean(),
    sees: z.string().meta({ description: 'What it counts just now, in words.' }),
    muted_until: InstantOut.nullable(),
    mute_reason: z.string().nullable(),
  })
  .meta({ id: 'MonitorView' });

const TestChange = z
  .object({
    at: InstantOut,
    kind: z.enum(['status_changed', 'monitor_status_changed', 'quarantining_setting_changed']),
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
  since: z.string().meta({ description: 'The first day that is looked at: YYYY-MM-DD.' }),
  days: z.array(TestDay).meta({ description: 'Days on which it ran or failed, oldest first.' }),
  is_cut: z
    .boolean()
    .meta({ description: 'There are more failures than the 20,000 newest, which are counted.' }),
  failures: z.array(TestFailureGroup).meta({ description: 'The most common first, at most 20.' }),
  pull_requests: z.array(HitPullRequest).meta({ description: 'The last one hit first, at most 50.' }),
  monitors: z
    .array(MonitorView)
    .meta({ description: 'Every monitor; empty: the test was never in an upload.' }),
  all_muted_until: InstantOut.nullable(),
  all_mute_reason: z.string().nullable(),
  changes: z.array(TestChange).meta({ description: 'The newest first, at most 50.' }),
});
export type TestHistoryResponse = z.infer<typeof TestHistoryResponse>;

export const QuarantineSummaryRequest = z.object({ repo: Repository, org_url_slug: Slug });

export const QuarantineSummaryResponse = z.object({
  is_enabled: z.boolean(),
  quarantined_tests: z.int(),
  set_by_people: z.int().meta({ description: 'Of those, how many are always quarantined.' }),
  expiring_within_7d: z.int(),
  failures_excused_last_30d: z.int(),
  pull_requests_spared_last_30d: z
    .int()
    .meta({ description: 'Pull requests with an excused failure, which it alone would have stopped.' }),
  is_cut: z
    .boolean()
    .meta({ description: 'There are more failures than the 100,000 newest, which are counted.' }),
});

/** The shapes of the specification, written by hand: the published document is itself under test. */
import { has, pick } from './json.ts';

type Test = { readonly is: (value: unknown) => boolean; readonly what: string; readonly optional?: boolean };
export type Shape = Readonly<Record<string, Test>>;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** ISO 8601, UTC, with milliseconds. */
export function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}

/** A whole commit or tree, of SHA-1 or SHA-256. */
export function isSha(value: unknown): boolean {
  return typeof value === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}

const text: Test = { is: (v) => typeof v === 'string', what: 'a string' };
const number: Test = { is: (v) => typeof v === 'number', what: 'a number' };
const integer: Test = { is: (v) => Number.isInteger(v), what: 'an integer' };
const flag: Test = { is: (v) => typeof v === 'boolean', what: 'a boolean' };
const sha: Test = { is: isSha, what: 'a sha' };
const instant: Test = { is: isInstant, what: 'an instant in UTC with milliseconds' };
const texts: Test = {
  is: (v) => Array.isArray(v) && v.every((item) => typeof item === 'string'),
  what: 'a list of strings',
};

function optional(test: Test): Test {
  return { ...test, optional: true };
}

function orNull(test: Test): Test {
  return { is: (v) => v === null || test.is(v), what: `${test.what} or null` };
}

function oneOf(...values: readonly string[]): Test {
  return { is: (v) => typeof v === 'string' && values.includes(v), what: `one of ${values.join(', ')}` };
}

function inside(shape: Shape): Test {
  return {
    is: (v) => problemsOf(v, shape).length === 0,
    what: `an object with ${Object.keys(shape).join(', ')}`,
  };
}

/** What is wrong with `value` by `shape`, a sentence each. */
export function problemsOf(value: unknown, shape: Shape): readonly string[] {
  if (typeof value !== 'object' || value === null) return ['it is not an object'];
  return Object.entries(shape).flatMap(([key, test]) => {
    if (!has(value, key)) return test.optional ? [] : [`${key} is missing`];
    return test.is(pick(value, key)) ? [] : [`${key} is not ${test.what}`];
  });
}

const state = oneOf(
  'not_ready',
  'pending',
  'testing',
  'tests_passed',
  'merged',
  'failed',
  'cancelled',
  'pending_failure',
);

const FAILED_TESTS = inside({ count: integer, first: { is: Array.isArray, what: 'a list' } });

export const LISTED_QUEUE: Shape = {
  repo: inside({ host: text, owner: text, name: text }),
  targetBranch: text,
  state: oneOf('RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'),
  stateReason: orNull(text),
  mode: oneOf('single', 'parallel'),
  depth: integer,
  testing: integer,
  notReady: integer,
  oldestEntryAt: orNull(instant),
  mergedLast24h: integer,
  failedLast24h: integer,
  timeInQueueP50Seconds: orNull(number),
  isHostAway: flag,
  stall: orNull(text),
};

export const ENQUEUED: Shape = {
  id: text,
  state,
  stateChangedAt: instant,
  priorityValue: number,
  priorityName: text,
  usedDefaultPriorityName: optional(text),
  skipTheLine: flag,
  noBatch: flag,
  prNumber: number,
  prTitle: text,
  prSha: text,
  prBaseBranch: text,
  prAuthor: text,
};

export const RECORD: Shape = {
  ...ENQUEUED,
  forceEnqueued: flag,
  isCurrentlySubmittedToQueue: flag,
  readiness: inside({
    requiresImpactedTargets: flag,
    doesBaseBranchMatch: flag,
    hasImpactedTargets: flag,
    gitHubMergeability: oneOf('unspecified', 'in_progress', 'mergeable', 'not_mergeable'),
  }),
  verifiedByTestRun: orNull(text),
  conclusionReason: orNull(text),
  queuePosition: orNull(integer),
  waitingFor: texts,
  failedTests: orNull(FAILED_TESTS),
  estimatedMergeAt: orNull(instant),
  estimatedMergeInterval: orNull({
    is: (v) => Array.isArray(v) && v.length === 2 && v.every(isInstant),
    what: 'two instants',
  }),
};

export const TIMELINE_ENTRY: Shape = {
  timestamp: instant,
  state,
  reason: orNull(text),
  actor: orNull(text),
  testRunId: optional(orNull(text)),
  trip: integer,
};

export const TEST_CASE: Shape = {
  id: text,
  repository: inside({ html_url: text }),
  html_url: text,
  name: text,
  variant: text,
  status: inside({ value: oneOf('healthy', 'flaky', 'broken'), reason: text, timestamp: instant }),
  codeowners: texts,
  pull_requests_impacted_last_7d: integer,
  quarantined: flag,
  file_path: optional(text),
  parent: optional(text),
  classname: optional(text),
  ticket: optional(inside({ html_url: text })),
};

const fraction: Test = { is: (v) => typeof v === 'number' && v >= 0 && v <= 1, what: 'a fraction 0..1' };

export const TEST_DETAILS: Shape = {
  ...TEST_CASE,
  most_common_failures: {
    is: (v) =>
      Array.isArray(v) &&
      v.every(
        (item) =>
          problemsOf(item, { summary: text, occurrence_count: integer, last_occurrence: instant }).length ===
          0,
      ),
    what: 'a list of { summary, occurrence_count, last_occurrence }',
  },
  failure_rate_last_7d: fraction,
  failure_rate_last_24h: fraction,
};

export const QUARANTINED_TEST: Shape = {
  name: text,
  parent: orNull(text),
  file: orNull(text),
  classname: orNull(text),
  status: oneOf('HEALTHY', 'FLAKY', 'BROKEN'),
  codeowners: texts,
  quarantine_setting: oneOf('ALWAYS_QUARANTINE', 'AUTO_QUARANTINE'),
  quarantined_at: instant,
  status_last_updated_at: instant,
  test_case_id: text,
  variant: text,
};

export const PAGE: Shape = {
  total_rows: integer,
  total_pages: integer,
  next_page_token: text,
  prev_page_token: text,
  last_page_token: text,
  page_index: integer,
};

const list: Test = { is: (v) => Array.isArray(v), what: 'a list' };

export const TEST_RUN: Shape = {
  testRunId: text,
  status: oneOf('in_progress', 'succeeded', 'failed', 'cancelled'),
  createdAt: instant,
  concludedAt: orNull(instant),
  queueType: oneOf('main', 'bisection'),
  testBranch: text,
  testBranchSha: orNull(sha),
  testTreeSha: orNull(sha),
  baseSha: orNull(sha),
  requiredStatuses: texts,
  requiredStatusesSource: oneOf('queue', 'repository_file', 'branch_protection'),
  checkSuites: list,
  statusChecks: list,
  testedPullRequests: list,
  dependentPrs: list,
  impactedTargets: list,
  failedTests: FAILED_TESTS,
  selectedTests: orNull(integer),
  impactedTargetsForTestedPrs: list,
};

export const LANDING: Shape = {
  landedAt: instant,
  proof: oneOf('exact', 'lane', 'direct'),
  landingMode: oneOf('fast_forward', 'host'),
  mergeMethod: oneOf('merge_commit', 'squash', 'rebase'),
  baseSha: sha,
  landedSha: sha,
  testedTreeSha: sha,
  landedTreeSha: sha,
  testRunId: orNull(text),
  testBranchSha: orNull(sha),
  requiredStatuses: texts,
  statusChecks: list,
  members: {
    is: (v) =>
      Array.isArray(v) &&
      v.length > 0 &&
      v.every(
        (item) =>
          problemsOf(item, { prNumber: integer, prSha: sha, landedSha: orNull(sha), forced: flag }).length ===
          0,
      ),
    what: 'a list of { prNumber, prSha, landedSha, forced }',
  },
};

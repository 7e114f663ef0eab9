// Why an entry moved, as clients read it in the timeline and in `conclusionReason`.

const queuedReasons = [
  'MERGE_ITEM_NOW_READY',
  'MANUAL_PUSH_TO_TARGET_BRANCH',
  'PREREQUISITE_MERGE_ITEM_CANCELLED',
  'PREREQUISITE_MERGE_ITEM_FAILED',
  'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED',
  'TESTS_RESTARTED_BY_USER',
  'TESTS_RESTARTED_BY_API_REQUEST',
  'SKIP_THE_LINE_INTERRUPTED',
  'BISECTION_REQUIRED',
  'BISECTION_TEST_RUN_PASSED',
  'BATCH_TEST_RUN_PASSED',
  'REQUIRED_STATUSES_CHANGED',
  'REQUIRED_STATUS_NOT_CONFIRMED',
  'FLAKY_TESTS_FAILED',
] as const;

const failedReasons = [
  'TEST_RUN_REQUIRED_STATUS_FAILED',
  'TEST_RUN_TIMEOUT',
  'TEST_RUN_INFRASTRUCTURE_FAILED',
  'START_TEST_RUN_MERGE_CONFLICT',
  'START_TEST_RUN_NO_REQUIRED_STATUSES',
  'START_TEST_RUN_CONFIG_PARSING_FAILURE',
  'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  'START_TEST_RUN_RETRY_EXHAUSTED',
  'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH',
  'MERGE_REFUSED_BY_HOST',
  'PR_UPDATED_AT_MERGE_TIME',
  'TEST_RUN_FAILED_BY_OPTIMIZATION',
] as const;

export const cancelledReasons = [
  'USER_REQUESTED',
  'PR_CLOSED',
  'PR_PUSHED_TO',
  'PR_BASE_BRANCH_CHANGED',
  'PR_CONVERTED_TO_DRAFT',
  'NOT_READY_TIMEOUT_EXPIRED',
  'ADMIN_REQUESTED',
] as const;

const mergedReasons = ['MERGE_GRAPH_MERGE', 'MERGE_GRAPH_DIRECT_MERGE', 'MANUAL_MERGE'] as const;

export type QueuedReason = (typeof queuedReasons)[number];
export type FailedReason = (typeof failedReasons)[number];
export type CancelledReason = (typeof cancelledReasons)[number];
export type MergedReason = (typeof mergedReasons)[number];

/** Every reason an entry's move can carry. */
export const reasons = [...queuedReasons, ...failedReasons, ...cancelledReasons, ...mergedReasons] as const;
export type Reason = (typeof reasons)[number];

// Why a pull request moved, in words.

import type { ResponseOf } from '#contract/endpoint.ts';

type Reason = NonNullable<ResponseOf<'getSubmittedPullRequest'>['conclusionReason']>;

export const reasonWords: Readonly<Record<Reason, string>> = {
  MERGE_ITEM_NOW_READY: 'it is ready',
  MANUAL_PUSH_TO_TARGET_BRANCH: 'somebody pushed to the branch',
  PREREQUISITE_MERGE_ITEM_CANCELLED: 'one ahead of it was cancelled',
  PREREQUISITE_MERGE_ITEM_FAILED: 'one ahead of it failed',
  PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED: 'one ahead of it was merged by hand',
  TESTS_RESTARTED_BY_USER: 'its tests were restarted by a person',
  TESTS_RESTARTED_BY_API_REQUEST: 'its tests were restarted by request',
  SKIP_THE_LINE_INTERRUPTED: 'an urgent one went ahead of it',
  BISECTION_REQUIRED: 'its batch failed, and who broke it is being found out',
  BISECTION_TEST_RUN_PASSED: 'it did not break its batch',
  TEST_RUN_REQUIRED_STATUS_FAILED: 'a required check failed',
  TEST_RUN_TIMEOUT: 'its tests took too long',
  START_TEST_RUN_MERGE_CONFLICT: 'it conflicts with the branch or with one ahead of it',
  START_TEST_RUN_NO_REQUIRED_STATUSES: 'no check is required anywhere',
  START_TEST_RUN_CONFIG_PARSING_FAILURE: 'the file .signalbox.yaml cannot be read',
  START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES: 'the required checks in .signalbox.yaml cannot be used',
  START_TEST_RUN_RETRY_EXHAUSTED: 'its test run could not be started',
  START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH: 'the host does not let test branches be pushed',
  MERGE_REFUSED_BY_HOST: 'the host refused to merge it',
  PR_UPDATED_AT_MERGE_TIME: 'it was pushed to as it was being merged',
  TEST_RUN_FAILED_BY_OPTIMIZATION: 'the same tree had failed before',
  USER_REQUESTED: 'somebody asked for it',
  PR_CLOSED: 'it was closed',
  PR_PUSHED_TO: 'it was pushed to',
  PR_BASE_BRANCH_CHANGED: 'its base branch was changed',
  PR_CONVERTED_TO_DRAFT: 'it was made a draft',
  NOT_READY_TIMEOUT_EXPIRED: 'it was not ready for too long',
  ADMIN_REQUESTED: 'an administrator asked for it',
  MERGE_GRAPH_MERGE: 'its tests passed',
  MERGE_GRAPH_DIRECT_MERGE: 'it was tested on the tip already',
  MANUAL_MERGE: 'it was merged by hand',
};

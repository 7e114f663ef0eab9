// Words and numbers that others rely on: clients compare them, configuration names them, the database keeps them.
import { describe, expect, it } from 'vitest';
import { entryStates, mergeabilities, queueStates, settableQueueStates } from '#core/queue/model.ts';
import { cancelledReasons, reasons } from '#core/queue/reason.ts';
import {
  defaultSettings,
  directMergeModes,
  landingModes,
  mergeMethods,
  optimizationModes,
  queueModes,
} from '#core/queue/settings.ts';
import { hashTarget } from '#core/queue/rule/target-hash.ts';

describe('the published words', () => {
  it('are these reasons, and the last seven before the merged ones end an attempt', () => {
    expect(reasons).toEqual([
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
      'USER_REQUESTED',
      'PR_CLOSED',
      'PR_PUSHED_TO',
      'PR_BASE_BRANCH_CHANGED',
      'PR_CONVERTED_TO_DRAFT',
      'NOT_READY_TIMEOUT_EXPIRED',
      'ADMIN_REQUESTED',
      'MERGE_GRAPH_MERGE',
      'MERGE_GRAPH_DIRECT_MERGE',
      'MANUAL_MERGE',
    ]);
    expect(cancelledReasons).toEqual(reasons.slice(-10, -3));
  });

  it('are these states', () => {
    expect(queueStates).toEqual(['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES']);
    expect(settableQueueStates).toEqual(['RUNNING', 'PAUSED', 'DRAINING']);
    expect(mergeabilities).toEqual(['unspecified', 'in_progress', 'mergeable', 'not_mergeable']);
    expect(entryStates).toEqual([
      'not_ready',
      'pending',
      'testing',
      'tests_passed',
      'merged',
      'failed',
      'cancelled',
      'pending_failure',
    ]);
  });

  it('are these choices of a setting', () => {
    expect(queueModes).toEqual(['single', 'parallel']);
    expect(mergeMethods).toEqual(['merge_commit', 'squash', 'rebase']);
    expect(landingModes).toEqual(['auto', 'fast_forward', 'host']);
    expect(directMergeModes).toEqual(['off', 'always']);
    expect(optimizationModes).toEqual(['off', 'bisection_skip_redundant_tests']);
  });
});

it('a queue that nobody configured has these settings', () => {
  expect(defaultSettings).toEqual({
    mode: 'single',
    concurrency: 5,
    strategy: 'adaptive',
    weight: 'time',
    bisectionConcurrency: 0,
    testingTimeoutMinutes: 300,
    pendingFailureDepth: 0,
    predictFailures: false,
    flakeReruns: 1,
    canOptimisticallyMerge: false,
    batch: false,
    batchingMaxWaitTimeMinutes: 5,
    batchingMinSize: 4,
    mergeMethod: 'squash',
    landingMode: 'auto',
    directMergeMode: 'off',
    optimizationMode: 'off',
    createPrsForTestingBranches: false,
    commentsEnabled: true,
    commandsEnabled: true,
    forceEnabled: true,
    statusCheckEnabled: true,
    enqueueingLabel: 'signalbox-submit',
    labelCommandsEnabled: true,
    stateLabelsEnabled: false,
    extensionEnabled: true,
    showAsMerged: false,
    forks: 'approved_head',
    protectedPaths: [
      '.signalbox.yaml',
      '.github/**',
      '.gitea/**',
      '.forgejo/**',
      '.gitlab-ci.yml',
      '.gitlab/**',
      '.circleci/**',
      '.buildkite/**',
      '.woodpecker/**',
      '.woodpecker.y*ml',
      '.drone.y*ml',
      '.travis.yml',
      'azure-pipelines.y*ml',
      'bitbucket-pipelines.yml',
      'Jenkinsfile',
      'CODEOWNERS',
      'docs/CODEOWNERS',
    ],
    requiredStatuses: null,
    skippableStatuses: [],
    notReadyTimeoutHours: 0,
  });
});

it.each([
  ['', 1_327_260_699_990_434],
  ['a', 101_994_976_724_547],
  ['b', 2_520_610_517_432_914],
  ['//lib:core', 2_828_957_676_873_507],
  ['标签', 4_135_911_012_774_953],
  ['//services/area-1/package-7:target_7', 1_611_912_126_501_853],
])('the target %j keeps the number it is stored by', (name, hash) => {
  expect(hashTarget(name)).toBe(hash);
});

// What can be set on a queue: one value per setting, with its default. Bounds are checked at the wire
// (contract/queue-settings.ts), which makes its schemas from this table. Settings are stored by name, so a new
// one needs no migration.

import {
  choice,
  initialValues,
  onOff,
  type SettingValues,
  text,
  texts,
  textsOrNull,
  whole,
} from '../setting.ts';

export const queueModes = ['single', 'parallel'] as const;
export const mergeMethods = ['merge_commit', 'squash', 'rebase'] as const;
export const landingModes = ['auto', 'fast_forward', 'host'] as const;
export const directMergeModes = ['off', 'always'] as const;
const strategyNames = ['adaptive', 'manual'] as const;
const weights = ['time', 'ci_minutes'] as const;
export const forkModes = ['refuse', 'approved_head', 'allow'] as const;
export const optimizationModes = ['off', 'bisection_skip_redundant_tests'] as const;

/** The files that decide what CI runs, which checks are required, and who must review. */
const protectedPaths: readonly string[] = [
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
];

/** The headings under which the dashboard shows the settings, in this order. */
export const queueSettingHeadings: readonly string[] = [
  'Testing',
  'Batches',
  'Failures',
  'Landing',
  'Submitting',
  'Trust',
  'Comments and checks',
  'Compatibility',
];

export const queueSettingTable = {
  mode: choice({
    choices: queueModes,
    initial: 'single',
    group: 'Testing',
    label: 'Mode',
    description:
      'single: one queue in order. parallel: pull requests without a common impacted target are tested independently.',
  }),
  concurrency: whole({
    min: 1,
    max: 1000,
    initial: 5,
    group: 'Testing',
    label: 'Concurrent test runs',
    description: 'Most test runs at once; each tests one pull request or one batch.',
  }),
  strategy: choice({
    choices: strategyNames,
    initial: 'adaptive',
    group: 'Testing',
    label: 'Strategy',
    choiceTexts: {
      adaptive: 'Signalbox decides which pull requests are tested together, by how often they fail.',
      manual: 'The settings of batches decide.',
    },
    description:
      'adaptive: Signalbox decides which pull requests are tested together, by how often they fail in this queue. In parallel mode it also tests a pull request as if one ahead of it had failed, where that probably saves time. manual: the settings of batches decide. Setting one of those selects manual.',
  }),
  weight: choice({
    choices: weights,
    initial: 'time',
    group: 'Testing',
    label: 'What matters more',
    choiceTexts: {
      time: 'Pull requests wait as little as possible.',
      ci_minutes: 'Pull requests wait longer where that saves CI minutes, even if slots are free.',
    },
    description:
      'With the strategy adaptive. time: pull requests wait as little as possible. ci_minutes: in single mode they wait some minutes for others that are tested in the same run, even if slots are free; in parallel mode fewer runs are started whose result may not be needed.',
  }),
  predictFailures: onOff({
    initial: false,
    group: 'Testing',
    label: 'Predict failures',
    description:
      'With the strategy adaptive. Each pull request counts with its own probability to fail instead of the share that fails in this queue: by how often earlier attempts of its author and of itself failed here, the age of its head and the number of its impacted targets when it is submitted. Until 100 pull requests have failed within the last 5,000, the share counts. It decides which pull requests are tested together, and never which one merges or is removed.',
  }),
  bisectionConcurrency: whole({
    min: 0,
    max: 1000,
    initial: 0,
    group: 'Failures',
    label: 'Concurrent bisection runs',
    description:
      'Most runs at once during a bisection, in addition to concurrency. 0: the same number as concurrency. With the strategy adaptive it has no effect: concurrency is the limit of all runs together.',
  }),
  testingTimeoutMinutes: whole({
    min: 0,
    max: 10_080,
    initial: 300,
    group: 'Testing',
    label: 'Timeout of a run (minutes)',
    description:
      'Longest duration of a run, in minutes; the history of the queue sets shorter limits. 0: no limit.',
  }),
  pendingFailureDepth: whole({
    min: 0,
    max: 1000,
    initial: 0,
    group: 'Failures',
    label: 'Runs to wait for after a failure',
    description:
      'How many pull requests behind a failed one must finish their tests before the failure is final.',
  }),
  flakeReruns: whole({
    min: 0,
    max: 5,
    initial: 1,
    group: 'Failures',
    label: 'Reruns for flaky tests',
    description:
      'How often a failed run is run again instead of counted, if its test reports show that every test which failed is known to be flaky. On GitHub only the failed jobs run again, on the same commit. 0: never.',
  }),
  canOptimisticallyMerge: onOff({
    initial: false,
    group: 'Failures',
    label: 'Optimistic merging',
    description: 'A passing run also counts for the pull requests ahead that it includes.',
  }),
  batch: onOff({
    initial: false,
    group: 'Batches',
    label: 'Batching',
    description: 'Test several pull requests in one run. With the strategy adaptive, Signalbox decides that.',
  }),
  batchingMaxWaitTimeMinutes: whole({
    min: 0,
    max: 10_080,
    initial: 5,
    group: 'Batches',
    label: 'Maximum wait for a batch (minutes)',
    description: 'How many minutes a batch waits to fill, with the strategy manual.',
  }),
  batchingMinSize: whole({
    min: 1,
    max: 1000,
    initial: 4,
    group: 'Batches',
    label: 'Batch size',
    description:
      'Largest size of a batch, with the strategy manual; a batch of this size starts without waiting.',
  }),
  mergeMethod: choice({
    choices: mergeMethods,
    initial: 'squash',
    group: 'Landing',
    label: 'Merge method',
    description: 'How a pull request is merged: as a merge commit, squashed, or rebased.',
  }),
  landingMode: choice({
    choices: landingModes,
    initial: 'auto',
    group: 'Landing',
    label: 'Landing mode',
    description:
      'fast_forward: push the tested commits. host: call the merge API of the Git host. auto: fast_forward if the Git host then shows the pull request as merged, otherwise host.',
  }),
  showAsMerged: onOff({
    initial: false,
    group: 'Landing',
    label: 'Show as merged on GitHub',
    description:
      'If the queue pushes and the Git host would show the pull request as closed (GitHub with squash or rebase), push the landed commit to its head branch first, so that it is shown as merged. Costs one more CI run per pull request; pull requests from forks are closed with a comment.',
  }),
  directMergeMode: choice({
    choices: directMergeModes,
    initial: 'off',
    group: 'Landing',
    label: 'Direct merges',
    description:
      'If the queue is empty, merge a pull request immediately if its own checks passed on the tip of the branch.',
  }),
  optimizationMode: choice({
    choices: optimizationModes,
    initial: 'off',
    group: 'Failures',
    label: 'Reuse of known results',
    description: 'Reuse the result of an earlier run of the same tree.',
  }),
  createPrsForTestingBranches: onOff({
    initial: false,
    group: 'Testing',
    label: 'Draft pull request per test branch',
    description: 'Open a draft pull request for each test branch, for CI that runs only on pull requests.',
  }),
  commentsEnabled: onOff({
    initial: true,
    group: 'Comments and checks',
    label: 'Status comment',
    description: 'Post a status comment on pull requests.',
  }),
  commandsEnabled: onOff({
    initial: true,
    group: 'Submitting',
    label: 'Commands in comments',
    description: 'Accept commands in comments.',
  }),
  forceEnabled: onOff({
    initial: true,
    group: 'Submitting',
    label: 'Submit with --force',
    description: 'Allow admins of the repository to submit with --force; the audit log records each use.',
  }),
  statusCheckEnabled: onOff({
    initial: true,
    group: 'Comments and checks',
    label: 'Status check',
    description: 'Show the status check of the queue on pull requests.',
  }),
  enqueueingLabel: text({
    lengthMax: 50,
    initial: 'signalbox-submit',
    group: 'Submitting',
    label: 'Label that submits',
    description: 'Adding this label submits a pull request, removing it cancels.',
  }),
  labelCommandsEnabled: onOff({
    initial: true,
    group: 'Submitting',
    label: 'Submit by label',
    description: 'Accept the label as a command.',
  }),
  stateLabelsEnabled: onOff({
    initial: false,
    group: 'Comments and checks',
    label: 'State label',
    description: 'Show the state of a pull request as a label.',
  }),
  extensionEnabled: onOff({
    initial: true,
    group: 'Compatibility',
    label: 'Extension',
    description: 'Stored and returned for existing configuration tools; no effect.',
  }),
  requiredStatuses: textsOrNull({
    lengthMax: 255,
    max: 100,
    initial: null,
    group: 'Testing',
    label: 'Required checks',
    description:
      'Required checks. Null: those of .signalbox.yaml on the target branch and of the branch protection, together; a pull request can only add to them. Empty: none.',
    nullText: 'the checks that .signalbox.yaml and branch protection require',
  }),
  skippableStatuses: texts({
    lengthMax: 255,
    max: 100,
    initial: [],
    group: 'Testing',
    label: 'Checks that CI may skip',
    description:
      'Required checks that count as passed if CI skips them. Any other skipped check has not passed.',
  }),
  forks: choice({
    choices: forkModes,
    initial: 'approved_head',
    group: 'Trust',
    label: 'Pull requests from forks',
    description:
      'Whether pull requests from forks are tested: never, after approval of exactly that head, or always.',
  }),
  protectedPaths: texts({
    lengthMax: 200,
    max: 100,
    arePaths: true,
    initial: protectedPaths,
    group: 'Trust',
    label: 'Protected paths',
    description:
      'Git pathspec globs. A pull request that changes a matching file is tested only after a person with write access has approved exactly that head. Empty: none.',
  }),
  notReadyTimeoutHours: whole({
    min: 0,
    max: 720,
    initial: 0,
    group: 'Submitting',
    label: 'Cancel if not ready after (hours)',
    description: 'Cancel a pull request that is not ready after this many hours. 0: never.',
  }),
};

export type QueueSettings = SettingValues<typeof queueSettingTable>;

export const defaultSettings: QueueSettings = initialValues(queueSettingTable);

/** What the strategy adaptive decides on its own. */
const batchSettings = [
  'batch',
  'batchingMinSize',
  'batchingMaxWaitTimeMinutes',
  'bisectionConcurrency',
] as const satisfies readonly (keyof QueueSettings)[];

/** Settings after a change: a change of how batches are formed selects the strategy manual, unless it names a strategy. */
export function changeSettings(settings: QueueSettings, change: Partial<QueueSettings>): QueueSettings {
  const formsBatches = batchSettings.some((name) => change[name] !== undefined);
  return { ...settings, ...(formsBatches && { strategy: 'manual' }), ...change };
}

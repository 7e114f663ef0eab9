// What can be set on a queue, with the defaults. Bounds are checked at the wire (contract/queue.ts).

export const queueModes = ['single', 'parallel'] as const;
export const mergeMethods = ['merge_commit', 'squash', 'rebase'] as const;
export const landingModes = ['auto', 'fast_forward', 'host'] as const;
export const directMergeModes = ['off', 'always'] as const;
export const forkModes = ['refuse', 'approved_head', 'allow'] as const;
export const optimizationModes = ['off', 'bisection_skip_redundant_tests'] as const;

export type QueueSettings = {
  /** One line, or lanes by impacted targets. */
  readonly mode: (typeof queueModes)[number];
  /** Test runs at once, a pull request or a batch each. 1..1000. */
  readonly concurrency: number;
  /** Runs at once while isolating a failure, a budget of its own. 0..1000; 0 is the same as `concurrency`. */
  readonly bisectionConcurrency: number;
  /** The longest a run may take, in minutes; the queue's own history sets shorter limits. 0..10080; 0 is no limit. */
  readonly testingTimeoutMinutes: number;
  /** Successors to wait for before a failure is final. 0..1000. */
  readonly pendingFailureDepth: number;
  /** A passing run also proves what it contains ahead of it. */
  readonly canOptimisticallyMerge: boolean;
  /** Test several pull requests in one run. */
  readonly batch: boolean;
  /** Minutes a batch may wait to fill. 0..10080. */
  readonly batchingMaxWaitTimeMinutes: number;
  /** A batch starts when it has this many, and never holds more. 1..1000. */
  readonly batchingMinSize: number;
  /** How a pull request becomes commits on the branch. */
  readonly mergeMethod: (typeof mergeMethods)[number];
  /** Push the tested commits themselves, use the host's merge call, or whichever lets the host show the merge. */
  readonly landingMode: (typeof landingModes)[number];
  /**
   * Push the landed commit to the head branch first, where a host shows a pull request as merged only by its own head. Costs
   * one more CI run on each pull request.
   */
  readonly showAsMerged: boolean;
  /** Merge at once what is already tested on the tip of an empty queue. */
  readonly directMergeMode: (typeof directMergeModes)[number];
  /** Reuse a result already known for the same tree. */
  readonly optimizationMode: (typeof optimizationModes)[number];
  /** Open a draft pull request per test branch, for CI that runs only for pull requests; otherwise push only. */
  readonly createPrsForTestingBranches: boolean;
  /** Write comments on pull requests. */
  readonly commentsEnabled: boolean;
  /** Obey slash commands in comments. */
  readonly commandsEnabled: boolean;
  /** Let those with admin rights submit with `--force`. */
  readonly forceEnabled: boolean;
  /** Show the queue's own check on pull requests. */
  readonly statusCheckEnabled: boolean;
  /** Adding this label submits, removing it cancels. 1..50 characters. */
  readonly enqueueingLabel: string;
  /** Obey the label. */
  readonly labelCommandsEnabled: boolean;
  /** Show the state as a label. */
  readonly stateLabelsEnabled: boolean;
  /** Stored and returned for existing configuration tools; no effect. */
  readonly extensionEnabled: boolean;
  /** Checks that must pass. Null: what the branch asks for, by its file and its protection. Empty: none. At most 100. */
  readonly requiredStatuses: readonly string[] | null;
  /** Required checks that pass when CI skips them. At most 100. */
  readonly skippableStatuses: readonly string[];
  /** What happens to pull requests from forks: never tested, tested once exactly that head is approved, or always. */
  readonly forks: (typeof forkModes)[number];
  /** Git globs of files that may change only with an approval of exactly that head. Empty: none. At most 100. */
  readonly protectedPaths: readonly string[];
  /** Hours until a pull request that was never ready is cancelled. 0..720; 0 is never. */
  readonly notReadyTimeoutHours: number;
};

/** What decides what CI runs, which checks are required, and who must review. */
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

export const defaultSettings: QueueSettings = {
  mode: 'single',
  concurrency: 5,
  bisectionConcurrency: 0,
  testingTimeoutMinutes: 300,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: false,
  batch: false,
  batchingMaxWaitTimeMinutes: 5,
  batchingMinSize: 4,
  mergeMethod: 'squash',
  landingMode: 'auto',
  showAsMerged: false,
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
  requiredStatuses: null,
  skippableStatuses: [],
  forks: 'approved_head',
  protectedPaths,
  notReadyTimeoutHours: 0,
};

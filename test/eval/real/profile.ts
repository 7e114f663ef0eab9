// Sizes and rates of the replays that are closer to reality. The rates are estimates, and precision follows them: compare
// rules on one set of rates, not figures of one rule across them.

export const profileNames = ['low', 'mid', 'high'] as const;
export type ProfileName = (typeof profileNames)[number];

export type Profile = {
  readonly name: ProfileName;
  readonly tests: number;
  readonly days: number;
  /** First runs of a commit on a working day; reruns come on top. */
  readonly runsDaily: number;
  /** Shards of the main job, and of the job of the second platform. */
  readonly shards: number;
  readonly platformShards: number;
  /** Pull requests that are open at a time. */
  readonly openPullRequests: number;
  readonly services: number;
  /** Tests of a service: log-uniform between the two. */
  readonly serviceTests: readonly [number, number];
  /** Days between two outages of one service: log-uniform between the two, drawn once for each service. */
  readonly outageEveryDays: readonly [number, number];
  /** Hours that an outage lasts: log-uniform. */
  readonly outageHours: readonly [number, number];
  readonly regressionsDaily: number;
  readonly regressionHours: readonly [number, number];
  readonly platformRegressionsDaily: number;
  readonly platformRegressionHours: readonly [number, number];
};

export const profiles: { readonly [name in ProfileName]: Profile } = {
  low: {
    name: 'low',
    tests: 300,
    days: 42,
    runsDaily: 5,
    shards: 1,
    platformShards: 1,
    openPullRequests: 4,
    services: 4,
    serviceTests: [2, 20],
    outageEveryDays: [6, 60],
    outageHours: [0.3, 6],
    regressionsDaily: 0.12,
    regressionHours: [6, 96],
    platformRegressionsDaily: 0.04,
    platformRegressionHours: [24, 240],
  },
  mid: {
    name: 'mid',
    tests: 4_000,
    days: 28,
    runsDaily: 120,
    shards: 4,
    platformShards: 2,
    openPullRequests: 40,
    services: 20,
    serviceTests: [2, 80],
    outageEveryDays: [3, 60],
    outageHours: [0.1, 4],
    regressionsDaily: 0.9,
    regressionHours: [0.5, 30],
    platformRegressionsDaily: 0.22,
    platformRegressionHours: [4, 96],
  },
  high: {
    name: 'high',
    tests: 20_000,
    days: 2,
    runsDaily: 2_000,
    shards: 8,
    platformShards: 4,
    openPullRequests: 400,
    services: 60,
    serviceTests: [2, 80],
    outageEveryDays: [0.4, 8],
    outageHours: [0.05, 1.5],
    regressionsDaily: 4,
    regressionHours: [0.3, 6],
    platformRegressionsDaily: 2,
    platformRegressionHours: [1, 20],
  },
};

/** What can be switched off with `--without`. */
export const phenomena = [
  'drift',
  'outages',
  'own-words',
  'mass',
  'regressions',
  'moving-base',
  'wip',
  'agents',
  'order',
  'platform',
  'load',
  'newborn',
  'renames',
  'volatile',
  'partial',
  'retries',
  'fixes',
  'herds',
  'queue',
] as const;
export type Phenomenon = (typeof phenomena)[number];

export const isPhenomenon = (text: string): text is Phenomenon =>
  (phenomena as readonly string[]).includes(text);

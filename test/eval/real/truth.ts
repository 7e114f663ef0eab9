// What is true in a replay, for the figures only: which tests are flaky and when, and the cause of every failure.

/** The causes of a failure. The first four are flakes of the test itself. */
const causes = [
  'flake',
  'load',
  'order',
  'platform-flake',
  'outage',
  'regression',
  'platform',
  'wip',
  'race',
  'approval',
] as const;
export type Cause = (typeof causes)[number];

export const isOwn = (cause: Cause): boolean => causes.indexOf(cause) < 4;

/** Of the code, and of the default branch if it fails there. */
export const isReal = (cause: Cause): boolean => cause === 'regression' || cause === 'platform';

export type FlakyKind = 'flaky' | 'platform' | 'newborn' | 'load' | 'order' | 'volatile';

/** From and to, in milliseconds. */
export type Interval = readonly [from: number, to: number];

export type FlakyTest = {
  readonly test: number;
  readonly kind: FlakyKind;
  readonly flaky: readonly Interval[];
};

export type Regression = {
  readonly tests: readonly number[];
  readonly from: number;
  readonly to: number;
  /** Only in the job of the second platform. */
  readonly isPlatform: boolean;
  /** The chance that a run of a test with it fails. */
  readonly chance: number;
};

export type Truth = {
  /** By the number of the test in the generator. */
  readonly flaky: ReadonlyMap<number, FlakyTest>;
  readonly regressions: readonly Regression[];
  /** The number of a test, by its name in a report. */
  readonly numberOf: (name: string) => number;
  readonly hasVariant: boolean;
  readonly from: number;
  readonly to: number;
};

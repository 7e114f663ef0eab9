// How a repository judges and quarantines its tests. What is stored are differences from the defaults here, so a better
// default reaches everybody who did not choose otherwise.

import { type BranchClass, branchClasses } from './branch.ts';

export const monitorIds = [
  'pass_on_retry',
  'failure_rate_flaky',
  'failure_count_flaky',
  'failure_rate_broken',
  'failure_count_broken',
  'changepoint',
] as const;

export type MonitorId = (typeof monitorIds)[number];

export type PassOnRetrySettings = {
  readonly isOn: boolean;
  /** Days that are looked at, 1 to 14. */
  readonly windowDays: number;
  /** Sources that must have seen the test pass and fail, 2 to 20. */
  readonly sourcesMin: number;
  /** How many tests of the suite may look as flaky as this one by chance, 0.0001 to 1: see chance.ts. */
  readonly chanceMax: number;
  /** Days without a new one after which it is over, 1 to 15. */
  readonly quietDays: number;
  readonly branches: readonly BranchClass[];
};

export type FailureRateSettings = {
  readonly isOn: boolean;
  /** The lower bound of the failure rate from which it fires, above 0 to 1. */
  readonly rateMin: number;
  /** The failure rate below which it is over, at most `rateMin`. */
  readonly resolveBelow: number;
  readonly windowDays: number;
  /** Fewer runs than this decide nothing, either way. */
  readonly runsMin: number;
  readonly branches: readonly BranchClass[];
};

export type FailureCountSettings = {
  readonly isOn: boolean;
  readonly failuresMin: number;
  readonly windowDays: number;
  /** Days without a failure after which it is over, at least `windowDays`. */
  readonly quietDays: number;
  readonly branches: readonly BranchClass[];
};

export type ChangepointSettings = {
  readonly isOn: boolean;
  /** How probable a change at any given run is before anything is known of it. */
  readonly prior: number;
  /** The newest segment is broken from this failure rate on. */
  readonly brokenRate: number;
};

export type HealthSettings = {
  /** Names or patterns of branches that everybody builds on, at most 10; null: the repository's own default branch. */
  readonly defaultBranches: readonly string[] | null;
  readonly monitors: {
    readonly pass_on_retry: PassOnRetrySettings;
    readonly failure_rate_flaky: FailureRateSettings;
    readonly failure_count_flaky: FailureCountSettings;
    readonly failure_rate_broken: FailureRateSettings;
    readonly failure_count_broken: FailureCountSettings;
    readonly changepoint: ChangepointSettings;
  };
  readonly quarantine: {
    /** Off: no test is quarantined, whatever is set for it. */
    readonly enabled: boolean;
    /** Flaky tests are quarantined by themselves, broken ones never. */
    readonly auto: boolean;
  };
};

/** What is stored: any part of it, at any depth of monitors. */
export type HealthSettingsChange = {
  readonly defaultBranches?: readonly string[] | null | undefined;
  readonly monitors?:
    { readonly [id in MonitorId]?: Partial<HealthSettings['monitors'][id]> | undefined } | undefined;
  readonly quarantine?: Partial<HealthSettings['quarantine']> | undefined;
};

export const defaultHealthSettings: HealthSettings = {
  defaultBranches: null,
  monitors: {
    pass_on_retry: {
      isOn: true,
      windowDays: 14,
      sourcesMin: 2,
      chanceMax: 0.05,
      quietDays: 7,
      branches: branchClasses,
    },
    failure_rate_flaky: {
      isOn: false,
      rateMin: 0.1,
      resolveBelow: 0.05,
      windowDays: 7,
      runsMin: 20,
      branches: ['default'],
    },
    failure_count_flaky: {
      isOn: false,
      failuresMin: 3,
      windowDays: 7,
      quietDays: 7,
      branches: ['default'],
    },
    failure_rate_broken: {
      isOn: true,
      rateMin: 0.8,
      resolveBelow: 0.4,
      windowDays: 1,
      runsMin: 5,
      branches: ['default'],
    },
    failure_count_broken: {
      isOn: false,
      failuresMin: 5,
      windowDays: 1,
      quietDays: 1,
      branches: ['default'],
    },
    changepoint: { isOn: true, prior: 1e-4, brokenRate: 0.6 },
  },
  quarantine: { enabled: false, auto: true },
};

/** The defaults with what a repository chose otherwise. */
export function completeSettings(change: HealthSettingsChange | null): HealthSettings {
  if (change === null) return defaultHealthSettings;
  const monitors: Record<string, unknown> = {};
  for (const id of monitorIds)
    monitors[id] = { ...defaultHealthSettings.monitors[id], ...change.monitors?.[id] };
  return {
    defaultBranches: change.defaultBranches ?? defaultHealthSettings.defaultBranches,
    monitors: monitors as HealthSettings['monitors'],
    quarantine: { ...defaultHealthSettings.quarantine, ...change.quarantine },
  };
}

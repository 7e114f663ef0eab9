// What a monitor is: it reads the history of a test and decides whether it is active, and why. monitors.ts has
// the table.

import { type Setting, choices, fraction, onOff, type SettingValues, whole } from '../../setting.ts';
import { type BranchClass, branchClasses } from '../branch.ts';
import type { TestCaseHistory } from '../history.ts';

export type MonitorVerdict = {
  /** The rest of a sentence. It stays true when it is read later: it names instants, not ages. */
  readonly evidence: string;
  /** Certain enough for what happens without a person. */
  readonly isCertain: boolean;
  /**
   * Sources of the default branch: the test passed at the first and failed at the second. Empty: not known.
   * Null: the monitor does not say.
   */
  readonly culprit: { readonly after: string; readonly upTo: string } | null;
  /** The same for its last pass and its first failure, where it passed up to the one and failed from the other on. */
  readonly edge?: { readonly after: string; readonly upTo: string };
};

/** What ends a monitor: so many runs in a row without a failure, or an instant without a new occurrence. */
export type ResolveConditions = {
  /** Runs that passed since the last one that failed. */
  readonly cleanRuns: number;
  /** So many show at 95 % that the test no longer fails as before; null: no number does. */
  readonly cleanRunsNeeded: number | null;
  /** Milliseconds: from then on, if nothing new is seen. */
  readonly quietAt: number;
};

type MonitorSettingTable = Readonly<Record<string, Setting>> & { readonly isOn: Setting<boolean> };

export type Monitor<Table extends MonitorSettingTable = MonitorSettingTable> = {
  /** The status of a test while the monitor is active. */
  readonly says: 'flaky' | 'broken';
  readonly title: string;
  /** The heading of its settings and a sentence below it. */
  readonly heading: string;
  readonly intro: string;
  readonly settings: Table;
  /**
   * Null: the monitor is not active. An active monitor stays active until it resolves, which takes more than
   * not firing: otherwise a status would flap.
   */
  readonly classify: (
    history: TestCaseHistory,
    settings: SettingValues<Table>,
    wasActive: boolean,
    now: number,
  ) => MonitorVerdict | null;
  /** What the monitor counts at present, in a sentence: also where it is inactive or off. */
  readonly describe: (history: TestCaseHistory, settings: SettingValues<Table>, now: number) => string;
  /** What still ends it, by the measure that decides it. Absent: it is not a number of runs. */
  readonly recovery?: (
    history: TestCaseHistory,
    settings: SettingValues<Table>,
    now: number,
  ) => ResolveConditions;
};

/** Checks the parts of a monitor against each other. */
export const monitor = <Table extends MonitorSettingTable>(value: Monitor<Table>): Monitor<Table> => value;

// Settings that several monitors have.

export const isOn = (initial: boolean): Setting<boolean> =>
  onOff({ initial, label: 'Enabled', description: 'Whether the monitor is on.' });

const daysMin = 0.04;

export const windowDays = (initial: number): Setting<number> =>
  fraction({
    min: daysMin,
    max: 14,
    initial,
    label: 'Time window (days)',
    description: 'How many days the monitor looks back.',
  });

export const quietDays = (initial: number): Setting<number> =>
  fraction({
    min: daysMin,
    max: 15,
    initial,
    label: 'Resolve after quiet days',
    description: 'The monitor resolves after this many days without a new occurrence.',
  });

/** How many runs or failures a monitor needs. */
export const countMin = (initial: number, label: string, description: string): Setting<number> =>
  whole({ min: 1, max: 100_000, initial, label, description });

export const branches = (initial: readonly BranchClass[]): Setting<readonly BranchClass[]> =>
  choices({
    choices: branchClasses,
    initial,
    label: 'Branches',
    description: 'Branches whose runs the monitor evaluates; empty: none.',
  });

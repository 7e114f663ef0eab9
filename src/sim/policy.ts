// The seam between the simulator and whatever decides. A policy gets a workload and the number of CI slots, plays it on
// its own virtual clock, and reports what it decided and what it ran; `judge` in result.ts does all the counting, so
// that every policy is measured by the same rule.

import type { Workload } from './workload.ts';

export type Outcome = 'merged' | 'failed' | 'cancelled';

export type Decision = { readonly number: number; readonly outcome: Outcome; readonly atMin: number };

export type PolicyRun = {
  /** Each change of the workload once, in the order in which they were decided: merges in the order they landed. */
  readonly decisions: readonly Decision[];
  readonly runsStarted: number;
  /** Started but stopped before their end. */
  readonly runsAborted: number;
  /** Time that CI worked, including on runs that were aborted. */
  readonly ciMinutes: number;
};

export type Policy = {
  readonly name: string;
  /** `graph` works by shared targets, `line` knows only one lane; decides which experiments it takes part in. */
  readonly family: 'graph' | 'line';
  readonly simulate: (workload: Workload, slots: number) => PolicyRun;
};

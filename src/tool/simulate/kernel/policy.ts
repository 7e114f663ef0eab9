// The interface between the simulator and a policy, which decides. A policy gets a workload and the number of
// CI slots, plays it on its own virtual clock, and reports its decisions and runs; `computeResult` in result.ts does
// all the counting, so that every policy is measured by the same rule.

import type { Workload } from './workload.ts';

export type SimulatedOutcome = 'merged' | 'failed' | 'cancelled';

export type SimulatedDecision = {
  readonly number: number;
  readonly outcome: SimulatedOutcome;
  readonly atMin: number;
};

export type PolicyRun = {
  /** Each change of the workload once, in the order in which they were decided: merges in the order they landed. */
  readonly decisions: readonly SimulatedDecision[];
  readonly runsStarted: number;
  /** Runs that were stopped before their end. */
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

// Runs policies over scenarios and seeds, and holds their figures to the goals.

import {
  computeResult,
  intervalOfSummaries,
  meanOfSummaries,
  type Summary,
  summarize,
} from '#tool/simulate/kernel/result.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';

export type Scenario = {
  readonly name: string;
  readonly slots: number;
  readonly policies: readonly Policy[];
  readonly oracleFor: (policy: Policy) => Policy;
  readonly createWorkload: (seed: number) => Workload;
};

/** The means of one policy over all seeds of a scenario, and by how much each may be off. */
export type Row = {
  readonly scenario: string;
  readonly policy: string;
  readonly summary: Summary;
  readonly interval: Summary;
};

export type Goal = {
  readonly scenario: string;
  readonly policy: string;
  readonly figure: keyof Summary;
  /** What the figure is called in the report. */
  readonly label: string;
  readonly bound: Bound;
};

export type Bound =
  | { readonly kind: 'about'; readonly value: number }
  | { readonly kind: 'at-most'; readonly value: number }
  | { readonly kind: 'at-least'; readonly value: number };

export type Verdict = {
  readonly name: string;
  readonly value: number;
  readonly goal: string;
  /** Null if the run was not the one the goal was set for. */
  readonly isMet: boolean | null;
};

/** A reference figure is reproduced if it is this close. */
const tolerance = 0.15;

/** The figures of each policy of a scenario, in its order, on the workload of one seed. */
export function playSeed(scenario: Scenario, seed: number): readonly Summary[] {
  const { slots, policies, oracleFor, createWorkload } = scenario;
  const workload = createWorkload(seed);
  const play = (policy: Policy) => computeResult(policy.name, workload, policy.simulate(workload, slots));
  const oracles = new Map([...new Set(policies.map(oracleFor))].map((oracle) => [oracle, play(oracle)]));
  return policies.map((policy) =>
    summarize(oracles.get(policy) ?? play(policy), oracles.get(oracleFor(policy))!),
  );
}

/** One row for each policy; `bySeed` has what `playSeed` returned for each seed. */
export function rowsOf({ name, policies }: Scenario, bySeed: readonly (readonly Summary[])[]): Row[] {
  return policies.map((policy, at) => {
    const summaries = bySeed.map((figures) => figures[at]!);
    const summary = meanOfSummaries(summaries);
    return { scenario: name, policy: policy.name, summary, interval: intervalOfSummaries(summaries) };
  });
}

/** Goals of policies that did not run are left out. */
export function verdictsOf(rows: readonly Row[], goals: readonly Goal[], isMeasured: boolean): Verdict[] {
  return goals.flatMap(({ scenario, policy, figure, label, bound }) => {
    const row = rows.find((candidate) => candidate.scenario === scenario && candidate.policy === policy);
    if (!row) return [];
    const value = row.summary[figure];
    const name = `${scenario} ${policy} ${label}`;
    return [{ name, value, goal: wordingOf(bound), isMet: isMeasured ? isWithin(value, bound) : null }];
  });
}

export function isWithin(value: number, bound: Bound): boolean {
  switch (bound.kind) {
    case 'about':
      return Math.abs(value - bound.value) <= tolerance * bound.value;
    case 'at-most':
      return value <= bound.value;
    case 'at-least':
      return value >= bound.value;
  }
}

function wordingOf({ kind, value }: Bound): string {
  return kind === 'about' ? `${value} ± ${tolerance * 100} %` : `${kind.replace('-', ' ')} ${value}`;
}

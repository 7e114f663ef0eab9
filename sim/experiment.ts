// Runs policies over scenarios and seeds, and holds their figures to the goals.

import { judge, meanOfSummaries, type Summary, summarize } from '#sim/result.ts';
import type { Policy } from '#sim/policy.ts';
import type { Workload } from '#sim/workload.ts';

export type Scenario = {
  readonly name: string;
  readonly slots: number;
  readonly policies: readonly Policy[];
  readonly oracleFor: (policy: Policy) => Policy;
  readonly createWorkload: (seed: number) => Workload;
};

/** The means of one policy over all seeds of a scenario. */
export type Row = { readonly scenario: string; readonly policy: string; readonly summary: Summary };

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

export type Progress = (scenario: string, policy: string, seed: number) => void;

export function runScenario(scenario: Scenario, seeds: readonly number[], progress: Progress): Row[] {
  const { name, slots, policies, oracleFor, createWorkload } = scenario;
  const summaries = new Map<string, Summary[]>(policies.map((policy) => [policy.name, []]));
  for (const seed of seeds) {
    const workload = createWorkload(seed);
    const play = (policy: Policy) => {
      progress(name, policy.name, seed);
      return judge(policy.name, workload, policy.simulate(workload, slots));
    };
    const oracles = new Map([...new Set(policies.map(oracleFor))].map((oracle) => [oracle, play(oracle)]));
    for (const policy of policies) {
      const oracle = oracles.get(oracleFor(policy))!;
      summaries.get(policy.name)!.push(summarize(oracles.get(policy) ?? play(policy), oracle));
    }
  }
  return policies.map((policy) => ({
    scenario: name,
    policy: policy.name,
    summary: meanOfSummaries(summaries.get(policy.name)!),
  }));
}

/** Goals of policies that did not run are left out. */
export function verdictsOf(rows: readonly Row[], goals: readonly Goal[], isJudged: boolean): Verdict[] {
  return goals.flatMap(({ scenario, policy, figure, label, bound }) => {
    const row = rows.find((candidate) => candidate.scenario === scenario && candidate.policy === policy);
    if (!row) return [];
    const value = row.summary[figure];
    const name = `${scenario} ${policy} ${label}`;
    return [{ name, value, goal: wordingOf(bound), isMet: isJudged ? isWithin(value, bound) : null }];
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

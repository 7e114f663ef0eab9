// Events and facts in words, so that a failing seed reads like a story.
import type { PlannerFact, Snapshot } from '#core/queue/planner/model.ts';
import type { Input } from './reading.ts';

const runIn = (snapshot: Snapshot, id: number): string => {
  const run = snapshot.runs.get(id);
  if (run === undefined) return `run ${id} (gone)`;
  const { base, members } = run.composition;
  return `run ${id} (${run.of.kind} ${base}+${members.join('+')})`;
};

export function tell(event: Input, snapshot: Snapshot): string {
  switch (event.kind) {
    case 'submitted':
      return `#${event.item.pr} is submitted, priority ${event.item.priority}`;
    case 'run-started':
    case 'run-passed':
    case 'run-failed':
    case 'run-failed-by-flakes':
    case 'run-not-started':
      return `${runIn(snapshot, event.run)}: ${event.kind}`;
    case 'conflict':
      return `${runIn(snapshot, event.run)}: #${event.pr} conflicts with ${event.with}`;
    case 'landed':
    case 'landing-lost':
      return `the landing of ${snapshot.landing?.members.join('+')}: ${event.kind}, the tip is ${event.tip}`;
    default: {
      const { kind, ...rest } = event;
      return `${kind} ${JSON.stringify(rest)}`;
    }
  }
}

export function tellFact(fact: PlannerFact): string {
  const { kind, ...rest } = fact;
  return 'pr' in fact
    ? `→ #${fact.pr} ${kind} ${JSON.stringify({ ...rest, pr: undefined })}`
    : `→ ${kind} ${JSON.stringify(rest)}`;
}

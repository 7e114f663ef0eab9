// Every interleaving of a small world. Without disturbances a world is finite: what CI says, in any order, in any mix of
// passes and failures, until everybody has ended. All of that is level 0. Level n+1 is everything that follows from one
// more disturbance in any state of level n: a cancellation, a push, an outage, a conflict, a landing that is lost …
// A state is looked at once, by the first level that reaches it, so levels 0..n together hold every path with at most n
// disturbances. States are told apart by 53 bits of a hash of their key (model-key.ts).
import { explain } from '#core/queue/planner/explain.ts';
import { violationsOf, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import type { Action, Snapshot } from '#core/queue/planner/model.ts';
import { type Event, observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { leaked, vanished, wronglyIntended, wronglyLanded } from './model-demands.ts';
import { disturbancesOf, movesOf } from './model-events.ts';
import { hashOf, keyOf } from './model-key.ts';
import { tell, tellFact } from './story.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';

export type Configuration = {
  readonly name: string;
  readonly settings: Partial<QueueSettings>;
  /** The targets of each entry; as many entries as there are. */
  readonly entries: readonly Targets[];
  /** How many disturbances a path may hold. */
  readonly disturbances: number;
};

/** A state of the world. The branch is named by what it holds, so a tip tells its content. */
export type Node = {
  readonly snapshot: Snapshot;
  readonly now: number;
  readonly wakeAt: number | null;
  readonly submitted: number;
  /** What each run really tested. */
  readonly tested: ReadonlyMap<number, string>;
  readonly parent: Node | null;
  /** What led here: an event, or the clock alone. */
  readonly event: Event | null;
};

export type Move = { readonly event: Event | null; readonly now: number };

export type Result = {
  readonly states: number;
  readonly transitions: number;
  /** The last level that was finished; -1 if none was. */
  readonly level: number;
};

export function explore(configuration: Configuration, budgetMs: number): Result {
  const deadline = performance.now() + budgetMs;
  const visited = new Set<number>();
  let transitions = 0;
  const root: Node = {
    snapshot: emptySnapshot(configuration.settings, 'T'),
    now: 0,
    wakeAt: null,
    submitted: 0,
    tested: new Map(),
    parent: null,
    event: null,
  };
  let level: Node[] = [];
  /** Adds the state unless it was seen. */
  const reach = (node: Node, move: Move, into: Node[]) => {
    transitions++;
    const next = follow(node, move);
    const hash = hashOf(`${next.submitted}${keyOf(next.snapshot, next.now)}`);
    if (visited.has(hash)) return;
    visited.add(hash);
    check(next);
    into.push(next);
  };
  for (let done = -1; ; done++) {
    const reached: Node[] = done === -1 ? [root] : [];
    for (const node of level) {
      for (const move of disturbancesOf(node)) reach(node, move, reached);
      if (performance.now() > deadline) return { states: visited.size, transitions, level: done };
    }
    // The closure: everything that follows without another disturbance.
    for (let at = 0; at < reached.length; at++) {
      for (const move of movesOf(reached[at]!, configuration.entries)) reach(reached[at]!, move, reached);
      if (performance.now() > deadline) return { states: visited.size, transitions, level: done };
    }
    if (done + 1 === configuration.disturbances)
      return { states: visited.size, transitions, level: done + 1 };
    level = reached;
  }
}

function follow(node: Node, { event, now }: Move): Node {
  const before = node.snapshot;
  const observed =
    event === null ? { snapshot: before, facts: [], actions: [] } : observe(before, event, now);
  const planned = plan(observed.snapshot, now);
  const facts = [...observed.facts, ...planned.facts];
  const actions = [...observed.actions, ...planned.actions];
  const next: Node = {
    snapshot: planned.snapshot,
    now,
    wakeAt: planned.wakeAt,
    submitted: node.submitted + (event?.kind === 'submitted' ? 1 : 0),
    tested: testedBy(node.tested, planned.snapshot, actions),
    parent: node,
    event,
  };
  demand(next, violationsOfStep(before, observed));
  demand(next, violationsOfStep(observed.snapshot, planned));
  demand(next, vanished(before, next.snapshot, facts));
  demand(next, leaked(before, next, actions));
  demand(next, wronglyIntended(next.snapshot, planned.actions));
  if (event?.kind === 'landed') demand(next, wronglyLanded(node));
  return next;
}

function testedBy(
  earlier: ReadonlyMap<number, string>,
  { runs }: Snapshot,
  actions: readonly Action[],
): ReadonlyMap<number, string> {
  if (actions.length === 0) return earlier;
  const tested = new Map<number, string>();
  for (const id of runs.keys()) if (earlier.has(id)) tested.set(id, earlier.get(id)!);
  for (const action of actions)
    if (action.kind === 'start-run') {
      const { base, members } = action.run.composition;
      tested.set(action.run.id, [base, ...members].join());
    }
  return tested;
}

/** What holds in every state. */
function check(node: Node): void {
  const { snapshot, now, tested } = node;
  demand(node, violationsOf(snapshot, now));
  for (const pr of snapshot.items.keys())
    if (explain(snapshot, pr, now).length === 0) demand(node, [`#${pr} has no explanation`]);
  const again = plan(snapshot, now);
  demand(
    node,
    again.facts.map((fact) => `a second look adds: ${tellFact(fact)}`),
  );
  demand(
    node,
    again.actions.map((action) => `a second look asks for: ${JSON.stringify(action)}`),
  );
  if (snapshot.frozenAt !== null) return;
  for (const { id, of, composition, drifted } of snapshot.runs.values()) {
    const about = [composition.base, ...composition.members].join();
    if (of.kind === 'line' && !drifted && tested.get(id) !== about)
      demand(node, [`run ${id} tested ${tested.get(id)}, and is held to be about ${about}`]);
  }
  const waits = [...snapshot.items.values()].some(({ place }) => place.kind !== 'not_ready');
  const moves = snapshot.state === 'PAUSED' || snapshot.landing !== null || node.wakeAt !== null;
  const active = [...snapshot.runs.values()].some(
    ({ status }) => status === 'starting' || status === 'running',
  );
  if (waits && !moves && !active) demand(node, ['it is stuck: nothing is under way and nothing will be']);
}

function demand(node: Node, violations: Iterable<string>): void {
  const wrong = [...violations];
  if (wrong.length === 0) return;
  const story: string[] = [];
  for (let at: Node | null = node; at?.parent; at = at.parent)
    story.unshift(at.event === null ? `look at ${at.now / 60_000} min` : tell(at.event, at.parent.snapshot));
  throw new Error(`${wrong.join('\n')}\n\n${story.join('\n')}`);
}

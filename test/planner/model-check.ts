// Every interleaving of a small world. Without disturbances a world is finite: what CI says, in any order, in any mix of
// passes and failures, until everybody has ended. All of that is level 0. Level n+1 is everything that follows from one
// more disturbance in any state of level n: a cancellation, a push, an outage, a conflict, a landing that is lost …
// A state is looked at once, by the first level that reaches it, so levels 0..n together hold every path with at most n
// disturbances. States are told apart by their key (model-key.ts), before the plan and after it: what has the same key
// before it has the same plan, and is not planned again.
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { Snapshot } from '#core/queue/planner/model.ts';
import { type Plan, plan } from '#core/queue/planner/plan.ts';
import { strategyFor } from '#core/queue/planner/strategies.ts';
import type { Strategy } from '#core/queue/planner/strategy.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import {
  crowded,
  indulged,
  leaked,
  findWrongContent,
  stuck,
  vanished,
  wronglyIntended,
  wronglyLanded,
} from './model-demands.ts';
import { disturbancesOf, type Move, type MoveName, moveNames, movesOf, nameOf } from './model-events.ts';
import { type History, noHistory, remember } from './model-history.ts';
import { Key, Seen } from './model-key.ts';
import { type Input, restored, take } from './reading.ts';
import { tell, tellFact } from './story.ts';
import type { NewItem } from './world.ts';

export type Configuration = {
  readonly name: string;
  readonly settings: Partial<QueueSettings>;
  /** Absent: the one that the settings choose. */
  readonly strategy?: Strategy;
  /** The strategy looks at no finding about an entry, so that states which differ in these alone are the same. */
  readonly ignoresFindings?: boolean;
  /** What is special about each entry; as many entries as there are. */
  readonly entries: readonly Partial<NewItem>[];
  /** Reports name the tests that failed: some of these, or CI says only that the run failed. Absent: CI never names any. */
  readonly tests?: readonly string[];
  /** The Git host can run only the failed jobs of a run again. Absent: it cannot. */
  readonly canRerun?: boolean;
  /** How many disturbances a path may hold. */
  readonly disturbances: number;
  /** It has millions of states even without disturbances: only `npm run model-check` explores it. */
  readonly isLarge?: true;
  /** Only these kinds of events disturb it, so that paths with many of them can be followed; absent: all do. */
  readonly only?: readonly Input['kind'][];
};

/** A state of the world. */
export type Node = {
  readonly snapshot: Snapshot;
  readonly now: number;
  readonly wakeAt: number | null;
  readonly submitted: number;
  readonly history: History;
  readonly path: Path | null;
};

/** How a state was reached: the last move, and how the one before was. */
type Path = { readonly move: Move; readonly before: Path | null };

export type Result = {
  readonly states: number;
  readonly transitions: number;
  /** The last level that was finished; -1 if none was. */
  readonly level: number;
  /** How often each kind of move was made. */
  readonly moves: ReadonlyMap<MoveName, number>;
};

/** Goes as far as it may until the time is over, in ms since the epoch. Throws with the story if a demand is not met. */
export function explore(configuration: Configuration, deadline: number): Result {
  return new Exploration(configuration).run(deadline);
}

class Exploration {
  readonly #configuration: Configuration;
  readonly #strategy: Strategy | undefined;
  readonly #planned = new Seen();
  readonly #reached = new Seen();
  readonly #key: Key;
  readonly #moves = new Map<MoveName, number>(moveNames.map((name) => [name, 0]));
  #transitions = 0;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#key = new Key(configuration.ignoresFindings);
    this.#strategy = configuration.strategy;
  }

  run(deadline: number): Result {
    const { disturbances } = this.#configuration;
    let before: Node[] = [];
    for (let level = 0; level <= disturbances; level++) {
      const found: Node[] = [];
      const beginnings = level === 0 ? [null] : before;
      for (const beginning of beginnings) {
        if (Date.now() > deadline) return this.#result(level - 1);
        const open =
          beginning === null
            ? [this.#root()]
            : this.#after(beginning, disturbancesOf(beginning, this.#configuration));
        // The closure: everything that follows without another disturbance.
        for (let at = 0; at < open.length; at++) {
          if (Date.now() > deadline) return this.#result(level - 1);
          for (const node of this.#after(open[at]!, movesOf(open[at]!, this.#configuration))) open.push(node);
        }
        // Nothing follows from the last level: what was looked at there is forgotten.
        if (level < disturbances) for (const node of open) found.push(node);
      }
      before = found;
    }
    return this.#result(disturbances);
  }

  #result(level: number): Result {
    return { states: this.#reached.size, transitions: this.#transitions, level, moves: this.#moves };
  }

  #root(): Node {
    const snapshot = emptySnapshot({ strategy: 'manual', ...this.#configuration.settings }, 'T');
    return { snapshot, now: 0, wakeAt: null, submitted: 0, history: noHistory, path: null };
  }

  /** The states that were never seen before. */
  #after(node: Node, moves: readonly Move[]): Node[] {
    const found: Node[] = [];
    for (const move of moves) {
      const name = nameOf(move, node.snapshot);
      this.#moves.set(name, this.#moves.get(name)! + 1);
      this.#transitions++;
      try {
        const next = this.#follow(node, move);
        if (next !== null) found.push(next);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`${message}\n\n${this.#story({ move, before: node.path })}`, { cause: error });
      }
    }
    return found;
  }

  /** What happened, the plan that follows, and what is demanded of both. Null if it leads nowhere new. */
  #follow(node: Node, move: Move): Node | null {
    const { event, now } = move;
    const before = node.snapshot;
    const submitted = node.submitted + (event?.kind === 'submitted' ? 1 : 0);
    let { history } = node;
    let observed = before;
    if (event !== null) {
      if (event.kind === 'landed') demand(wronglyLanded(before, history));
      const step = take(before, event, now, this.#strategy);
      observed = step.snapshot;
      demand(violationsOfStep(before, step, this.#strategy));
      demand(vanished(before, step));
      demand(leaked(before, step, event));
      history = remember(history, before, step);
      demand(findWrongContent(observed, history));
    }
    if (!this.#planned.add(this.#key.of(observed, now, submitted, history))) return null;
    const step = plan(observed, now, this.#strategy);
    const { snapshot } = step;
    demand(violationsOfStep(observed, step, this.#strategy));
    demand(vanished(observed, step));
    demand(leaked(observed, step, null));
    demand(crowded(observed, step, this.#strategy ?? strategyFor(snapshot.settings)));
    demand(wronglyIntended(step));
    history = remember(history, observed, step);
    const key = this.#key.of(snapshot, now, submitted, history);
    if (!this.#reached.add(key)) return null;
    // What changes nothing leads back here: the second look is its plan.
    this.#planned.add(key);
    const kept = restored(snapshot);
    const again = plan(kept, now, this.#strategy);
    demand(second(step, again));
    demand(findViolations(snapshot));
    demand(findWrongContent(snapshot, history));
    if (snapshot.frozenAt === null) {
      demand(stuck(snapshot, again.wakeAt));
      demand(indulged(snapshot, now, again.wakeAt));
    }
    const path = { move, before: node.path };
    return { snapshot: kept, now, wakeAt: again.wakeAt, submitted, history, path };
  }

  /** Every move in words, by going the way once more. */
  #story(path: Path): string {
    const moves: Move[] = [];
    for (let at: Path | null = path; at !== null; at = at.before) moves.unshift(at.move);
    let { snapshot } = this.#root();
    return moves
      .map(({ event, now }, index) => {
        const line = event === null ? `look at ${minutes(now)}` : tell(event, snapshot);
        if (index + 1 < moves.length)
          snapshot = plan(
            event === null ? snapshot : take(snapshot, event, now).snapshot,
            now,
            this.#strategy,
          ).snapshot;
        return line;
      })
      .join('\n');
  }
}

const minutes = (at: number | null): string => (at === null ? 'no time' : `${at / 60_000} min`);

/** A second look at the same time finds nothing left to do. */
function second(first: Plan, { facts, actions, wakeAt }: Plan): string[] {
  const wrong = [
    ...facts.map((fact) => `a second look adds: ${tellFact(fact)}`),
    ...actions.map((action) => `a second look asks for: ${JSON.stringify(action)}`),
  ];
  // Whoever sleeps until the first one said must not miss what the second one would have been awake for.
  if (wakeAt !== null && (first.wakeAt === null || first.wakeAt > wakeAt))
    wrong.push(`a second look would wake up at ${minutes(wakeAt)}, the first at ${minutes(first.wakeAt)}`);
  return wrong;
}

function demand(violations: readonly string[]): void {
  if (violations.length > 0) throw new Error(violations.join('\n'));
}

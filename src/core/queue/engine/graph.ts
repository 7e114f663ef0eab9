// The queue as a graph: who is tested together, on top of what, and whom each waits for because of which targets. Made
// by the planner's own walk over the line, so that what is shown is what is decided.
//
// Groups stand in line order: batches that are searched, then the line, then whoever is pending, each by itself, as if
// it were started behind everybody ahead. What is searched stands beside the line: nobody waits for it.

import { assumed } from '../planner/line.ts';
import { LaneWalk, type Targets } from '../planner/lane.ts';
import type { Place, Run } from '../planner/model.ts';
import type { QueueSettings } from '../settings.ts';

type GraphEntry = { readonly pr: number; readonly place: Place; readonly targets: Targets };

export type GraphInput = {
  readonly mode: QueueSettings['mode'];
  /** In line order. */
  readonly entries: readonly GraphEntry[];
  readonly runs: readonly Run[];
  /** What orders targets where only the first few are told. */
  readonly rankOf: (target: number) => number;
};

/** Why one waits for another: its place in a single line, one of them impacts everything, or targets they share. */
export type Dependency = {
  /** The first pull request of the group ahead. */
  readonly on: number;
  readonly why: 'order' | 'everything' | 'targets';
  readonly sharedCount: number;
  /** At most `sharedShown`, by rank. */
  readonly shared: readonly number[];
};

export type GraphGroup = {
  readonly kind: 'line' | 'search' | 'pending';
  readonly members: readonly number[];
  /** The run that tests it in the line. */
  readonly run: Run | null;
  /** What that run has below the group and above the branch, in line order. */
  readonly testedOn: readonly number[];
  /** It conflicts with this one, and is tested once that has landed or left. */
  readonly conflictsWith: number | null;
  readonly dependencyCount: number;
  /** Direct ones, the nearest first, at most `dependenciesShown`. */
  readonly dependsOn: readonly Dependency[];
};

/** The nearest are enough to see whom one waits for: they depend on the others. */
const dependenciesShown = 8;
const sharedShown = 3;

type Gathered = Pick<GraphGroup, 'kind' | 'members'> & {
  readonly id: number;
  readonly place: Place;
  readonly members: number[];
  readonly targets: Targets[];
  /** Everything that its members impact. Made when it is first asked for. */
  all?: Targets;
};

export function graphOf({ mode, entries, runs, rankOf }: GraphInput): readonly GraphGroup[] {
  const groups = gather(entries);
  const runOf = new Map(
    runs.flatMap((run) => (run.of.kind === 'line' ? [[run.of.group, run] as const] : [])),
  );
  const walk = new LaneWalk(mode);
  return groups.map((group, index) => {
    const { kind, members, place } = group;
    const ahead = kind === 'search' ? [] : walk.dependencies(group.targets).toSorted((a, b) => b - a);
    if (kind !== 'search') walk.add(index, group.targets);
    const run = (kind === 'line' ? runOf.get(group.id) : undefined) ?? null;
    return {
      kind,
      members,
      run,
      testedOn: run === null ? [] : assumed(run),
      conflictsWith: place.kind === 'pending' ? place.behind : null,
      dependencyCount: ahead.length,
      dependsOn: ahead
        .slice(0, dependenciesShown)
        .map((each) => dependency(mode, group, groups[each]!, rankOf)),
    };
  });
}

function gather(entries: readonly GraphEntry[]): readonly Gathered[] {
  const groups = new Map<string, Gathered>();
  for (const { pr, place, targets } of entries) {
    const id = place.kind === 'line' ? place.group : place.kind === 'search' ? place.search : pr;
    const kind = place.kind === 'not_ready' ? 'pending' : place.kind;
    const key = `${kind} ${id}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { id, kind, place, members: [pr], targets: [targets] });
    else {
      known.members.push(pr);
      known.targets.push(targets);
    }
  }
  return [...groups.values()];
}

function dependency(
  mode: QueueSettings['mode'],
  group: Gathered,
  ahead: Gathered,
  rankOf: GraphInput['rankOf'],
): Dependency {
  const on = ahead.members[0]!;
  if (mode === 'single') return { on, why: 'order', sharedCount: 0, shared: [] };
  const shared = sharedBy(unionOf(group), unionOf(ahead));
  if (shared === 'ALL') return { on, why: 'everything', sharedCount: 0, shared: [] };
  return { on, why: 'targets', sharedCount: shared.length, shared: firstOf(shared, rankOf) };
}

/** The few that rank lowest, in one pass: two pull requests may share thousands. */
function firstOf(targets: readonly number[], rankOf: GraphInput['rankOf']): readonly number[] {
  const first: number[] = [];
  for (const target of targets) {
    if (first.length === sharedShown && rankOf(target) >= rankOf(first.at(-1)!)) continue;
    first.push(target);
    first.sort((a, b) => rankOf(a) - rankOf(b));
    first.length = Math.min(first.length, sharedShown);
  }
  return first;
}

function unionOf(group: Gathered): Targets {
  group.all ??= union(group.targets);
  return group.all;
}

function union(sets: readonly Targets[]): Targets {
  if (sets.length === 1) return sets[0]!;
  const all = new Set<number>();
  for (const set of sets) {
    if (set === 'ALL') return 'ALL';
    for (const target of set) all.add(target);
  }
  return Uint32Array.from(all).sort();
}

/** What two sorted lists have in common. */
function sharedBy(a: Targets, b: Targets): 'ALL' | readonly number[] {
  if (a === 'ALL' || b === 'ALL') return 'ALL';
  const shared: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const difference = a[i]! - b[j]!;
    if (difference === 0) shared.push(a[i]!);
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  return shared;
}

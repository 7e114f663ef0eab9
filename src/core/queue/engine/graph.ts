// The queue as a graph: which entries are tested together, on top of what, and which entries each waits for
// because of which targets. Built by the planner's own walk over the queue, so that the graph shows what the
// planner decides.
//
// Groups are in queue order: batches under bisection and screens, then the line, then each pending entry alone, as if it
// were started behind every entry ahead. Batches under bisection and screens are outside the line: no other entry waits
// for them.

import { assumed } from '../planner/line.ts';
import { LaneWalk, type Targets } from '../planner/lane.ts';
import { isScreen, type QueuePosition, type Run, type Search } from '../planner/model.ts';
import type { QueueSettings } from '../settings.ts';

type GraphEntry = { readonly pr: number; readonly place: QueuePosition; readonly targets: Targets };

export type GraphInput = {
  readonly mode: QueueSettings['mode'];
  /** In queue order. */
  readonly entries: readonly GraphEntry[];
  readonly searches: readonly Search[];
  readonly runs: readonly Run[];
  /** Orders targets where only the first few are shown. */
  readonly rankOf: (target: number) => number;
};

/** Why an entry waits for another: order in single mode, one impacts everything, or they share targets. */
export type Dependency = {
  /** The first pull request of the group ahead. */
  readonly on: number;
  readonly why: 'order' | 'everything' | 'targets';
  readonly sharedCount: number;
  /** At most `sharedShown`, by rank. */
  readonly shared: readonly number[];
};

export type GraphGroup = {
  readonly kind: 'line' | 'search' | 'screen' | 'pending';
  readonly members: readonly number[];
  /** The run that tests it in the line, or as a screen. */
  readonly run: Run | null;
  /** What that run has below the group and above the branch, in queue order. */
  readonly testedOn: readonly number[];
  /** It conflicts with this pull request, and is tested once that has landed or left. */
  readonly conflictsWith: number | null;
  readonly dependencyCount: number;
  /** Direct ones, the nearest first, at most `dependenciesShown`. */
  readonly dependsOn: readonly Dependency[];
};

/** The nearest are enough to see what a group waits for: they depend on the others. */
const dependenciesShown = 8;
const sharedShown = 3;

type GatheredGroup = Pick<GraphGroup, 'kind' | 'members'> & {
  readonly id: number;
  readonly place: QueuePosition;
  readonly members: number[];
  readonly targets: Targets[];
  /** All targets that its members impact. Computed on first use. */
  all?: Targets;
};

export function buildGraph({ mode, entries, searches, runs, rankOf }: GraphInput): readonly GraphGroup[] {
  const screens = new Set(searches.filter(isScreen).map(({ id }) => id));
  const groups = gather(entries, screens);
  const runOf = new Map(
    runs.map((run) => [run.of.kind === 'line' ? run.of.group : run.of.search, run] as const),
  );
  const walk = new LaneWalk(mode);
  return groups.map((group, index) => {
    const { kind, members, place } = group;
    const isBeside = kind === 'search' || kind === 'screen';
    const ahead = isBeside ? [] : walk.dependencies(group.targets).toSorted((a, b) => b - a);
    if (!isBeside) walk.add(index, group.targets);
    const run = (kind === 'line' || kind === 'screen' ? runOf.get(group.id) : undefined) ?? null;
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

const shownKinds = {
  not_ready: 'pending',
  pending: 'pending',
  line: 'line',
  search: 'search',
} as const satisfies Record<QueuePosition['kind'], GraphGroup['kind']>;

function gather(entries: readonly GraphEntry[], screens: ReadonlySet<number>): readonly GatheredGroup[] {
  const groups = new Map<string, GatheredGroup>();
  for (const { pr, place, targets } of entries) {
    const id = place.kind === 'line' ? place.group : place.kind === 'search' ? place.search : pr;
    const kind = place.kind === 'search' && screens.has(id) ? 'screen' : shownKinds[place.kind];
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
  group: GatheredGroup,
  ahead: GatheredGroup,
  rankOf: GraphInput['rankOf'],
): Dependency {
  const on = ahead.members[0]!;
  if (mode === 'single') return { on, why: 'order', sharedCount: 0, shared: [] };
  const shared = sharedBy(collectTargets(group), collectTargets(ahead));
  if (shared === 'ALL') return { on, why: 'everything', sharedCount: 0, shared: [] };
  return { on, why: 'targets', sharedCount: shared.length, shared: pickLowestRanked(shared, rankOf) };
}

/** The few targets with the lowest rank, in one pass: two pull requests may share thousands. */
function pickLowestRanked(targets: readonly number[], rankOf: GraphInput['rankOf']): readonly number[] {
  const first: number[] = [];
  for (const target of targets) {
    if (first.length === sharedShown && rankOf(target) >= rankOf(first.at(-1)!)) continue;
    first.push(target);
    first.sort((a, b) => rankOf(a) - rankOf(b));
    first.length = Math.min(first.length, sharedShown);
  }
  return first;
}

function collectTargets(group: GatheredGroup): Targets {
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

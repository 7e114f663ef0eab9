// What the planner does not keep, and the demands want to know: what each run really tested, and with which targets
// entries landed. The branch is named by what it holds, as in "T,1,x,2", so a tip tells its content.
import type { Targets } from '#core/queue/planner/lane.ts';
import type { Action, Composition, Landing, Run, Snapshot } from '#core/queue/planner/model.ts';

export type History = {
  /** What each run really tested. */
  readonly tested: ReadonlyMap<number, Composition>;
  /** The targets of those that have left, as they were when they did. */
  readonly left: ReadonlyMap<number, Targets>;
  /** The landing that is under way, and the targets of its members when it was intended: later is too late. */
  readonly intended: { readonly landing: Landing; readonly targets: readonly Targets[] } | null;
};

export const noHistory: History = { tested: new Map(), left: new Map(), intended: null };

/** The history after one more step. */
export function remember(
  history: History,
  before: Snapshot,
  { snapshot, actions }: { readonly snapshot: Snapshot; readonly actions: readonly Action[] },
): History {
  const tested = testedBy(history.tested, snapshot, actions);
  const left = leftBy(history.left, before, snapshot);
  const intended = intendedBy(history.intended, snapshot);
  if (tested === history.tested && left === history.left && intended === history.intended) return history;
  return { tested, left, intended };
}

function testedBy(
  earlier: History['tested'],
  { runs }: Snapshot,
  actions: readonly Action[],
): History['tested'] {
  if (!actions.some(({ kind }) => kind === 'start-run')) return earlier;
  const tested = new Map<number, Composition>();
  for (const id of runs.keys()) if (earlier.has(id)) tested.set(id, earlier.get(id)!);
  for (const action of actions)
    if (action.kind === 'start-run') tested.set(action.run.id, action.run.composition);
  return tested;
}

function leftBy(earlier: History['left'], before: Snapshot, { items }: Snapshot): History['left'] {
  let left: Map<number, Targets> | null = null;
  for (const { pr, targets } of before.items.values())
    if (!items.has(pr)) (left ??= new Map(earlier)).set(pr, targets);
  return left ?? earlier;
}

function intendedBy(earlier: History['intended'], { landing, items }: Snapshot): History['intended'] {
  if (landing === (earlier?.landing ?? null)) return earlier;
  return landing && { landing, targets: landing.members.map((pr) => items.get(pr)!.targets) };
}

export const contentOf = ({ base, members }: Composition): string =>
  members.length === 0 ? base : `${base},${members.join()}`;

/** What would land by this run and was not in what it tested, and the other way round; −1 is somebody's push. */
export function driftOf(
  { tip }: Snapshot,
  { id, composition }: Run,
  { tested }: History,
): { readonly untested: readonly number[]; readonly absent: readonly number[] } {
  const content = partsOf(contentOf({ ...composition, base: tip }));
  const seen = partsOf(contentOf(tested.get(id)!));
  return {
    untested: content.filter((part) => !seen.includes(part)),
    absent: seen.filter((part) => !content.includes(part)),
  };
}

const partsOf = (content: string): number[] =>
  content
    .split(',')
    .slice(1)
    .map((part) => (part === 'x' ? -1 : Number(part)));

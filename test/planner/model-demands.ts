// What is demanded of every step of a small world, beyond the invariants of the planner itself.
import { share, type Targets } from '#core/queue/planner/lane.ts';
import { type Action, type Fact, isActive, type Landing, type Snapshot } from '#core/queue/planner/model.ts';
import type { Node } from './model-check.ts';
import { tellFact } from './story.ts';

const inOrder = (prs: readonly number[]) => prs.toSorted((a, b) => a - b);

/** Who leaves does so by exactly one ending, and who ends leaves. */
export function* vanished(before: Snapshot, after: Snapshot, facts: readonly Fact[]): Generator<string> {
  const ended = facts.flatMap((fact) =>
    fact.kind === 'merged' || fact.kind === 'failed' || fact.kind === 'cancelled' ? [fact.pr] : [],
  );
  const left = [...before.items.keys()].filter((pr) => !after.items.has(pr));
  if (inOrder(ended).join() !== inOrder(left).join())
    yield `${left.join()} left, and ${facts.map(tellFact).join()}`;
}

/** A run that is under way is answered or cancelled, never forgotten. */
export function* leaked(before: Snapshot, next: Node, actions: readonly Action[]): Generator<string> {
  const answered = next.event !== null && 'run' in next.event ? next.event.run : null;
  for (const run of before.runs.values()) {
    const after = next.snapshot.runs.get(run.id);
    if (!isActive(run) || run.id === answered || (after !== undefined && isActive(after))) continue;
    if (!actions.some((action) => action.kind === 'cancel-run' && action.run === run.id))
      yield `run ${run.id} is forgotten and goes on`;
  }
}

/** What is to land has each part proved by itself, unless merging is optimistic; directly, nothing stands ahead. */
export function* wronglyIntended(snapshot: Snapshot, actions: readonly Action[]): Generator<string> {
  const { line, runs, items, settings } = snapshot;
  for (const action of actions) {
    if (action.kind !== 'land') continue;
    const { members, proof } = action.landing;
    const ahead = line.filter((group) => !group.members.some((pr) => members.includes(pr)));
    const own = members.map((pr) => items.get(pr)!.targets);
    const shares = (pr: number) => own.some((targets) => share(targets, items.get(pr)!.targets));
    if (proof.kind === 'direct') {
      if (settings.mode === 'single' ? ahead.length > 0 : ahead.some((group) => group.members.some(shares)))
        yield `${members.join()} lands directly, and others stand ahead`;
    } else if (!settings.canOptimisticallyMerge)
      for (const group of line)
        if (group.members.some((pr) => members.includes(pr)) && !hasPassed(group.id))
          yield `${members.join()} lands, and ${group.members.join()} did not pass by itself`;
  }
  function hasPassed(id: number): boolean {
    return [...runs.values()].some(
      ({ of, status }) => of.kind === 'line' && of.group === id && status === 'passed',
    );
  }
}

/** What lands passed, exactly as it lands, or as a lane with nothing of its targets in between. */
export function* wronglyLanded(node: Node): Generator<string> {
  const { snapshot, tested } = node;
  const { members, proof } = snapshot.landing as Landing;
  if (proof.kind === 'direct') return;
  const content = [snapshot.tip, ...members].join().split(',');
  const seen = tested.get(proof.run)!.split(',');
  if (snapshot.runs.get(proof.run)?.status !== 'passed') yield `${content.join()} lands and did not pass`;
  if (proof.kind === 'exact' && seen.join() !== content.join())
    yield `${content.join()} lands, and ${seen.join()} was tested`;
  const extra = seen.filter((pr) => !content.includes(pr));
  if (extra.length > 0) yield `${content.join()} lands, and was tested with ${extra.join()}`;
  for (const pr of content.filter((other) => !seen.includes(other))) {
    const landed = targetsOf(node, Number(pr));
    const own = members.map((member) => begun(node).snapshot.items.get(member)!.targets);
    if (landed === null || own.some((targets) => share(targets, landed)))
      yield `${content.join()} lands as a lane, and shares a target with ${pr}, with which it was not tested`;
  }
}

/** Where the landing was intended: what becomes known while it is under way is too late. */
function begun(node: Node): Node {
  let at = node;
  while (at.parent !== null && at.parent.snapshot.landing === node.snapshot.landing) at = at.parent;
  return at;
}

/** The targets of one that has left, as they were when it did. */
function targetsOf(node: Node, pr: number): Targets | null {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    const item = at.snapshot.items.get(pr);
    if (item !== undefined) return item.targets;
  }
  return null;
}

// What is demanded of every step of a small world, beyond the invariants of the planner itself. Each demand answers with
// sentences about what is wrong.
import { isUrgent } from '#core/queue/priority.ts';
import { share } from '#core/queue/planner/lane.ts';
import { type Action, type PlannerFact, isActive, type Snapshot } from '#core/queue/planner/model.ts';
import type { Strategy } from '#core/queue/planner/strategy.ts';
import type { Input } from './reading.ts';
import { contentOf, driftOf, type History } from './model-history.ts';
import { tellFact } from './story.ts';

type Step = {
  readonly snapshot: Snapshot;
  readonly facts: readonly PlannerFact[];
  readonly actions: readonly Action[];
};

const isEnding = ({ kind }: PlannerFact) => kind === 'merged' || kind === 'failed' || kind === 'cancelled';

const byNumber = (a: number, b: number) => a - b;

/** Who leaves does so by exactly one ending, and who ends leaves. */
export function vanished(before: Snapshot, { snapshot, facts }: Step): string[] {
  const left = [...before.items.keys()].filter((pr) => !snapshot.items.has(pr));
  const ended = facts.flatMap((fact) => (isEnding(fact) && 'pr' in fact ? [fact.pr] : []));
  if (left.length === 0 && ended.length === 0) return [];
  if (left.toSorted(byNumber).join() === ended.toSorted(byNumber).join()) return [];
  return [`${left.join()} left, and ${facts.map(tellFact).join()}`];
}

/** A run that is under way is answered or cancelled, never forgotten. */
export function leaked(before: Snapshot, { snapshot, actions }: Step, event: Input | null): string[] {
  const answered = event !== null && 'run' in event ? event.run : null;
  const wrong: string[] = [];
  for (const run of before.runs.values()) {
    if (!isActive(run) || run.id === answered) continue;
    const after = snapshot.runs.get(run.id);
    if (after !== undefined && isActive(after)) continue;
    if (!actions.some((action) => action.kind === 'cancel-run' && action.run === run.id))
      wrong.push(`run ${run.id} is forgotten and goes on`);
  }
  return wrong;
}

/** A new batch is no larger than it may be, and an entry that is to be alone has no other beside it. A strategy that screens chooses the size. */
export function crowded(before: Snapshot, { snapshot, actions }: Step, { screens }: Strategy): string[] {
  const { items, settings } = snapshot;
  const wrong: string[] = [];
  for (const action of actions) {
    if (action.kind !== 'start-run') continue;
    const { of, composition } = action.run;
    if (of.kind === 'search' && before.searches.some(({ id }) => id === of.search)) continue;
    if (of.kind === 'line' && before.line.some(({ id }) => id === of.group)) continue;
    // A group that was tested in the line continues as a bisection.
    if (of.kind === 'search' && composition.members.some((pr) => before.items.get(pr)?.place.kind === 'line'))
      continue;
    if (composition.tested === 1) continue;
    const members = composition.members.slice(-composition.tested);
    if (!screens && members.length > (settings.batch ? settings.batchingMinSize : 1))
      wrong.push(`${members.join()} are tested together, and that is too many`);
    for (const item of members.map((pr) => items.get(pr)!))
      if (item.noBatch || isUrgent(item.priority))
        wrong.push(`${members.join()} are tested together, and #${item.pr} is to be alone`);
  }
  return wrong;
}

/** What is to land has each part proved by itself, unless merging is optimistic; directly, nothing stands ahead. */
export function wronglyIntended({ snapshot, actions }: Step): string[] {
  const { line, items, settings } = snapshot;
  const wrong: string[] = [];
  for (const action of actions) {
    if (action.kind !== 'land') continue;
    const { members, proof } = action.landing;
    const lands = (pr: number) => members.includes(pr);
    if (proof.kind === 'direct') {
      const ahead = line.filter((group) => !group.members.some(lands));
      const own = members.map((pr) => items.get(pr)!.targets);
      const shares = (pr: number) => own.some((targets) => share(targets, items.get(pr)!.targets));
      if (settings.mode === 'single' ? ahead.length > 0 : ahead.some((group) => group.members.some(shares)))
        wrong.push(`${members.join()} lands directly, and others stand ahead`);
    } else if (!settings.canOptimisticallyMerge)
      for (const group of line)
        if (group.members.some(lands) && !hasPassed(snapshot, group.id))
          wrong.push(`${members.join()} lands, and ${group.members.join()} did not pass by itself`);
  }
  return wrong;
}

const hasPassed = ({ runs }: Snapshot, id: number): boolean =>
  [...runs.values()].some(({ of, status }) => of.kind === 'line' && of.group === id && status === 'passed');

/** What lands passed, exactly as it lands, or as a lane with nothing of its targets in between. */
export function wronglyLanded(snapshot: Snapshot, history: History): string[] {
  const { landing, runs, tip } = snapshot;
  if (landing === null || landing.proof.kind === 'direct') return [];
  const { members, proof } = landing;
  const content = contentOf({ base: tip, members, tested: 0 });
  const run = runs.get(proof.run);
  if (run?.status !== 'passed') return [`${content} lands and did not pass`];
  const seen = contentOf(history.tested.get(run.id)!);
  if (proof.kind === 'exact') return seen === content ? [] : [`${content} lands, and ${seen} was tested`];
  const { untested, absent } = driftOf(
    snapshot,
    { ...run, composition: { ...run.composition, members } },
    history,
  );
  const wrong = absent.map((pr) => `${content} lands, and was tested with ${pr}`);
  for (const pr of untested) {
    const landed = history.left.get(pr);
    if (landed === undefined || history.intended!.targets.some((targets) => share(targets, landed)))
      wrong.push(`${content} lands as a lane, and shares a target with ${pr}, with which it was not tested`);
  }
  return wrong;
}

/** What a run is held to be about is what it tested, unless other lanes landed since. */
export function findWrongContent({ runs }: Snapshot, { tested }: History): string[] {
  const wrong: string[] = [];
  for (const { id, of, composition, drifted } of runs.values()) {
    const began = tested.get(id);
    if (of.kind !== 'line' || drifted || composition === began) continue;
    const about = contentOf(composition);
    const seen = began && contentOf(began);
    if (seen !== about) wrong.push(`run ${id} tested ${seen}, and is held to be about ${about}`);
  }
  return wrong;
}

/** Something is under way or will be, for as long as anybody is in the line. */
export function stuck({ items, runs, state, landing }: Snapshot, wakeAt: number | null): string[] {
  if (state === 'PAUSED' || landing !== null || wakeAt !== null) return [];
  for (const run of runs.values()) if (isActive(run)) return [];
  for (const { place } of items.values())
    if (place.kind !== 'not_ready') return ['it is stuck: nothing is under way and nothing will be'];
  return [];
}

const hourMs = 3_600_000;

/** Who never was ready is given up when the queue's patience is over, and somebody will look then. */
export function indulged({ items, settings }: Snapshot, now: number, wakeAt: number | null): string[] {
  if (settings.notReadyTimeoutHours === 0) return [];
  const wrong: string[] = [];
  for (const { pr, ready, queuedAt, patienceFrom } of items.values()) {
    if (ready || queuedAt !== null) continue;
    const endsAt = patienceFrom + settings.notReadyTimeoutHours * hourMs;
    if (endsAt <= now) wrong.push(`#${pr} is still there after the end of patience`);
    else if (wakeAt === null || wakeAt > endsAt) wrong.push(`nobody looks when patience with #${pr} is over`);
  }
  return wrong;
}

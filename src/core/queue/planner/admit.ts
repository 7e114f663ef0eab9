// Which entries are in the queue at all: a ready entry of a RUNNING queue becomes pending, one that is no
// longer ready goes back and keeps its seniority, and one that was never ready is cancelled after
// `notReadyTimeoutHours`. With direct merge, an entry that is already tested on the tip lands at once if
// nothing is ahead of it.
//
// An entry under test that is no longer ready, because an approval was withdrawn or changes were requested,
// leaves the line at once: its run is cancelled, and entries on top of it are tested again without it. During
// a landing only the branch shows how that ends: the entry leaves if the landing does not happen.

import { hourMs } from '#base/duration.ts';
import type { Draft } from './draft.ts';
import { LaneWalk } from './lane.ts';
import type { Item } from './model.ts';
import { inOrder } from './order.ts';

/** Takes every entry under test that is no longer ready out of the line. */
export function withdrawUnready(draft: Draft): void {
  for (const { pr, place, ready } of draft.items.values())
    if (!ready && (place.kind === 'line' || place.kind === 'search') && !draft.isLanding(pr))
      draft.withdraw(pr);
}

export function admit(draft: Draft): void {
  for (const item of draft.items.values()) {
    const { pr, place, ready } = item;
    if (draft.isLanding(pr)) continue;
    if (place.kind === 'pending' && !ready) {
      draft.put(pr, { kind: 'not_ready' });
      draft.facts.push({ kind: 'unready', pr });
    } else if (place.kind === 'not_ready' && ready && draft.state === 'RUNNING') {
      draft.items.set(pr, {
        ...item,
        queuedAt: item.queuedAt ?? draft.now,
        place: { kind: 'pending', since: draft.now, restarting: false, alone: false, behind: null },
      });
      draft.facts.push({ kind: 'queued', pr, reason: 'MERGE_ITEM_NOW_READY' });
    } else if (place.kind === 'not_ready' && !ready && item.queuedAt === null)
      losePatience(draft, pr, item.patienceFrom);
  }
}

function losePatience(draft: Draft, pr: number, from: number): void {
  const { notReadyTimeoutHours } = draft.settings;
  if (notReadyTimeoutHours === 0) return;
  const endsAt = from + notReadyTimeoutHours * hourMs;
  draft.wake(endsAt);
  if (endsAt > draft.now) return;
  draft.facts.push({ kind: 'cancelled', pr, reason: 'NOT_READY_TIMEOUT_EXPIRED' });
  draft.leave(pr, 'cancelled');
}

/** Begins to land an entry that its own checks proved on the tip, if nothing is ahead of it. */
export function mergeDirectly(draft: Draft): void {
  if (draft.settings.directMergeMode === 'off' || draft.state !== 'RUNNING' || draft.landing !== null) return;
  const walk = new LaneWalk(draft.settings.mode);
  draft.line.forEach((group, index) => walk.add(index, draft.targetsOf(group)));
  // Entries under bisection may land later, on top of the branch as it is then.
  // A screen begins with entries that were pending, and they stay ahead.
  const isAhead = ({ place }: Item) =>
    place.kind === 'pending' || (draft.sharesSlots && place.kind === 'search');
  const waiting = [...draft.items.values()].filter(isAhead);
  for (const [index, item] of inOrder(waiting, draft.now).entries()) {
    const mayLand = item.place.kind === 'pending' && item.testedOnTip === draft.tip;
    if (mayLand && walk.dependencies([item.targets]).length === 0) {
      draft.landing = { id: draft.nextId++, members: [item.pr], proof: { kind: 'direct' } };
      draft.actions.push({ kind: 'land', landing: draft.landing, base: draft.tip });
      return;
    }
    walk.add(draft.line.length + index, [item.targets]);
  }
}

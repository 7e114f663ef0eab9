// The promise to those that wait: whoever has waited long enough is no longer overtaken by anything but urgent ones.
import { isUrgent } from '#core/queue/priority.ts';
import type { Group, Item, Snapshot } from '#core/queue/planner/model.ts';
import { ageingMs } from '#core/queue/planner/order.ts';

const minuteMs = 60_000;

/**
 * A plan gives no slot to a group of which everybody came later than somebody who has aged, is still pending, and could
 * have had it. A batch may take younger ones along with somebody older.
 */
export function* overtaken(before: Snapshot, after: Snapshot, now: number): Generator<string> {
  const known = new Set(before.line.map(({ id }) => id));
  const tested = new Set(
    [...after.runs.values()].flatMap(({ of, status }) =>
      of.kind === 'line' && status === 'starting' ? [of.group] : [],
    ),
  );
  const started = after.line.filter(({ id }) => !known.has(id) && tested.has(id));
  if (started.length === 0) return;
  const aged = [...after.items.values()].filter(
    (item) => couldStart(after, item) && now - item.submittedAt >= ageingMs,
  );
  const filling = aged.filter((item) => isFilling(after, item, now));
  for (const item of aged) {
    // In lanes a batch that fills holds up whoever depends on it, and nobody else.
    if (after.settings.mode === 'parallel' && filling.some((other) => other.seniority <= item.seniority))
      continue;
    for (const group of started)
      if (isLater(after, group, item))
        yield `#${item.pr} has waited for ${Math.floor((now - item.submittedAt) / minuteMs)} min and is overtaken by #${group.members.join(' #')}`;
  }
}

function couldStart({ items, landing, state }: Snapshot, { pr, place, priority }: Item): boolean {
  if (place.kind !== 'pending' || isUrgent(priority) || landing?.members.includes(pr)) return false;
  if (state === 'PAUSED' || (state === 'SWITCHING_MODES' && !place.restarting)) return false;
  const ahead = place.behind === null ? undefined : items.get(place.behind);
  return ahead === undefined || ahead.place.kind === 'not_ready';
}

/** It was not ready when it began to wait, so that its batch may still wait for others. */
const isFilling = ({ settings }: Snapshot, { place }: Item, now: number): boolean =>
  settings.batch &&
  place.kind === 'pending' &&
  !place.restarting &&
  now - place.since < settings.batchingMaxWaitTimeMinutes * minuteMs;

const isLater = ({ items }: Snapshot, { members }: Group, { seniority }: Item): boolean =>
  members.every((pr) => {
    const member = items.get(pr)!;
    return !isUrgent(member.priority) && member.seniority > seniority;
  });

// A line of parallel lanes as the strategy sees it: who depends on whom, what is under way, and what it would start.
import { minuteMs } from '#base/duration.ts';
import type { Item, Run } from '#core/queue/planner/model.ts';
import { foresee } from '#core/queue/planner/strategy/foresee.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { World } from './world.ts';

export const on = (...targets: number[]) => ({ targets: Uint32Array.from(targets) });

export function foreseeing(settings: Partial<QueueSettings> = {}): World {
  const world = new World({ mode: 'parallel', concurrency: 8, testingTimeoutMinutes: 0, ...settings });
  world.strategy = foresee;
  return world;
}

export type LineAsked = {
  readonly free?: number;
  readonly failureShare?: number;
  readonly weight?: QueueSettings['weight'];
  /** For each run: the entries that it contains, by index, and for how many minutes it has been under way. */
  readonly running?: readonly (readonly [entries: readonly number[], minutes: number, rest?: Partial<Run>])[];
  /** What is known of each entry, by index. */
  readonly known?: Readonly<Record<number, Partial<Item>>>;
};

/** What is proposed for a line in which each entry depends on those that are named, with runs that take half an hour. */
export function proposeFor(dependencies: readonly (readonly number[])[], asked: LineAsked = {}) {
  const { free = 10, failureShare = 0.05, weight = 'time', running = [], known = {} } = asked;
  const now = 100 * minuteMs;
  const world = foreseeing({ weight });
  const prs = dependencies.map((_, index) => index + 1);
  for (const pr of prs) world.submit(pr, on(pr));
  const [any] = world.snapshot.runs.values();
  const runs = running.map(([entries, minutes, rest], index): Run => {
    const startedAt = now - minutes * minuteMs;
    const members = entries.map((entry) => entry + 1);
    return {
      ...any!,
      id: 1_000 + index,
      of: { kind: 'line', group: members.at(-1)! },
      composition: { base: 'T', members, tested: 1 },
      requestedAt: startedAt,
      startedAt,
      ...rest,
    };
  });
  const { proposals, wakeAt } = foresee.propose({
    queue: {
      ...world.snapshot,
      failureShare,
      flakeShare: 0.005,
      limits: { ...world.snapshot.limits, usualMs: 30 * minuteMs },
      items: new Map(prs.map((pr, index) => [pr, { ...world.snapshot.items.get(pr)!, ...known[index] }])),
      line: prs.map((pr) => ({ id: pr, members: [pr] })),
      runs: new Map(runs.map((run) => [run.id, run])),
    },
    pending: [],
    free,
    now,
    dependencies,
  });
  return {
    started: proposals.map((proposal) =>
      'group' in proposal ? `${proposal.group} without ${proposal.without.join() || 'none'}` : 'other',
    ),
    wakeInMinutes: wakeAt === null ? null : (wakeAt - now) / minuteMs,
  };
}

// Counts the writes of one process, where no database counts for all processes.

import { hourMs, minuteMs } from '#base/duration.ts';
import { contentRoom } from '#core/content-budget.ts';
import type { ContentBudget } from '../../connection.ts';

const countWrites = (written: readonly number[], now: number) => ({
  hour: written.length,
  minute: written.filter((at) => at > now - minuteMs).length,
});

export function createMemoryBudget(): ContentBudget {
  const all = new Map<string, readonly number[]>();
  const recent = (budget: string, now: number): readonly number[] => {
    const kept = (all.get(budget) ?? []).filter((at) => at > now - hourMs);
    all.set(budget, kept);
    return kept;
  };
  return {
    take: (budget, { at, count, isLanding }) => {
      const now = at.getTime();
      const written = recent(budget, now);
      const room = contentRoom(countWrites(written, now), isLanding);
      const oldest = written[0] ?? now;
      if (count > room.hour) return Promise.resolve(Math.max(1_000, oldest + hourMs - now));
      if (count > room.minute) return Promise.resolve(minuteMs);
      all.set(budget, [...written, ...Array.from({ length: count }, () => now)]);
      return Promise.resolve(null);
    },
    used: (budget, at) => Promise.resolve(countWrites(recent(budget, at.getTime()), at.getTime())),
  };
}

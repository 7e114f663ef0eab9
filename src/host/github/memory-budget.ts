// What one process has written, where no database counts for all of them.

import { contentRoom } from '#core/content-budget.ts';
import type { ContentBudget } from '../connection.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

const useOf = (written: readonly number[], now: number) => ({
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
      const room = contentRoom(useOf(written, now), isLanding);
      const oldest = written[0] ?? now;
      if (count > room.hour) return Promise.resolve(Math.max(1_000, oldest + hourMs - now));
      if (count > room.minute) return Promise.resolve(minuteMs);
      all.set(budget, [...written, ...Array.from({ length: count }, () => now)]);
      return Promise.resolve(null);
    },
    used: (budget, at) => Promise.resolve(useOf(recent(budget, at.getTime()), at.getTime())),
  };
}

// What one process has written, where no database counts for all of them.

import type { ContentBudget } from '../connection.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

export function createMemoryBudget(): ContentBudget {
  const written = new Map<string, readonly number[]>();
  const recent = (budget: string, at: Date): readonly number[] => {
    const all = (written.get(budget) ?? []).filter((instant) => instant > at.getTime() - hourMs);
    written.set(budget, all);
    return all;
  };
  const used = (budget: string, at: Date) => {
    const hour = recent(budget, at);
    return { hour, minute: hour.filter((instant) => instant > at.getTime() - minuteMs) };
  };
  return {
    take: (budget, { at, count, max }) => {
      const { hour, minute } = used(budget, at);
      const until = ([first = at.getTime()]: readonly number[], spanMs: number) =>
        Promise.resolve(Math.max(1_000, first + spanMs - at.getTime()));
      if (hour.length + count > max.hour) return until(hour, hourMs);
      if (minute.length + count > max.minute) return until(minute, minuteMs);
      written.set(budget, [...hour, ...Array.from({ length: count }, () => at.getTime())]);
      return Promise.resolve(null);
    },
    used: (budget, at) => {
      const { hour, minute } = used(budget, at);
      return Promise.resolve({ hour: hour.length, minute: minute.length });
    },
  };
}

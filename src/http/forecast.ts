// Forecasts of lines, kept per process: whoever polls a pull request pays for a look at the whole line at most once a
// second, and everybody else who asks meanwhile for nothing.

import {
  type Forecast,
  forecastLine,
  isEnoughHistory,
  isForeseeable,
  isForeseen,
  type TestHistory,
} from '#core/queue/estimate.ts';
import type { Queue } from '#core/queue/model.ts';
import type { Cell } from '#db/cell.ts';
import { readLine, readTestHistory } from '#db/estimate-view.ts';
import type { Standing } from '#core/queue/standing.ts';

const forecastKeptMs = 1_000;
/** Two weeks of runs do not change much in this time. */
const historyKeptMs = 30_000;
/** A forecast of a long line takes some 60 KB. */
const queuesMax = 200;

/** When the entries of a queue land; null where none of them can be told or the queue has too little history. */
export type ReadForecast = (
  cell: Cell,
  queue: Queue,
  entries: readonly Standing[],
  now: Date,
) => Promise<Forecast | null>;

type Kept<Value> = { readonly value: Promise<Value>; readonly readAt: number };

export function createForecasts(): ReadForecast {
  const histories = new Map<string, Kept<TestHistory>>();
  const forecasts = new Map<string, Kept<Forecast | null>>();
  const look = async (cell: Cell, queue: Queue, key: string, now: Date): Promise<Forecast | null> => {
    const known = freshOf(histories, key, now, historyKeptMs);
    const history = await (known ?? keep(histories, key, now, readTestHistory(cell.reader, queue.id, now)));
    if (!isEnoughHistory(history)) return null;
    const line = await readLine(cell.reader, queue.id, queue.settings.mode === 'parallel');
    return forecastLine(queue.settings, history, line, now);
  };
  return async (cell, queue, entries, now) => {
    const wanted = entries.flatMap(({ entry, position, line: { isHostAway } }) => {
      const standing = { entry, position, isHostAway };
      return isForeseeable(queue, standing) ? [standing] : [];
    });
    if (wanted.length === 0) return null;
    const key = `${cell.name} ${queue.id}`;
    const known = freshOf(forecasts, key, now, forecastKeptMs);
    const forecast = await (known ?? keep(forecasts, key, now, look(cell, queue, key, now)));
    const isComplete = forecast === null || wanted.every((standing) => isForeseen(forecast, standing));
    if (known === null || isComplete) return forecast;
    // Somebody came since: each newcomer has the line looked at once, and others who ask at the same time share that.
    const newer = freshOf(forecasts, key, now, forecastKeptMs);
    if (newer !== null && newer !== known) return newer;
    return keep(forecasts, key, now, look(cell, queue, key, now));
  };
}

/** What was read a moment ago; null where that was too long ago, by a clock that may have been set back. */
function freshOf<Value>(
  kept: ReadonlyMap<string, Kept<Value>>,
  key: string,
  now: Date,
  keptMs: number,
): Promise<Value> | null {
  const known = kept.get(key);
  return known !== undefined && Math.abs(now.getTime() - known.readAt) < keptMs ? known.value : null;
}

function keep<Value>(
  kept: Map<string, Kept<Value>>,
  key: string,
  now: Date,
  value: Promise<Value>,
): Promise<Value> {
  if (kept.size >= queuesMax) kept.clear();
  kept.set(key, { value, readAt: now.getTime() });
  // What could not be read is read by the next.
  value.catch(() => kept.delete(key));
  return value;
}

// Forecasts of queues, cached per process: clients that poll pull requests cost one read of the whole queue a second,
// however many they are.

import { createTtlCache } from '#base/ttl-cache.ts';
import {
  type Forecast,
  forecastLine,
  isEnoughHistory,
  isForeseeable,
  isForeseen,
  type TestHistory,
} from '#core/queue/estimate/estimate.ts';
import type { Queue } from '#core/queue/model.ts';
import type { Cell } from '#db/cell.ts';
import { readLine, readTestHistory } from '#db/history/estimate-view.ts';
import type { EntryStatus } from '#core/queue/text/entry-status.ts';
import type { Deps } from '../deps.ts';

const forecastKeptMs = 1_000;
/** Two weeks of runs do not change much in this time. */
const historyKeptMs = 30_000;
/** A forecast of a long queue takes about 60 KB. */
const queuesMax = 200;

/** When the entries of a queue land; null if none can be predicted or the queue has too little history. */
export type ReadForecast = (
  cell: Cell,
  queue: Queue,
  entries: readonly EntryStatus[],
  now: Date,
) => Promise<Forecast | null>;

export function createForecasts({ clock }: Pick<Deps, 'clock'>): ReadForecast {
  const now = () => clock.now().getTime();
  const histories = createTtlCache<TestHistory>({ ttlMs: historyKeptMs, max: queuesMax, now });
  const forecasts = createTtlCache<Forecast | null>({ ttlMs: forecastKeptMs, max: queuesMax, now });
  const forecastQueue = async (cell: Cell, queue: Queue, key: string, at: Date): Promise<Forecast | null> => {
    const history = await histories.load(key, () => readTestHistory(cell.reader, queue.id, at));
    if (!isEnoughHistory(history)) return null;
    const line = await readLine(cell.reader, queue.id, queue.settings.mode === 'parallel');
    return forecastLine(queue.settings, history, line, at);
  };
  return async (cell, queue, entries, at) => {
    const wanted = entries.filter((status) => isForeseeable(queue, status));
    if (wanted.length === 0) return null;
    const key = `${cell.name} ${queue.id}`;
    // An entry that was submitted after the forecast has no part in it: then the queue is forecast again, once for all
    // callers that ask at the same time.
    const isComplete = (forecast: Forecast | null) =>
      forecast === null || wanted.every((status) => isForeseen(forecast, status));
    return forecasts.load(key, () => forecastQueue(cell, queue, key, at), isComplete);
  };
}

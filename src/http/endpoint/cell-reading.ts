// What /metrics reports about each cell. The endpoint needs no token, so a cell is read once at a time and at
// most once per `keptMs`, however often it is scraped; a cell that does not answer delays a scrape by at most
// `patienceMs`.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { Cell } from '#db/cell.ts';
import { type CellNumbers, readCellNumbers } from '#db/job/cell-numbers-view.ts';
import type { CellReading } from '#event/cell-metrics.ts';

/** Scrapes of several Prometheus servers share an answer. */
const keptMs = 5_000;
/** Prometheus waits for 10 seconds by default. */
const patienceMs = 2_000;

function createCellReader(cell: Cell, log: Log): () => Promise<CellReading> {
  let kept: { readonly at: number; readonly numbers: CellNumbers | null } | undefined;
  let asked: Promise<CellNumbers | null> | undefined;
  const ask = async (): Promise<CellNumbers | null> => {
    try {
      return await readCellNumbers(cell.db);
    } catch (error) {
      log.warn({ cell: cell.name, err: error }, 'could not read the metrics of a cell');
      return null;
    } finally {
      asked = undefined;
    }
  };
  return async () => {
    if (kept === undefined || performance.now() - kept.at > keptMs) {
      const numbers = await Promise.race([(asked ??= ask()), sleep(patienceMs, null, { ref: false })]);
      kept = { at: performance.now(), numbers };
    }
    return { cell: cell.name, numbers: kept.numbers };
  };
}

export function createCellReadings(cells: readonly Cell[], log: Log): () => Promise<readonly CellReading[]> {
  const readers = cells.map((cell) => createCellReader(cell, log));
  return () => Promise.all(readers.map((read) => read()));
}

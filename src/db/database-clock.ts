// The time by the database's clock. Processes on machines whose clocks differ compare instants that others
// have written, so each of them follows the one clock that all of them can read. The difference is measured
// regularly: its error is at most half of the time that the answer took.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Cell } from './cell.ts';
import { statement } from './statement.ts';

const selectNow = statement<[], { ms: number }>(
  'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
);

/** How often it is measured. */
const measureMs = 10_000;
/** A larger difference is reported: a synchronized clock is never this wrong. */
const reportedMs = 2_000;

export type DatabaseClock = Clock & {
  /** Resolves after the first measurement, also if it failed. */
  readonly measured: Promise<void>;
  readonly close: () => void;
};

type Options = {
  /** The clock of this machine; tests give one that is wrong. */
  readonly local?: () => number;
  readonly everyMs?: number;
};

/** Follows the clock of the cell's database. While it does not answer, the last difference is used. */
export function followDatabaseClock(
  cell: Cell,
  log: Log,
  { local = Date.now, everyMs = measureMs }: Options = {},
): DatabaseClock {
  let differenceMs = 0;
  let isReported = false;
  const measure = async () => {
    const before = local();
    const [row] = await selectNow(cell.reader);
    const after = local();
    const found = row!.ms - (before + after) / 2;
    // A change within the error of the measurement is ignored.
    if (Math.abs(found - differenceMs) > (after - before) / 2 + 1) differenceMs = found;
    const isWrong = Math.abs(differenceMs) > reportedMs;
    if (isWrong && !isReported)
      log.warn(
        { cell: cell.name, differenceMs: Math.round(differenceMs) },
        'system clock differs from the database clock',
      );
    isReported = isWrong;
  };
  const tryToMeasure = () => measure().catch(() => undefined);
  const timer = setInterval(() => void tryToMeasure(), everyMs);
  timer.unref();
  return {
    now: () => new Date(local() + differenceMs),
    measured: tryToMeasure(),
    close: () => clearInterval(timer),
  };
}

// How good estimates of landings are: the planner plays a workload, now and then the whole line is estimated as the API
// would, and each estimate is compared with when that change really landed.

import type { LineEntry } from '#core/queue/estimate/estimate-group.ts';
import { type Forecast, forecastLine } from '#core/queue/estimate/estimate.ts';
import { linePlaces } from '#core/queue/engine/line-place.ts';
import { type Item, isActive, isScreen, type Run, type Snapshot } from '#core/queue/planner/model.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { playPlanner } from '#tool/simulate/kernel/play.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';

const minuteMs = 60_000;

export type Calibration = {
  /** Estimates of changes that landed. */
  readonly count: number;
  /** The share of landings before the 10th percentile, before the median, and after the 90th percentile. */
  readonly early: number;
  readonly beforeMedian: number;
  readonly late: number;
};

/** An empty queue has nothing to estimate: the line is looked at this often. */
const everyMs = 20 * minuteMs;
/** As the API keeps it. */
const runsKept = 200;

type Guess = { readonly pr: number; readonly p10: number; readonly p50: number; readonly p90: number };

export function calibrate(workload: Workload, settings: Partial<QueueSettings>): Calibration {
  const durationsMs: number[] = [];
  const startedAt = new Map<number, number>();
  const ended: boolean[] = [];
  const landedAt = new Map<number, number>();
  const guesses: Guess[] = [];
  let lookedAt = 0;
  playPlanner(workload, settings, (snapshot, { event, facts }, nowMs) => {
    const passedFrom = event?.kind === 'run-passed' ? startedAt.get(event.run) : undefined;
    if (passedFrom !== undefined) durationsMs.push(nowMs - passedFrom);
    startedAt.clear();
    for (const run of snapshot.runs.values())
      if (isActive(run) && (run.of.kind === 'line' || isScreening(snapshot, run)))
        startedAt.set(run.id, run.requestedAt);
    for (const fact of facts) {
      if (fact.kind === 'merged') landedAt.set(fact.pr, nowMs);
      if (fact.kind === 'merged' || fact.kind === 'failed') ended.push(fact.kind === 'merged');
    }
    if (nowMs < lookedAt + everyMs) return;
    lookedAt = nowMs;
    const lately = ended.slice(-runsKept);
    const mergedCount = lately.filter(Boolean).length;
    const forecast = forecastLine(
      snapshot.settings,
      {
        durationsMs: durationsMs.slice(-runsKept),
        mergedCount,
        leftCount: lately.length - mergedCount,
        arrivalGapMs: nowMs / Math.max(1, ended.length),
      },
      lineOf(snapshot, nowMs),
      new Date(nowMs),
    );
    if (forecast !== null) guesses.push(...guessesOf(forecast));
  });
  return scoreOf(guesses, landedAt);
}

const guessesOf = ({ landings }: Forecast): Guess[] =>
  [...landings].map(([pr, percentiles]) => Object.assign({ pr }, percentiles));

function scoreOf(guesses: readonly Guess[], landedAt: ReadonlyMap<number, number>): Calibration {
  const landed = guesses.flatMap((guess) => {
    const atMs = landedAt.get(guess.pr);
    return atMs === undefined ? [] : [{ ...guess, atMs }];
  });
  const share = (holds: (guess: (typeof landed)[number]) => boolean) =>
    landed.filter(holds).length / landed.length;
  return {
    count: landed.length,
    // Percentiles are told in whole milliseconds.
    early: share(({ atMs, p10 }) => atMs < p10 - 1),
    beforeMedian: share(({ atMs, p50 }) => atMs <= p50),
    late: share(({ atMs, p90 }) => atMs > p90 + 1),
  };
}

/** The line as the tables would show it. */
function lineOf(snapshot: Snapshot, nowMs: number): LineEntry[] {
  const places = linePlaces(snapshot, nowMs);
  const before = (one: Item, other: Item) => {
    const [a, b] = [places.get(one.pr)!, places.get(other.pr)!];
    return a.rank - b.rank || a.major - b.major || a.minor - b.minor;
  };
  return [...snapshot.items.values()]
    .filter(({ place }) => place.kind !== 'not_ready')
    .sort(before)
    .map((item) => entryOf(snapshot, item));
}

function entryOf(snapshot: Snapshot, { pr, place, screen, noBatch, priority, submittedAt }: Item): LineEntry {
  const run = runOf(snapshot, place);
  return {
    prNumber: pr,
    state: place.kind === 'line' ? place.shown : place.kind === 'search' ? 'pending_failure' : 'pending',
    run:
      run === null
        ? null
        : {
            id: String(run.id),
            isBisection: run.of.kind === 'search' && !isScreening(snapshot, run),
            isScreen: isScreening(snapshot, run),
            isUnderWay: isActive(run),
            createdAt: new Date(run.requestedAt),
          },
    behind: run === null ? [] : assumedOf(run).slice(-8).toReversed(),
    isScreened: screen === 'passed' || screen === 'confirmed',
    noBatch,
    priority,
    stateChangedAt: new Date(place.kind === 'pending' ? place.since : submittedAt),
    restarts: place.kind === 'pending' && place.restarting ? 1 : 0,
  };
}

const isScreening = ({ searches }: Snapshot, { of }: Run): boolean =>
  of.kind === 'search' && searches.some((search) => search.id === of.search && isScreen(search));

const assumedOf = ({ composition: { members, tested } }: Run): readonly number[] =>
  members.slice(0, members.length - tested);

/** The newest run of its group or search. */
function runOf(snapshot: Snapshot, place: Item['place']): Run | null {
  const isOwn = ({ of }: Run) =>
    (place.kind === 'line' && of.kind === 'line' && of.group === place.group) ||
    (place.kind === 'search' && of.kind === 'search' && of.search === place.search);
  return [...snapshot.runs.values()].findLast(isOwn) ?? null;
}

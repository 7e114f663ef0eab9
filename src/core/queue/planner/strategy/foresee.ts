// Speculation in parallel lanes, just in time. An entry depends directly on the entries ahead that share a target with
// it. While these are undecided, a run of it is a bet on one path: which of them land. A run is worth starting if the
// minutes that it saves, for the entry and for all that wait for it, outweigh the minutes that it probably wastes. The
// earlier it starts before the last moment at which it would still end in time, the less it saves. The likeliest path is
// run at once if it is probable enough.
//
// Example. #2 shares a target with #1, and runs take 30 minutes. Both arrive now: #1 is tested as T+1, and #2 as T+1+2,
// since #1 probably lands. The run of #2 fails after 10 minutes: #1 may be bad. Now T+2 is worth a run: if #1 fails in 20
// minutes, the result about #2 is there 20 minutes earlier. If #1 passes, T+2 is cancelled.
//
// Three passes over the line: how probably each group lands and when it is decided; how many decisions wait for each;
// which runs are worth starting. The figures were tuned on the seeds 1 to 4 of the simulator.

import { minuteMs } from '#base/duration.ts';
import type { QueueSettings } from '../../settings.ts';
import { isActive, type Item, type Run, type Snapshot } from '../model.ts';
import { compareClass } from '../order.ts';
import type { ExplainedStrategy, Proposal } from '../strategy.ts';
import { estimateLandings } from './belief.ts';
import { likeliestPaths, type LandingPath } from './path.ts';

/** A minute that is probably wasted counts as so many that are probably saved, by what matters more. */
const wasteWeights: Readonly<Record<QueueSettings['weight'], number>> = { time: 0.07, ci_minutes: 0.25 };
/** How much more a minute is worth if many wait for it. */
const waitingWeight = 0.7;
/** The likeliest path is run at once if it is at least so probable: its result is worth knowing early. */
const learnOdds = 0.6;
/** What a run that is stopped costs in addition to the minutes that it took. */
const startCostMs = 5 * minuteMs;
/** A run is started so much earlier than it has to be. */
const marginShare = 0.1;
const marginMs = 2 * minuteMs;
/** A group whose outcome is that certain brings no news. */
const certainOdds = 0.98;

/** What a run takes if the queue has no history. */
const usualMsWithoutHistory = 30 * minuteMs;

type ForeseenQueue = Pick<
  Snapshot,
  'settings' | 'limits' | 'failureShare' | 'flakeShare' | 'items' | 'line' | 'runs'
>;

type LineForecast = {
  readonly lands: Float64Array;
  readonly runs: readonly (readonly Run[])[];
  readonly paths: readonly (readonly LandingPath[])[];
  /** How long the run of each group is expected to take. */
  readonly durations: Float64Array;
  /** Until when each group waits for those ahead of it. */
  readonly waitsUntil: Float64Array;
  /** How many decisions each group delays, its own included. */
  readonly critical: Float64Array;
};

type ValuedRun = { readonly item: Item; readonly proposal: Proposal; readonly value: number };

export const foresee: ExplainedStrategy = {
  screens: false,
  hasDirectDependencies: true,
  describeBatches: () => null,
  propose: ({ queue, free, now, dependencies }) => {
    const usualMs = queue.limits.usualMs ?? usualMsWithoutHistory;
    const forecast = forecastLine(queue, dependencies, usualMs, now);
    const wanted: ValuedRun[] = [];
    let wakeAt = Infinity;
    for (let index = 0; index < queue.line.length; index++)
      wakeAt = Math.min(wakeAt, wantRuns(queue, dependencies, forecast, index, now, wanted));
    if (wanted.length > free) wanted.sort((a, b) => compareClass(a.item, b.item, now) || b.value - a.value);
    return {
      proposals: wanted.slice(0, free).map(({ proposal }) => proposal),
      wakeAt: wakeAt === Infinity ? null : wakeAt,
    };
  },
};

/** When a run ends, as far as the queue's history says. */
const expectedEnd = ({ startedAt, pushedAt, requestedAt }: Run, expectedMs: number, now: number): number =>
  Math.max(now + minuteMs / 2, (startedAt ?? pushedAt ?? requestedAt) + expectedMs);

const pathKey = (members: readonly number[]): string => members.join();

function forecastLine(
  queue: ForeseenQueue,
  dependencies: readonly (readonly number[])[],
  usualMs: number,
  now: number,
): LineForecast {
  const { line, items } = queue;
  const indexes = new Map(line.flatMap(({ members }, index) => members.map((pr) => [pr, index])));
  const groups = new Map(line.map(({ id }, index) => [id, index]));
  const runs: Run[][] = line.map(() => []);
  for (const run of queue.runs.values())
    if (run.of.kind === 'line' && groups.has(run.of.group)) runs[groups.get(run.of.group)!]!.push(run);
  const odds = { soundOdds: 1 - queue.failureShare, flakeOdds: queue.flakeShare };
  const lands = estimateLandings({ line, items, ...odds, runs, dependencies, indexes });
  const paths = dependencies.map((ahead) => likeliestPaths(ahead, lands));
  const durations = Float64Array.from(line, ({ members }) =>
    Math.max(...members.map((pr) => items.get(pr)?.expectedMs ?? usualMs)),
  );
  const waitsUntil = new Float64Array(line.length);
  const decidedAt = new Float64Array(line.length);
  const critical = new Float64Array(line.length).fill(1);
  const waitsFor = new Int32Array(line.length).fill(-1);
  for (let index = 0; index < line.length; index++) {
    let until = now;
    for (const ahead of dependencies[index]!)
      if (decidedAt[ahead]! > until) {
        until = decidedAt[ahead]!;
        waitsFor[index] = ahead;
      }
    const run = findRun(queue, runs[index]!, index, paths[index]![0]!);
    const expectedMs = durations[index]!;
    const endsAt =
      run === undefined ? now + expectedMs : isActive(run) ? expectedEnd(run, expectedMs, now) : now;
    waitsUntil[index] = until;
    decidedAt[index] = Math.max(until, endsAt);
    if (endsAt > until) waitsFor[index] = -1;
  }
  for (let index = line.length - 1; index >= 0; index--)
    if (waitsFor[index]! >= 0) critical[waitsFor[index]!]! += critical[index]!;
  return { lands, runs, paths, durations, waitsUntil, critical };
}

/** The run of a group on this path, if there is one. */
function findRun(
  { line }: ForeseenQueue,
  runs: readonly Run[],
  index: number,
  { landing }: LandingPath,
): Run | undefined {
  if (runs.length === 0) return undefined;
  const key = pathKey([...landing.flatMap((ahead) => line[ahead]!.members), ...line[index]!.members]);
  return runs.find(({ composition }) => pathKey(composition.members) === key);
}

/** Adds the runs of a group that are worth starting now; returns when another would be, although nothing happened. */
function wantRuns(
  queue: ForeseenQueue,
  dependencies: readonly (readonly number[])[],
  { lands, runs, paths, durations, waitsUntil, critical }: LineForecast,
  index: number,
  now: number,
  wanted: ValuedRun[],
): number {
  const { line } = queue;
  const ahead = dependencies[index]!;
  const expectedMs = durations[index]!;
  const latest = waitsUntil[index]! - (1 + marginShare) * expectedMs - marginMs;
  let newsAt = Infinity;
  for (const each of ahead)
    if (lands[each]! > 1 - certainOdds && lands[each]! < certainOdds)
      for (const run of runs[each]!)
        if (isActive(run)) newsAt = Math.min(newsAt, expectedEnd(run, durations[each]!, now));
  if (newsAt === Infinity) newsAt = waitsUntil[index]! > now ? waitsUntil[index]! : now + expectedMs;
  const weight = critical[index]! ** waitingWeight;
  let wakeAt = Infinity;
  for (const [rank, path] of paths[index]!.entries()) {
    if (findRun(queue, runs[index]!, index, path) !== undefined) continue;
    const gain = path.odds * Math.max(0, newsAt - Math.max(now, latest)) * weight;
    const cost = (1 - path.odds) * (startCostMs + Math.min(expectedMs, newsAt - now));
    const isWorth = ahead.length === 0 || gain >= wasteWeights[queue.settings.weight] * cost;
    const isLikely = rank === 0 && path.odds >= learnOdds;
    if (isWorth || isLikely) {
      const without = ahead.flatMap((each) => (path.landing.includes(each) ? [] : line[each]!.members));
      const value = isWorth ? path.odds * weight : path.odds / 2;
      const { id, members } = line[index]!;
      wanted.push({ item: queue.items.get(members[0]!)!, proposal: { group: id, without }, value });
    } else if (latest > now) wakeAt = Math.min(wakeAt, latest);
  }
  return wakeAt;
}

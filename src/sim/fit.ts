// A workload from the history of a queue: who came when, how long tests took, what was wrong with whom, and what takes
// time beside the tests. What history leaves open is drawn, with the odds it gives, for each seed anew.

import type { QueueSettings } from '#core/queue/settings.ts';
import { assignBlame, type Blame } from './blame.ts';
import { type Evidence, type EvidentRun, gatherEvidence } from './evidence.ts';
import type { History, PastRun, PastTrip } from './history.ts';
import { createRandom } from './random.ts';
import { quantile, uncensored } from './statistics.ts';
import type { Change, Disturbance, Timing, Workload } from './workload.ts';

const minuteMs = 60_000;

export type Fit = {
  readonly evidence: Evidence;
  readonly blame: Blame;
  readonly timing: Timing;
  /** By place of trip: CI minutes of runs whose last change it was. */
  readonly ownMin: readonly (readonly number[])[];
  /** By place of trip: its runs took more CI minutes than this, as far as they were stopped. */
  readonly stoppedMin: readonly number[];
  /** CI minutes that runs take: of those that ended, made up for those that were stopped. */
  readonly poolMin: readonly number[];
  /** By place of trip: the earlier ones that it shares a lane with; none where everybody stands in one line. */
  readonly shares: readonly (readonly number[])[];
  readonly beginsAt: number;
};

/** `mode`: how the queue worked. In lanes, whoever was tested on top of another shares a target with it. */
export function fitHistory(history: History, mode: QueueSettings['mode'] = 'single'): Fit {
  const evidence = gatherEvidence(history);
  const blame = assignBlame(evidence);
  const { trips, runs, stopped } = evidence;
  const ciMin = ({ run }: { readonly run: PastRun }) =>
    Math.max(0, run.concludedAt - run.pushedAt) / minuteMs;
  const ownMin: number[][] = trips.map(() => []);
  for (const one of runs) if (one.last !== null) ownMin[one.last]!.push(ciMin(one));
  const stoppedMin = trips.map(() => 0);
  for (const one of stopped)
    if (one.last !== null) stoppedMin[one.last] = Math.max(stoppedMin[one.last]!, ciMin(one));
  const bounds = stopped.map(ciMin);
  const pooled = (passed: boolean) =>
    uncensored(runs.filter((one) => one.passed === passed).map(ciMin), bounds);
  const poolMin = uncensored(runs.map(ciMin), bounds);
  const [passed, failed] = [pooled(true), pooled(false)];
  const runMin = { passed: orElse(passed, poolMin), failed: orElse(failed, poolMin) };
  return {
    evidence,
    blame,
    timing: {
      startMin: runs.map(({ run }) => Math.max(0, run.pushedAt - run.createdAt) / minuteMs),
      landMin: landingsOf(evidence),
      runMin: isDueToChange(ownMin) ? null : runMin,
      again: againOf(evidence, blame),
    },
    ownMin,
    stoppedMin,
    poolMin,
    shares: mode === 'single' ? trips.map(() => []) : sharesOf(evidence),
    beginsAt: trips[0]?.queuedAt ?? 0,
  };
}

/** Too few say nothing about the rest. */
const fewest = 10;
const orElse = (values: readonly number[], others: readonly number[]) =>
  values.length < fewest ? others : values;

/**
 * Whether a run takes as long as its last change wants, or as chance does. Runs of the same change tell, where there are
 * some; where there are none it makes no difference.
 */
function isDueToChange(ownMin: readonly (readonly number[])[]): boolean {
  const repeated = ownMin.filter((own) => own.length > 1);
  if (repeated.length < fewest) return true;
  const spread = (values: readonly number[], degrees: number) => {
    const middle = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / degrees;
  };
  const within = repeated.reduce((sum, own) => sum + spread(own, own.length - 1), 0) / repeated.length;
  const all = repeated.flat();
  return within < spread(all, all.length - 1) / 2;
}

/** Minutes from what let each landing happen (its proof, or the landing before it) to its end. */
function landingsOf({ trips, runsOf }: Evidence): readonly number[] {
  const groups = new Map<number, number[]>();
  for (const [place, { outcome, concludedAt }] of trips.entries()) {
    if (outcome !== 'merged') continue;
    const group = groups.get(concludedAt);
    if (group === undefined) groups.set(concludedAt, [place]);
    else group.push(place);
  }
  const minutes: number[] = [];
  let before = -Infinity;
  for (const [at, places] of [...groups].toSorted(([a], [b]) => a - b)) {
    let since = before;
    for (const { run, passed } of places.flatMap((place) => runsOf[place]!))
      if (passed && run.concludedAt <= at) since = Math.max(since, run.concludedAt);
    before = at;
    if (since !== -Infinity) minutes.push((at - since) / minuteMs);
  }
  // Now and then something else held a landing up: an outage is not what the next one will take.
  const most = 5 * quantile(minutes, 0.5);
  return minutes.filter((value) => value <= most);
}

const isSame = (one: PastTrip, other: PastTrip): boolean =>
  one.pr === other.pr && one.headSha !== '' && one.headSha === other.headSha;

/** By place: the trip before it of the same change, if that one did not merge. */
function followedBy(trips: readonly PastTrip[]): readonly (number | undefined)[] {
  const last = new Map<number, number>();
  return trips.map((trip, place) => {
    const before = last.get(trip.pr);
    last.set(trip.pr, place);
    return before !== undefined && isSame(trips[before]!, trip) ? before : undefined;
  });
}

/** From the end of one submission to the next. */
const gapMin = (before: PastTrip, after: PastTrip): number =>
  Math.max(0, after.queuedAt - before.concludedAt) / minuteMs;

function againOf({ trips }: Evidence, { badAlone, againProbability }: Blame): Timing['again'] {
  const gaps = followedBy(trips).flatMap((before, place) =>
    before === undefined || trips[before]!.outcome !== 'failed' || badAlone[before]! > 0.5
      ? []
      : [gapMin(trips[before]!, trips[place]!)],
  );
  return gaps.length === 0
    ? { share: 0, afterMin: 0 }
    : { share: againProbability, afterMin: quantile(gaps, 0.5) };
}

function sharesOf({ trips, runs }: Evidence): readonly (readonly number[])[] {
  const shares: Set<number>[] = trips.map(() => new Set());
  for (const { run, members } of runs) {
    const tested = new Set(run.tested);
    for (const ahead of members.filter((place) => !tested.has(trips[place]!.pr)))
      for (const place of members.filter((other) => tested.has(trips[other]!.pr)))
        shares[Math.max(place, ahead)]!.add(Math.min(place, ahead));
  }
  return shares.map((set) => [...set]);
}

/** What happened, with what is not known drawn by chance. Trips are changes, numbered from 1 in order of arrival. */
export function workloadOf(fit: Fit, seed: number): Workload {
  const { evidence, blame, timing, ownMin, stoppedMin, poolMin, shares, beginsAt } = fit;
  const random = createRandom(seed, 'truth');
  const pick = (values: readonly number[]) => values[Math.floor(random() * values.length)] ?? 0;
  const pickOwn = (place: number) => {
    if (ownMin[place]!.length > 0) return pick(ownMin[place]!);
    const longer = poolMin.filter((minutes) => minutes > stoppedMin[place]!);
    return longer.length > 0 ? pick(longer) : stoppedMin[place]!;
  };
  const follows = followedBy(evidence.trips);
  const conflicts: number[][] = evidence.trips.map(() => []);
  for (const [place, partner] of blame.badWith.entries())
    if (partner !== null && random() < partner.chance)
      conflicts[Math.max(place, partner.place)]!.push(1 + Math.min(place, partner.place));
  const isBad: boolean[] = [];
  const luck = evidence.trips.map((): (boolean | undefined)[] => []);
  const changes = evidence.trips.map(({ queuedAt, priority, noBatch }, place): Change => {
    const before = follows[place];
    // The same change is as good as it was the first time.
    isBad[place] = before === undefined ? random() < blame.badAlone[place]! : isBad[before]!;
    return {
      number: place + 1,
      arrivesAtMin: (queuedAt - beginsAt) / minuteMs,
      durationMin: pickOwn(place),
      isGood: !isBad[place],
      conflictsWith: conflicts[place]!,
      shares: shares[place]!.map((earlier) => earlier + 1),
      predictedPass: 1,
      priority,
      noBatch,
      ...(before === undefined
        ? {}
        : {
            follows: {
              number: before + 1,
              afterMin: gapMin(evidence.trips[before]!, evidence.trips[place]!),
            },
          }),
      luck: luck[place]!,
    };
  });
  // What passed passed again, and what failed though nobody in it is bad failed by chance again: the luck of the time that
  // was is not drawn anew. Of what had to fail it is not known.
  const isSound = ({ members }: EvidentRun) =>
    members.every(
      (place) => !isBad[place]! && !conflicts[place]!.some((earlier) => members.includes(earlier - 1)),
    );
  for (const run of evidence.runs)
    if (run.last !== null && (run.passed || isSound(run))) luck[run.last]![run.attempt] = !run.passed;
  const disturbances = evidence.trips.flatMap(({ outcome, isByTests, concludedAt }, place): Disturbance[] =>
    isByTests || outcome === 'merged'
      ? []
      : [{ kind: 'cancel', number: place + 1, atMin: (concludedAt - beginsAt) / minuteMs }],
  );
  return {
    name: 'history',
    seed,
    flakeProbability: blame.flakeProbability,
    conflictProbability: 0,
    changes,
    disturbances: disturbances.toSorted((a, b) => a.atMin - b.atMin),
    timing,
  };
}

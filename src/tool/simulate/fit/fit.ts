// Builds a workload from the history of a queue: when changes arrived, how long tests took, which changes
// were bad, and what takes time besides the tests. What the history leaves open is drawn for each seed, with
// the odds that the history gives.

import { minuteMs } from '#base/duration.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { assignBlame, type BlameEstimate } from './blame.ts';
import { type FitEvidence, type EvidentRun, gatherEvidence } from './evidence.ts';
import type { RecordedHistory, PastRun, PastAttempt } from './history.ts';
import { createRandom } from '../kernel/random.ts';
import { quantile, uncensored } from '../kernel/statistics.ts';
import type { WorkloadChange, Disturbance, Timing, Workload } from '../kernel/workload.ts';

export type Fit = {
  readonly evidence: FitEvidence;
  readonly blame: BlameEstimate;
  readonly timing: Timing;
  /** By place of the attempt: CI minutes of runs whose last change it was. */
  readonly ownMin: readonly (readonly number[])[];
  /** By place of the attempt: its runs that were stopped took more CI minutes than this. */
  readonly stoppedMin: readonly number[];
  /** CI minutes that runs take: those of finished runs, corrected for the runs that were stopped. */
  readonly poolMin: readonly number[];
  /** By place of the attempt: the earlier ones that share a lane with it; none if the queue has no lanes. */
  readonly shares: readonly (readonly number[])[];
  readonly beginsAt: number;
};

/** `mode`: how the queue worked. With lanes, an entry tested on top of another shares a target with it. */
export function fitHistory(history: RecordedHistory, mode: QueueSettings['mode'] = 'single'): Fit {
  const evidence = gatherEvidence(history);
  const blame = assignBlame(evidence);
  const { attempts, runs, stopped } = evidence;
  const ciMin = ({ run }: { readonly run: PastRun }) =>
    Math.max(0, run.concludedAt - run.pushedAt) / minuteMs;
  const ownMin: number[][] = attempts.map(() => []);
  for (const one of runs) if (one.last !== null) ownMin[one.last]!.push(ciMin(one));
  const stoppedMin = attempts.map(() => 0);
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
      // The history ends at the request: what CI still works then is not seen.
      cancelMin: [],
      landMin: measureLandings(evidence),
      runMin: isDueToChange(ownMin) ? null : runMin,
      again: estimateResubmission(evidence, blame),
    },
    ownMin,
    stoppedMin,
    poolMin,
    shares: mode === 'single' ? attempts.map(() => []) : findSharedTargets(evidence),
    beginsAt: attempts[0]?.queuedAt ?? 0,
  };
}

/** Fewer samples say nothing about the rest. */
const fewest = 10;
const orElse = (values: readonly number[], others: readonly number[]) =>
  values.length < fewest ? others : values;

/**
 * Whether the duration of a run depends on its last change, or on chance. Several runs of the same change
 * show it; if there are none it makes no difference.
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

/** Minutes from what allowed each landing (its passed run, or the landing before it) to its end. */
function measureLandings({ attempts, runsOf }: FitEvidence): readonly number[] {
  const groups = new Map<number, number[]>();
  for (const [place, { outcome, concludedAt }] of attempts.entries()) {
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
  // Outliers are left out: an outage does not predict the duration of the next landing.
  const most = 5 * quantile(minutes, 0.5);
  return minutes.filter((value) => value <= most);
}

const isSame = (one: PastAttempt, other: PastAttempt): boolean =>
  one.pr === other.pr && one.headSha !== '' && one.headSha === other.headSha;

/** By place: the previous attempt of the same change, if that one did not merge. */
function followedBy(attempts: readonly PastAttempt[]): readonly (number | undefined)[] {
  const last = new Map<number, number>();
  return attempts.map((attempt, place) => {
    const before = last.get(attempt.pr);
    last.set(attempt.pr, place);
    return before !== undefined && isSame(attempts[before]!, attempt) ? before : undefined;
  });
}

/** From the end of one submission to the next. */
const gapMin = (before: PastAttempt, after: PastAttempt): number =>
  Math.max(0, after.queuedAt - before.concludedAt) / minuteMs;

function estimateResubmission(
  { attempts }: FitEvidence,
  { badAlone, againProbability }: BlameEstimate,
): Timing['again'] {
  const gaps = followedBy(attempts).flatMap((before, place) =>
    before === undefined || attempts[before]!.outcome !== 'failed' || badAlone[before]! > 0.5
      ? []
      : [gapMin(attempts[before]!, attempts[place]!)],
  );
  return gaps.length === 0
    ? { share: 0, afterMin: 0 }
    : { share: againProbability, afterMin: quantile(gaps, 0.5) };
}

function findSharedTargets({ attempts, runs }: FitEvidence): readonly (readonly number[])[] {
  const shares: Set<number>[] = attempts.map(() => new Set());
  for (const { run, members } of runs) {
    const tested = new Set(run.tested);
    for (const ahead of members.filter((place) => !tested.has(attempts[place]!.pr)))
      for (const place of members.filter((other) => tested.has(attempts[other]!.pr)))
        shares[Math.max(place, ahead)]!.add(Math.min(place, ahead));
  }
  return shares.map((set) => [...set]);
}

/** What happened, with the unknown parts drawn. Each attempt is a change, numbered from 1 by arrival. */
export function drawWorkload(fit: Fit, seed: number): Workload {
  const { evidence, blame, timing, ownMin, stoppedMin, poolMin, shares, beginsAt } = fit;
  const random = createRandom(seed, 'truth');
  const pick = (values: readonly number[]) => values[Math.floor(random() * values.length)] ?? 0;
  const pickOwn = (place: number) => {
    if (ownMin[place]!.length > 0) return pick(ownMin[place]!);
    const longer = poolMin.filter((minutes) => minutes > stoppedMin[place]!);
    return longer.length > 0 ? pick(longer) : stoppedMin[place]!;
  };
  const follows = followedBy(evidence.attempts);
  const conflicts: number[][] = evidence.attempts.map(() => []);
  for (const [place, partner] of blame.badWith.entries())
    if (partner !== null && random() < partner.chance)
      conflicts[Math.max(place, partner.place)]!.push(1 + Math.min(place, partner.place));
  const isBad: boolean[] = [];
  const luck = evidence.attempts.map((): (boolean | undefined)[] => []);
  const changes = evidence.attempts.map(({ queuedAt, priority, noBatch }, place): WorkloadChange => {
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
              afterMin: gapMin(evidence.attempts[before]!, evidence.attempts[place]!),
            },
          }),
      luck: luck[place]!,
    };
  });
  // Recorded luck is not drawn again: a run that passed passes again, and a run that failed although none of
  // its changes is bad fails by chance again. For a run that had to fail, luck is unknown.
  const isSound = ({ members }: EvidentRun) =>
    members.every(
      (place) => !isBad[place]! && !conflicts[place]!.some((earlier) => members.includes(earlier - 1)),
    );
  for (const run of evidence.runs)
    if (run.last !== null && (run.passed || isSound(run))) luck[run.last]![run.attempt] = !run.passed;
  const disturbances = evidence.attempts.flatMap(
    ({ outcome, isByTests, concludedAt }, place): Disturbance[] =>
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

// The status of a test by its history. Each monitor that is on decides whether it is active, and why:
//
//   pass_on_retry          it passes and fails where nothing changed: pass-on-retry.ts
//   failure_rate_flaky     its failure rate is high, even at the low end of what the runs can mean
//   failure_count_flaky    it failed so many times
//   failure_rate_broken    the same rate, close to 100 %
//   failure_count_broken   the same count
//   changepoint            it passed, and since a certain commit it fails: broken.ts
//
//   healthy ──a flaky-type monitor fires──► flaky ──all of them resolve──► healthy
//      └──────a broken-type monitor fires──► broken (also from flaky) ──over──► flaky or healthy
//
// Broken outranks flaky: a person has to act now. A status that a person sets outranks both, and a muted
// monitor does not count. An active monitor stays active until it resolves, which takes more than not firing:
// otherwise a status would flap.
//
// Example. A test passed and failed on three commits of the last two weeks and is flaky. Then it fails on
// five commits of main in a row. The changepoint fires, the test is broken, and it is no longer quarantined:
// the cause of these failures is not the cause of its flakes. Five passes later the newest segment is
// healthy, and the test is flaky again.
//
// The time is given as `now`. The sentences stay true when they are read later: they name instants, not ages.

import { isRowUnlikely } from './broken.ts';
import type { TestCaseHistory } from '../history.ts';
import type { ResolvedHealthSettings } from '../settings.ts';
import { type HealthStatus, isMuted, type Mute } from '../status.ts';
import type { MonitorVerdict, ResolveConditions } from './monitor-type.ts';
import { classifyBy, type MonitorId, monitorIds, monitors, recoveryBy } from './monitors.ts';

type MonitorState = {
  readonly monitor: MonitorId;
  readonly isActive: boolean;
  /** A person muted it: it may be active and does not count. */
  readonly isMuted: boolean;
  /** The evidence, as the rest of a sentence; empty: the monitor is not active. */
  readonly evidence: string;
  /** Active, and certain enough for what happens without a person. */
  readonly isCertain: boolean;
};

export type ClassifiedBefore = {
  readonly mutes: readonly Mute[];
  /** The status that a person set. */
  readonly manualStatus: HealthStatus | null;
  /** Monitors that were active at the last classification. */
  readonly wasActive: readonly MonitorId[];
  /** It was quarantined automatically: it stays so for as long as it is flaky, otherwise quarantine would flap. */
  readonly wasQuarantined?: boolean;
};

export type Evaluation = {
  readonly status: { readonly value: HealthStatus; readonly reason: string };
  /** Every monitor that is on, in the order of `monitorIds`. */
  readonly monitors: readonly MonitorState[];
  /** Certainly flaky, and not failing permanently at present. */
  readonly mayAutoQuarantine: boolean;
  /**
   * Sources of the default branch: the test passed at the first and failed at the second. Empty: not known.
   * Null: the test is not broken.
   */
  readonly culprit: { readonly after: string; readonly upTo: string } | null;
  /** The same, from the last pass to the first failure if the test passed up to the one and failed from the other on. */
  readonly edge: { readonly after: string; readonly upTo: string } | null;
};

export function evaluate(
  history: TestCaseHistory,
  settings: ResolvedHealthSettings,
  before: ClassifiedBefore,
  now: number,
): Evaluation {
  const on = monitorIds.filter((id) => settings.monitors[id].isOn);
  const verdicts = new Map<MonitorId, MonitorVerdict>();
  for (const id of on) {
    const verdict = classifyBy(id, history, settings.monitors, before.wasActive.includes(id), now);
    if (verdict !== null) verdicts.set(id, verdict);
  }
  const states = on.map((monitor): MonitorState => {
    const verdict = verdicts.get(monitor);
    return {
      monitor,
      isActive: verdict !== undefined,
      isMuted: isMuted(before.mutes, monitor, now),
      evidence: verdict?.evidence ?? '',
      isCertain: verdict?.isCertain ?? false,
    };
  });
  const status = decideStatus(states, before.manualStatus);
  const located = [...verdicts.values()].find(({ culprit }) => culprit !== null);
  return {
    status,
    monitors: states,
    mayAutoQuarantine:
      status.value === 'flaky' &&
      (before.manualStatus === 'flaky' || before.wasQuarantined === true || isBeyondDoubt(states)) &&
      !isRowUnlikely(history),
    culprit: located?.culprit ?? null,
    edge: located?.edge ?? located?.culprit ?? null,
  };
}

function decideStatus(
  states: readonly MonitorState[],
  manualStatus: HealthStatus | null,
): { readonly value: HealthStatus; readonly reason: string } {
  if (manualStatus !== null)
    return { value: manualStatus, reason: `${capitalize(manualStatus)}: marked manually.` };
  const counting = states.filter((state) => state.isActive && !state.isMuted);
  const found = counting.find(({ monitor }) => monitors[monitor].says === 'broken') ?? counting[0];
  if (found !== undefined) {
    const value = monitors[found.monitor].says;
    return { value, reason: `${capitalize(value)}: ${found.evidence}.` };
  }
  const muted = states.filter((state) => state.isActive).map(({ monitor }) => monitor);
  if (muted.length > 0)
    return { value: 'healthy', reason: `Healthy: the active monitors are muted (${muted.join(', ')}).` };
  return { value: 'healthy', reason: 'Healthy: no monitor is active.' };
}

const capitalize = (value: HealthStatus): string => `${value[0]!.toUpperCase()}${value.slice(1)}`;

const isBeyondDoubt = (states: readonly MonitorState[]): boolean =>
  states.some(
    ({ isCertain, isMuted: muted, monitor }) => isCertain && !muted && monitors[monitor].says === 'flaky',
  );

/** What still makes a flaky test healthy. Null: it is not flaky by its history, or no number of runs ends it. */
export function findRecovery(
  history: TestCaseHistory,
  settings: ResolvedHealthSettings,
  before: ClassifiedBefore,
  now: number,
): ResolveConditions | null {
  const { status, monitors: states } = evaluate(history, settings, before, now);
  if (status.value !== 'flaky' || before.manualStatus !== null) return null;
  const active = states.filter(({ isActive, isMuted: muted }) => isActive && !muted);
  // All of them must end.
  const [first, ...others] = active.map(({ monitor }) =>
    recoveryBy(monitor, history, settings.monitors, now),
  );
  return others.length > 0 ? null : (first ?? null);
}

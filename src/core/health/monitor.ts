// What is a test, by what is remembered of it? Each monitor that is on says whether it is active, and why:
//
//   pass_on_retry          it passes and fails where nothing changed: pass-on-retry.ts
//   failure_rate_flaky     its failure rate is high, even at the low end of what the runs can mean
//   failure_count_flaky    it failed so many times
//   failure_rate_broken    the same rate, near to always
//   failure_count_broken   the same count
//   changepoint            it passed, and since a certain commit it fails: broken.ts
//
//   healthy ──a flaky-type monitor fires──► flaky ──all of them are over──► healthy
//      └──────a broken-type monitor fires──► broken (also from flaky) ──over──► flaky or healthy
//
// Broken outranks flaky: somebody has to act now. A person's word outranks both, and a muted monitor does not count. A
// monitor that was active stays so until it is over, which takes more than not firing: otherwise a status would flap.
//
// Example. A test passed and failed on three commits of the last two weeks and is flaky. Then it fails on five commits
// of main in a row. The changepoint fires, the test is broken, and it is not quarantined any more: whatever makes it
// fail now is not what made it flake. Five passes later the newest segment is healthy, and the test is flaky again.
//
// Time comes in as `now`. The sentences hold when they are read later: they name instants, not how long ago.

import { type BrokenView, isRowUnlikely, viewDefaultBranch } from './broken.ts';
import { dayMs, dayOf, type History } from './history.ts';
import { type PassOnRetryView, viewPassOnRetry } from './pass-on-retry.ts';
import {
  type FailureCountSettings,
  type FailureRateSettings,
  type HealthSettings,
  type MonitorId,
  monitorIds,
} from './settings.ts';
import { wilsonLower } from './statistics.ts';
import { type HealthStatus, isMuted, type Mute } from './status.ts';

type MonitorState = {
  readonly monitor: MonitorId;
  readonly isActive: boolean;
  /** A person muted it: it may be active and does not count. */
  readonly isMuted: boolean;
  /** What it saw, as the rest of a sentence; empty: it is not active. */
  readonly evidence: string;
};

export type JudgedBefore = {
  readonly mutes: readonly Mute[];
  /** What a person says it is. */
  readonly manualStatus: HealthStatus | null;
  /** Monitors that were active when the test was last judged. */
  readonly wasActive: readonly MonitorId[];
};

export type Evaluation = {
  readonly status: { readonly value: HealthStatus; readonly reason: string };
  /** Of every monitor that is on, in the order of `monitorIds`. */
  readonly monitors: readonly MonitorState[];
  /** Flaky, beyond doubt, and not failing for good just now. */
  readonly mayAutoQuarantine: boolean;
  /** Sources of the default branch: it passed at the first and failed at the second. Empty: not known. Null: not broken. */
  readonly culprit: { readonly after: string; readonly upTo: string } | null;
};

export function evaluate(
  history: History,
  settings: HealthSettings,
  before: JudgedBefore,
  now: number,
): Evaluation {
  const { monitors } = settings;
  const retry = viewPassOnRetry(history, monitors.pass_on_retry, now);
  const change = viewDefaultBranch(history, monitors.changepoint);
  const evidenceOf: { readonly [id in MonitorId]: (wasActive: boolean) => string | null } = {
    pass_on_retry: (wasActive) =>
      !retry.isOver && (retry.fires || wasActive)
        ? tellRetry(retry, monitors.pass_on_retry.windowDays)
        : null,
    failure_rate_flaky: (wasActive) => rateEvidence(history, monitors.failure_rate_flaky, wasActive, now),
    failure_count_flaky: (wasActive) => countEvidence(history, monitors.failure_count_flaky, wasActive, now),
    failure_rate_broken: (wasActive) => rateEvidence(history, monitors.failure_rate_broken, wasActive, now),
    failure_count_broken: (wasActive) =>
      countEvidence(history, monitors.failure_count_broken, wasActive, now),
    changepoint: () => (change.isBroken ? tellChange(change) : null),
  };
  const states = monitorIds
    .filter((id) => monitors[id].isOn)
    .map((monitor): MonitorState => {
      const evidence = evidenceOf[monitor](before.wasActive.includes(monitor));
      const isActive = evidence !== null;
      return { monitor, isActive, isMuted: isMuted(before.mutes, monitor, now), evidence: evidence ?? '' };
    });
  const status = statusOf(states, before.manualStatus);
  return {
    status,
    monitors: states,
    mayAutoQuarantine:
      status.value === 'flaky' &&
      (before.manualStatus === 'flaky' || isBeyondDoubt(states, retry)) &&
      !isRowUnlikely(history, change.failingInARow),
    culprit: monitors.changepoint.isOn ? change.culprit : null,
  };
}

export const isBroken = (monitor: MonitorId): boolean =>
  monitor === 'changepoint' || monitor === 'failure_rate_broken' || monitor === 'failure_count_broken';

function statusOf(
  states: readonly MonitorState[],
  manualStatus: HealthStatus | null,
): { readonly value: HealthStatus; readonly reason: string } {
  if (manualStatus !== null)
    return { value: manualStatus, reason: `${titleOf(manualStatus)}: a person marked it so.` };
  const counting = states.filter((state) => state.isActive && !state.isMuted);
  const found = counting.find(({ monitor }) => isBroken(monitor)) ?? counting[0];
  if (found !== undefined) {
    const value = isBroken(found.monitor) ? 'broken' : 'flaky';
    return { value, reason: `${titleOf(value)}: ${found.evidence}.` };
  }
  const muted = states.filter((state) => state.isActive).map(({ monitor }) => monitor);
  if (muted.length > 0)
    return { value: 'healthy', reason: `Healthy: what it shows is muted (${muted.join(', ')}).` };
  return { value: 'healthy', reason: 'Healthy: no monitor is active.' };
}

const titleOf = (value: HealthStatus): string => `${value[0]!.toUpperCase()}${value.slice(1)}`;

/** What the settings of a person call flaky is flaky enough; what we call so must be certain. */
function isBeyondDoubt(states: readonly MonitorState[], retry: PassOnRetryView): boolean {
  const counting = states.filter(
    ({ isActive, isMuted, monitor }) => isActive && !isMuted && !isBroken(monitor),
  );
  return counting.some(({ monitor }) => monitor !== 'pass_on_retry' || retry.isCertain);
}

type Window = { readonly runs: number; readonly failed: number };

/** The rings know instants. Where they do not reach back far enough, whole days are counted. */
export function windowOf(
  history: History,
  { branches, windowDays }: FailureRateSettings | FailureCountSettings,
  now: number,
): Window {
  const from = now - windowDays * dayMs;
  const runs = history.onDefault;
  if (branches.every((branch) => branch === 'default') && (runs[0]?.at ?? now) <= from) {
    const inside = runs.filter(
      ({ at, outcome, isSuspect }) => at > from && (outcome === 'passed' || !isSuspect),
    );
    return { runs: inside.length, failed: inside.filter(({ outcome }) => outcome === 'failed').length };
  }
  const counts = history.days.filter(
    ({ day, branchClass }) => day >= dayOf(from) && branches.includes(branchClass),
  );
  return {
    runs: counts.reduce((sum, count) => sum + count.runs, 0),
    failed: counts.reduce((sum, count) => sum + count.failed, 0),
  };
}

function rateEvidence(
  history: History,
  settings: FailureRateSettings,
  wasActive: boolean,
  now: number,
): string | null {
  const { runs, failed } = windowOf(history, settings, now);
  const rate = runs === 0 ? 0 : failed / runs;
  const isEnough = runs >= settings.runsMin;
  const isActive = wasActive
    ? runs > 0 && (!isEnough || rate >= settings.resolveBelow)
    : isEnough && wilsonLower(failed, runs) >= settings.rateMin;
  if (!isActive) return null;
  return `failed in ${failed} of ${runs} runs (${percent(rate)}) on ${placesText(settings.branches)} in ${daysText(settings.windowDays)}`;
}

function countEvidence(
  history: History,
  settings: FailureCountSettings,
  wasActive: boolean,
  now: number,
): string | null {
  const { failed } = windowOf(history, settings, now);
  const isQuiet = now - history.lastFailureAt >= settings.quietDays * dayMs;
  const isActive = failed >= settings.failuresMin || (wasActive && !isQuiet);
  if (!isActive) return null;
  return `failed ${times(failed)} on ${placesText(settings.branches)} in ${daysText(settings.windowDays)}`;
}

function tellRetry({ contradicted, verdicts, last }: PassOnRetryView, windowDays: number): string {
  const share = percent(contradicted / Math.max(verdicts, 1));
  const where = last === null ? '' : `, last on ${shortSource(last.source)} at ${instant(last.at)}`;
  return `passed and failed on the same commit ${times(contradicted)} in ${daysText(windowDays)} (${share} of ${verdicts} verdicts)${where}`;
}

function tellChange({ failed, sources, culprit }: BrokenView): string {
  const since = culprit === null || culprit.upTo === '' ? '' : ` since ${shortSource(culprit.upTo)}`;
  const before =
    culprit === null || culprit.after === '' ? '' : `, and passed up to ${shortSource(culprit.after)}`;
  const commits = sources === 1 ? '1 commit' : `${sources} commits`;
  return `fails on the default branch${since} (on ${failed} of ${commits})${before}`;
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
export const daysText = (days: number): string => (days === 1 ? 'a day' : `${days} days`);
const shortSource = (source: string): string =>
  /^[0-9a-f]{40,64}$/u.test(source) ? source.slice(0, 7) : source;
const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Two digits that say something: 0.17 %, 2 %, 85 %. */
function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}

export const placesText = (branches: FailureRateSettings['branches']): string =>
  branches.length === 1 && branches[0] === 'default'
    ? 'the default branch'
    : branches.length === 4
      ? 'all branches'
      : `branches of the class ${branches.join(', ')}`;

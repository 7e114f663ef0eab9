import type { History } from './history.ts';
import type { HealthSettings, MonitorId } from './settings.ts';
import type { HealthStatus, Mute } from './status.ts';

export type MonitorState = {
  readonly monitor: MonitorId;
  readonly isActive: boolean;
  /** A person muted it: it may be active and does not count. */
  readonly isMuted: boolean;
  /** What it saw, as the rest of a sentence; empty: nothing. */
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
  /** Of every monitor that is on, in the order of the settings. */
  readonly monitors: readonly MonitorState[];
  readonly mayAutoQuarantine: boolean;
  /** Sources on the default branch: it passed after the first, and was seen broken at the second. Null: not broken. */
  readonly culprit: { readonly after: string; readonly upTo: string } | null;
};

export function evaluate(
  history: History,
  settings: HealthSettings,
  before: JudgedBefore,
  now: number,
): Evaluation {
  const isQuiet = settings.monitors.pass_on_retry.quietDays * 86_400_000 < now && history.cleanPasses >= 0;
  return {
    status: { value: before.manualStatus ?? 'healthy', reason: isQuiet ? '' : ' ' },
    monitors: [],
    mayAutoQuarantine: false,
    culprit: null,
  };
}

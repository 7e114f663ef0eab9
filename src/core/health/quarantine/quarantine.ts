// Is a test quarantined, and is this failure of it excused? Quarantine applies to a test, an excuse to one
// failure. If a test flakes with a time-out and now fails with a wrong sum, it is quarantined, and the wrong
// sum is not excused: only a failure that resembles one that was contradicted before is known to be a flake.

import type { ResolvedHealthSettings } from '../settings.ts';
import type { HealthStatus } from '../status.ts';

export type QuarantineSetting = 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE' | 'NEVER_QUARANTINE';

export type QuarantineFacts = {
  readonly settings: ResolvedHealthSettings;
  readonly setting: QuarantineSetting;
  /** Milliseconds; from then on an override counts as AUTO_QUARANTINE. Null: it does not expire. */
  readonly expiresAt: number | null;
  readonly status: HealthStatus;
  /** The result of `evaluate`. */
  readonly mayAutoQuarantine: boolean;
};

export const isOverrideOver = (expiresAt: number | null, now: number): boolean =>
  expiresAt !== null && expiresAt <= now;

export function shouldQuarantine(facts: QuarantineFacts, now: number): boolean {
  const { settings, expiresAt, status, mayAutoQuarantine } = facts;
  if (!settings.quarantine.enabled) return false;
  const setting = isOverrideOver(expiresAt, now) ? 'AUTO_QUARANTINE' : facts.setting;
  if (setting !== 'AUTO_QUARANTINE') return setting === 'ALWAYS_QUARANTINE';
  return settings.quarantine.auto && status === 'flaky' && mayAutoQuarantine;
}

export type ExcuseFacts = {
  readonly isQuarantined: boolean;
  readonly setting: QuarantineSetting;
  /** One for each failed attempt of the run; '' for a failure that gives no reason. */
  readonly fingerprints: readonly string[];
  /** Fingerprints of this test's contradicted failures: flakeFingerprints(history). */
  readonly known: readonly string[];
};

/** A person's quarantine excuses all failures of the test; the automatic one excuses known failures only. */
export function isExcused({ isQuarantined, setting, fingerprints, known }: ExcuseFacts): boolean {
  if (!isQuarantined) return false;
  if (setting === 'ALWAYS_QUARANTINE') return true;
  return fingerprints.length > 0 && fingerprints.every((fingerprint) => known.includes(fingerprint));
}

// Is a test quarantined, and is this failure of it excused? Two questions: quarantine is of a test, and an excuse is of
// one failure. A test that flakes with a time-out and fails with a wrong sum is quarantined, and the wrong sum is not
// excused: only a failure that looks like one that was contradicted before is known to be the test's own fault.

import type { HealthSettings } from './settings.ts';
import type { HealthStatus } from './status.ts';

export type QuarantineSetting = 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE' | 'NEVER_QUARANTINE';

export type QuarantineFacts = {
  readonly settings: HealthSettings;
  readonly setting: QuarantineSetting;
  /** Milliseconds; from then on an override counts as AUTO_QUARANTINE. Null: it stays. */
  readonly expiresAt: number | null;
  readonly status: HealthStatus;
  /** What `evaluate` said. */
  readonly mayAutoQuarantine: boolean;
};

export const isOverrideOver = (expiresAt: number | null, now: number): boolean =>
  expiresAt !== null && expiresAt <= now;

export function quarantineOf(facts: QuarantineFacts, now: number): boolean {
  const { settings, expiresAt, status, mayAutoQuarantine } = facts;
  if (!settings.quarantine.enabled) return false;
  const setting = isOverrideOver(expiresAt, now) ? 'AUTO_QUARANTINE' : facts.setting;
  if (setting !== 'AUTO_QUARANTINE') return setting === 'ALWAYS_QUARANTINE';
  return settings.quarantine.auto && status === 'flaky' && mayAutoQuarantine;
}

export type ExcuseFacts = {
  readonly isQuarantined: boolean;
  readonly setting: QuarantineSetting;
  /** Of each failed attempt of the run; a failure that says nothing has the fingerprint ''. */
  readonly fingerprints: readonly string[];
  /** What this test showed when it was contradicted: flakeFingerprints(history). */
  readonly known: readonly string[];
};

/** A person who quarantines a test answers for all of its failures; the automatic answers for those it knows. */
export function isExcused({ isQuarantined, setting, fingerprints, known }: ExcuseFacts): boolean {
  if (!isQuarantined) return false;
  if (setting === 'ALWAYS_QUARANTINE') return true;
  return fingerprints.length > 0 && fingerprints.every((fingerprint) => known.includes(fingerprint));
}

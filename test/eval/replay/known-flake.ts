// The failures that a test is known to flake with, as the service's table of failures keeps them: it forgets less than a
// history, which holds the newest few.

import { hash } from 'node:crypto';
import { excusableFingerprints } from '#core/health/explained.ts';
import { type Fingerprint, fingerprintFailure } from '#core/health/fingerprint/fingerprint.ts';
import { createMessageReader } from '#core/health/fingerprint/known-message.ts';
import { findNewFlakes, type TestCaseHistory } from '#core/health/history.ts';
import { isExcused } from '#core/health/quarantine/quarantine.ts';
import type { ReportedFailure } from '#core/health/reported-case.ts';

const sha256 = (text: string): string => hash('sha256', text, 'hex');
/** Texts that are read once; more than differ in a replay at any time. */
const keptMax = 100_000;

const noReason: Fingerprint = { key: '', summary: '' };

/** One outage gives many tests the same text, which is read once. */
export function createFingerprinter(): (failure: ReportedFailure | undefined, name: string) => Fingerprint {
  const kept = new Map<string, Fingerprint>();
  return (failure, name) => {
    if (failure === undefined) return noReason;
    const text = `${failure.type}\0${failure.message}\0${failure.body}`;
    const key = text.includes(name) ? `${name}\n${text}` : text;
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= keptMax) kept.clear();
    const fingerprint = fingerprintFailure(failure, name, sha256);
    kept.set(key, fingerprint);
    return fingerprint;
  };
}

export type FlakeTable = {
  /** What its failures say, by fingerprint. */
  readonly summaries: Map<string, string>;
  /** Fingerprints of failures that were contradicted. */
  readonly flakes: Set<string>;
};

export const createFlakeTable = (): FlakeTable => ({ summaries: new Map(), flakes: new Set() });

export function learnFlakes(table: FlakeTable, before: TestCaseHistory, after: TestCaseHistory): void {
  for (const { fingerprint } of findNewFlakes(before, after)) table.flakes.add(fingerprint);
}

type ExcuseReader = (
  table: FlakeTable,
  history: TestCaseHistory,
  failure: ReportedFailure | undefined,
  name: string,
) => boolean;

/**
 * Would the answer to CI excuse this failure of a quarantined test? As src/db/health/quarantine-view.ts and
 * src/http/route/quarantine.ts answer.
 */
export function createExcuseReader(): ExcuseReader {
  let reader = createMessageReader(sha256);
  let asked = 0;
  return ({ flakes, summaries }, history, failure, name) => {
    if (++asked % keptMax === 0) reader = createMessageReader(sha256);
    const message = failure?.message || failure?.body || '';
    if (message === '') return true;
    const keys = excusableFingerprints(history).filter((key) => flakes.has(key));
    const known = { keys, summaries: keys.map((key) => summaries.get(key) ?? '') };
    return isExcused({
      isQuarantined: true,
      setting: 'AUTO_QUARANTINE',
      fingerprints: [message],
      known: reader.isKnown(message, name, known) ? [message] : [],
    });
  };
}

import type { ReportedFailure } from './reported-case.ts';

export type Fingerprint = {
  /** 16 characters of the hash, with the version of the rules in it. */
  readonly key: string;
  /** The failure with what changes from run to run masked, at most 200 characters. */
  readonly summary: string;
};

/** `hash` is SHA-256 in hexadecimal, or any hash of at least 16 characters. */
export function fingerprintOf(
  failure: ReportedFailure,
  testName: string,
  hash: (text: string) => string,
): Fingerprint {
  return { key: hash(failure.message + testName).slice(0, 16), summary: failure.message.slice(0, 200) };
}

// Is a failure that is told by its text alone one that the test is known to flake with? Uploaders that ask before a run
// is called failed tell the message, or the message with its stack trace, and not the type that a report has beside it.
// So the text is read both ways, and where its fingerprint is not known, what it says is compared: `expected <number>`
// is what was summed up as `AssertionError: expected <number>`. What is not recognised is not excused.

import { fingerprintOf } from './fingerprint.ts';

export type KnownFlakes = {
  /** Keys of fingerprints. */
  readonly keys: readonly string[];
  readonly summaries: readonly string[];
};

export function isKnownMessage(
  text: string,
  testName: string,
  { keys, summaries }: KnownFlakes,
  hash: (text: string) => string,
): boolean {
  const readings = [
    fingerprintOf({ type: '', message: text, body: '' }, testName, hash),
    fingerprintOf({ type: '', message: '', body: text }, testName, hash),
  ];
  return readings.some(
    ({ key, summary }) =>
      keys.includes(key) || summaries.some((known) => known === summary || isTyped(known, summary)),
  );
}

/** Whether `known` is `summary` behind the name of a type; a long one is cut at its end. */
function isTyped(known: string, summary: string): boolean {
  const [, said] = /^[\w.$:\\-]{1,200}: (.*)$/su.exec(known) ?? [];
  if (said === undefined || said === '') return false;
  return said.endsWith('…') ? summary.startsWith(said.slice(0, -1)) : said === summary;
}

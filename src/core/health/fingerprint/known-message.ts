// Is a failure, given by its text alone, one that the test is known to flake with? An uploader that asks
// before a run is marked as failed sends the message, or the message with its stack trace, without the type
// that a report also has. So the text is read both ways, and if its fingerprint is not known, the summaries
// are compared: `expected <number>` matches the summary `AssertionError: expected <number>`. A failure that
// is not recognized is not excused.

import { type Fingerprint, fingerprintFailure } from './fingerprint.ts';

export type KnownFlakes = {
  /** Keys of fingerprints. */
  readonly keys: readonly string[];
  readonly summaries: readonly string[];
};

/** For many failures: one outage gives many tests the same text, which is read once. */
export function createMessageReader(hash: (text: string) => string) {
  const kept = new Map<string, Fingerprint>();
  const read = (text: string, testName: string, isBody: boolean): Fingerprint => {
    const name = text.includes(testName) ? testName : '';
    const key = `${isBody ? 'b' : 'm'}${name}\n${text}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const failure = isBody ? { type: '', message: '', body: text } : { type: '', message: text, body: '' };
    const fingerprint = fingerprintFailure(failure, name, hash);
    kept.set(key, fingerprint);
    return fingerprint;
  };
  return {
    isKnown: (text: string, testName: string, { keys, summaries }: KnownFlakes): boolean =>
      (keys.length > 0 || summaries.length > 0) &&
      [false, true].some((isBody) => {
        const { key, summary } = read(text, testName, isBody);
        return keys.includes(key) || summaries.some((known) => known === summary || isTyped(known, summary));
      }),
  };
}

export type MessageReader = ReturnType<typeof createMessageReader>;

/** Whether `known` is `summary` after the name of a type; a long one is cut at its end. */
function isTyped(known: string, summary: string): boolean {
  const [, said] = /^[\w.$:\\-]{1,200}: (.*)$/su.exec(known) ?? [];
  if (said === undefined || said === '') return false;
  return said.endsWith('…') ? summary.startsWith(said.slice(0, -1)) : said === summary;
}

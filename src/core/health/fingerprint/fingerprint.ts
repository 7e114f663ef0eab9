// Which failures are the same? Whatever changes from run to run is masked, and the rest is hashed. Two
// failures with one fingerprint have, as far as a text can show, one cause: a quarantine excuses failures
// with known fingerprints, and a test's page counts by fingerprint.
//
//   1. Clean: ANSI codes and control characters are removed, the text is normalized (NFC), a long text keeps
//      both ends.
//   2. Split: the type; the message, or the first line of the body if the message gives no reason; the stack
//      frames.
//   3. Mask, from left to right, each place by the first rule that fits: URLs, ids, dates, times, hashes,
//      paths of temporary folders, numbers (fingerprint-mask.ts). Equal values get equal masks: `<1>` and
//      `<1>`.
//   4. Hash: the type, the first lines of the masked message, and the topmost frames of the repository's own
//      files, by file and function without lines. The hash covers all of these, because merging two failures
//      is worse than splitting one: merged, a quarantine may excuse a defect; split, a person checks one
//      failure too many.
//
// Example. `Timeout of 5000ms exceeded at http://127.0.0.1:43521/` and `Timeout of 5003ms exceeded at
// http://127.0.0.1:50112/` are both `Timeout of <duration> exceeded at <url>`.
//
// Every step walks over the text a bounded number of times, whatever the text is. A change of the rules
// changes the version, so that old and new fingerprints never mix.

import { extractFrames } from './fingerprint-frame.ts';
import { maskText } from './fingerprint-mask.ts';
import type { ReportedFailure } from '../reported-case.ts';

export type Fingerprint = {
  /** 16 characters of the hash; the version of the rules is in it. */
  readonly key: string;
  /** The failure with what changes from run to run masked, at most 200 characters. */
  readonly summary: string;
};

const version = 1;
/** Of each end of a text. */
const endMax = 8 * 1_024;
const summaryMax = 200;
const linesMax = 3;
const typeMax = 200;
/** Longest text of the masked lines: a longer reason is a dump. */
const reasonMax = 768;

/** `hash` is SHA-256 in hexadecimal, or any other of at least 16 characters. */
export function fingerprintFailure(
  failure: ReportedFailure,
  testName: string,
  hash: (text: string) => string,
): Fingerprint {
  const body = cleanText(failure.body);
  const message = chooseMessage(cleanText(failure.message), body, testName);
  const type = detectErrorType(cleanText(failure.type.slice(0, typeMax)).trim(), message);
  const reason = maskText(firstLines(message));
  const frames = extractFrames(body);
  const shown = reason === '' ? (frames[0] ?? '') : reason;
  const hasType = type === '' || shown.startsWith(type);
  return {
    key: hash([`v${version}`, type, reason, ...frames].join('\n')).slice(0, 16),
    summary: shortenToSummary(hasType ? shown : `${type}: ${shown}`),
  };
}

/** Cuts between characters, never within a surrogate pair. */
function shortenToSummary(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  if (line.length <= summaryMax) return line === '' ? '(no message)' : line;
  return `${line.slice(0, summaryMax - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

/** Colours and titles: escape sequences that a terminal interprets. */
const escapes = new RegExp(
  String.raw`\u001b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,512}(?:\u0007|\u001b\\)|[@-Z\\-_])`,
  'gu',
);
const controls = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]`, 'gu');

function cleanText(text: string): string {
  const bounded = text.length <= 2 * endMax ? text : `${text.slice(0, endMax)}\n${text.slice(-endMax)}`;
  return bounded
    .replaceAll(/\r\n?/gu, '\n')
    .replaceAll(escapes, '')
    .replaceAll(controls, '')
    .toWellFormed()
    .normalize('NFC');
}

/** Texts that a reporter puts where a reason should be. */
const empty =
  /^(?:failed|failure|error|test failed|exited with (?:error )?code \d{1,10}|null|undefined)[.!]?$/iu;

function chooseMessage(message: string, body: string, testName: string): string {
  const said = message.trim();
  if (said !== '' && said !== testName.trim() && !empty.test(said)) return said;
  const lines = body.split('\n').map((line) => line.trim());
  const found = lines.find((line) => line !== '' && line !== testName.trim() && !empty.test(line));
  return found ?? said;
}

/** The type that a runtime writes before a message, such as `java.lang.IllegalStateException: no room`. */
const leadingType = /^([A-Za-z_][\w.$:]{0,150})/u;

const isType = /(?:Error|Exception|Failure|Panic|Timeout):?$/u;

function detectErrorType(type: string, message: string): string {
  if (type !== '') return maskText(type);
  const typeName = leadingType.exec(message)?.[1] ?? '';
  return isType.test(typeName) ? typeName.replace(/:$/u, '') : '';
}

/** Code frames and diffs follow after the first lines, and those change with every edit of the file. */
function firstLines(message: string): string {
  const lines: string[] = [];
  for (const line of message.split('\n')) {
    const text = line.trim();
    if (text === '') continue;
    lines.push(text);
    if (lines.length === linesMax) break;
  }
  return lines.join('\n').slice(0, reasonMax).toWellFormed();
}

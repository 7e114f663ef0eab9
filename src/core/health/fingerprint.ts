// Which failures are the same? What changes from run to run is masked, and what is left is hashed. Two failures with one
// fingerprint have, as far as a text can tell, one cause: a quarantine excuses those that it knows, and a test's page
// counts by it.
//
//   1. Cleaned: ANSI codes and control characters go, the text is composed (NFC), of a long one both ends stay.
//   2. Split: the type; the message, or the first line of the body where the message says nothing; the stack frames.
//   3. Masked, from left to right, each place by the first that fits: addresses, ids, dates, times, hashes, paths of
//      temporary folders, numbers (fingerprint-mask.ts). The same value twice is the same mask twice: `<1>` and `<1>`.
//   4. Hashed: the type, the first lines of the masked message, and the topmost frames of the repository's own files, by
//      file and function without lines. All of them: where two failures are taken for one, a quarantine may excuse a
//      defect; where one is taken for two, somebody looks once too often.
//
// Example. `Timeout of 5000ms exceeded at http://127.0.0.1:43521/` and `Timeout of 5003ms exceeded at
// http://127.0.0.1:50112/` are both `Timeout of <duration> exceeded at <url>`.
//
// Every step walks over the text a bounded number of times, whatever the text is. A change of the rules changes the
// version, so that old and new fingerprints never mix.

import { framesOf } from './fingerprint-frame.ts';
import { maskText } from './fingerprint-mask.ts';
import type { ReportedFailure } from './reported-case.ts';

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
/** Of the lines that are masked: a reason that is longer is a dump. */
const reasonMax = 768;

/** `hash` is SHA-256 in hexadecimal, or any other of at least 16 characters. */
export function fingerprintOf(
  failure: ReportedFailure,
  testName: string,
  hash: (text: string) => string,
): Fingerprint {
  const body = cleanText(failure.body);
  const message = messageOf(cleanText(failure.message), body, testName);
  const type = typeOf(cleanText(failure.type.slice(0, typeMax)).trim(), message);
  const reason = maskText(firstLines(message));
  const frames = framesOf(body);
  const shown = reason === '' ? (frames[0] ?? '') : reason;
  const hasType = type === '' || shown.startsWith(type);
  return {
    key: hash([`v${version}`, type, reason, ...frames].join('\n')).slice(0, 16),
    summary: summaryOf(hasType ? shown : `${type}: ${shown}`),
  };
}

/** Cut between characters, never within a pair. */
function summaryOf(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  if (line.length <= summaryMax) return line === '' ? 'It says nothing.' : line;
  return `${line.slice(0, summaryMax - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

/** Colours and titles that a terminal would take for itself. */
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

/** Words that a reporter puts where a reason should be. */
const empty =
  /^(?:failed|failure|error|test failed|exited with (?:error )?code \d{1,10}|null|undefined)[.!]?$/iu;

function messageOf(message: string, body: string, testName: string): string {
  const said = message.trim();
  if (said !== '' && said !== testName.trim() && !empty.test(said)) return said;
  const lines = body.split('\n').map((line) => line.trim());
  const found = lines.find((line) => line !== '' && line !== testName.trim() && !empty.test(line));
  return found ?? said;
}

/** As a runtime writes it in front of a message, such as `java.lang.IllegalStateException: no room`. */
const leadingType = /^([A-Za-z_][\w.$:]{0,150})/u;

const isType = /(?:Error|Exception|Failure|Panic|Timeout):?$/u;

function typeOf(type: string, message: string): string {
  if (type !== '') return maskText(type);
  const word = leadingType.exec(message)?.[1] ?? '';
  return isType.test(word) ? word.replace(/:$/u, '') : '';
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

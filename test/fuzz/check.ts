// What must hold for every input, whatever is in it.

import type { ReportedCase } from '#core/health/reported-case.ts';
import { readContent } from '#report/bundle/content.ts';
import { defaultReportLimits } from '#report/limits.ts';
import { openReport } from '#report/bundle/report.ts';
import type { Input } from './mutate.ts';

export type Finding = { readonly number: number; readonly what: string };

export type Checked = {
  readonly msPerMib: number;
  readonly isCrash: boolean;
  readonly isSilent: boolean;
  readonly findings: readonly Finding[];
};

/** An input smaller than this may take as long as one of this size. */
const leastMib = 1 / 4;
const msPerMibMax = 1_000;
const { nameLengthMax, textBytesMax } = defaultReportLimits;
/** Each of ten failures has room for a little, however much the others take. */
const textMax = textBytesMax + 10 * 4 * 1024;

/** A slow reading is repeated: a collection of garbage or a busy machine is not the input's, and is not slow every time. */
const repeats = 4;

export async function checkInput(input: Input, isChunked: boolean): Promise<Checked> {
  const { number, bytes } = input;
  const whats: string[] = [];
  let isCrash = false;
  let read: Read = { cases: 0, problems: 1, shape: '', whats: [] };
  let msPerMib = Infinity;
  try {
    for (let times = 0; times === 0 || (times <= repeats && msPerMib > msPerMibMax); times++) {
      const before = process.threadCpuUsage();
      read = await readInput(input);
      const { user, system } = process.threadCpuUsage(before);
      const ms = (user + system) / 1_000;
      msPerMib = Math.min(msPerMib, ms / Math.max(leastMib, bytes.length / 1024 ** 2));
    }
    whats.push(...read.whats);
    if (msPerMib > msPerMibMax) whats.push(`takes ${msPerMib.toFixed(0)} ms per MiB`);
  } catch (error) {
    isCrash = true;
    msPerMib = 0;
    whats.push(`throws ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  const isSilent = read.cases === 0 && read.problems === 0;
  if (isSilent) whats.push('has no cases and says nothing');
  if (isChunked && !isCrash && !input.isContent) {
    const size = 1 + (number % 97);
    if (reportOf(bytes, size).shape !== read.shape) whats.push(`is read differently in pieces of ${size}`);
  }
  return { msPerMib, isCrash, isSilent, findings: whats.map((what) => ({ number, what })) };
}

async function readInput({ isContent, bytes }: Input): Promise<Read> {
  return isContent ? contentOf(bytes) : reportOf(bytes, bytes.length);
}

type Read = {
  readonly cases: number;
  readonly problems: number;
  readonly shape: string;
  readonly whats: readonly string[];
};

function reportOf(bytes: Buffer, pieceSize: number): Read {
  const cases: ReportedCase[] = [];
  const report = openReport('f', (found) => cases.push(found));
  for (let at = 0; at < bytes.length; at += pieceSize) report.write(bytes.subarray(at, at + pieceSize));
  const summary = report.end();
  const whats = cases.flatMap(wrongWith);
  if (summary.cases !== cases.length) whats.push('counts other cases than it gives');
  if (cases.length > elementsIn(bytes, summary.format)) whats.push('has more cases than elements');
  return {
    cases: cases.length,
    problems: summary.problems.length,
    shape: JSON.stringify([summary, cases]),
    whats,
  };
}

async function contentOf(bytes: Buffer): Promise<Read> {
  const whats: string[] = [];
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const { cases, problems } = await readContent(
    pieces(),
    { onCase: (found) => void whats.push(...wrongWith(found)) },
    { bytesMax: 16 * 1024 * 1024 },
  );
  return { cases, problems: problems.length, shape: '', whats };
}

// oxlint-disable-next-line eslint/no-control-regex
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F]/;

function wrongWith(found: ReportedCase): string[] {
  const wrong: string[] = [];
  const { name, classname, parent, file, variant, outcome, attempts, durationMs, failures } = found;
  for (const text of [name, classname, parent, file, variant]) {
    if (text.length > nameLengthMax) wrong.push('gives a name that is too long');
    if (!text.isWellFormed() || forbidden.test(text)) wrong.push('gives a name that cannot be stored');
  }
  const texts = failures.flatMap(({ type, message, body }) => [type, message, body]);
  if (texts.reduce((sum, text) => sum + text.length, 0) > textMax)
    wrong.push('gives texts that are too long');
  if (texts.some((text) => !text.isWellFormed() || forbidden.test(text)))
    wrong.push('gives a text that cannot be stored');
  if (failures.length > 10) wrong.push('gives too many failures');
  if ((outcome === 'skipped') !== (attempts === 0)) wrong.push(`was ${outcome} in ${attempts} attempts`);
  if (durationMs !== null && !(durationMs >= 0 && Number.isFinite(durationMs)))
    wrong.push('took no time there is');
  return wrong;
}

// oxlint-disable-next-line eslint/no-control-regex
const caseElement = /<(?:[^\s<>/]{0,64}:)?(?:testcase|test-case|test)(?=[\u0000-\u0020<>/]|$)/g;

/** At most so many cases there can be. */
function elementsIn(bytes: Buffer, format: string): number {
  const text = bytes.toString('latin1');
  if (format === 'ctrf') return text.split('{').length - 1;
  // Nobody says which encoding it is read in: the one with most of them bounds the others.
  const readings = [text, ...[0, 1].flatMap((from) => wideReadings(bytes.subarray(from)))];
  const counts = readings.map((reading) => reading.match(caseElement)?.length ?? 0);
  return Math.max(...counts);
}

function wideReadings(bytes: Buffer): readonly string[] {
  const even = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  return [even.toString('utf16le'), even.swap16().toString('utf16le')];
}

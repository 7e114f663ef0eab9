// One report as its bytes come, in constant memory: what format it is, is seen by its first bytes. Never throws, and
// never gives nothing without saying why: a report without a test always has a problem.

import { TextDecoder } from 'node:util';
import type { ReportedCase, UploadProblem } from '#core/health/reported-case.ts';
import { CtrfReader } from './ctrf.ts';
import { JunitReader, type XmlFormat } from './junit.ts';
import { defaultReportLimits, type ReportLimits } from './limits.ts';
import { Problems } from './problem.ts';
import type { TextMender } from './text.ts';
import { XmlScanner } from './xml-scanner.ts';

export type ReportFormat = XmlFormat | 'ctrf';

export type ReportSummary = {
  readonly format: ReportFormat;
  /** Cases that were handed on. */
  readonly cases: number;
  /** False: it was cut off, or something else is such that tests may be missing. */
  readonly isComplete: boolean;
  readonly problems: readonly UploadProblem[];
};

export type Report = {
  readonly write: (bytes: Uint8Array) => void;
  readonly end: () => ReportSummary;
};

/** A reader of one format. */
type FormatReader = {
  readonly write: (bytes: Uint8Array) => void;
  /** Adds its problems and says what it found. */
  readonly end: () => { readonly format: ReportFormat; readonly cases: number; readonly isComplete: boolean };
};

/** `file` is only named in problems. */
export function openReport(
  file: string,
  onCase: (found: ReportedCase) => void,
  limits: Partial<ReportLimits> = {},
): Report {
  const problems = new Problems(file);
  const mender: TextMender = { fallback: null, mended: 0 };
  const all = { ...defaultReportLimits, ...limits };
  const open = (isJson: boolean): FormatReader =>
    isJson ? new CtrfReader(onCase, all, problems, mender) : openXml(onCase, all, problems, mender);
  const sniffer = new Sniffer(open);
  return {
    write: (bytes) => sniffer.write(bytes),
    end: () => {
      const reader = sniffer.end();
      if (reader === null) problems.add('EMPTY');
      const found = reader?.end() ?? { format: 'unknown' as const, cases: 0, isComplete: false };
      if (mender.mended > 0) problems.add('REPAIRED_BYTES', undefined, mender.mended);
      const isComplete = found.isComplete && !problems.isLossy;
      return { ...found, isComplete, problems: problems.list() };
    },
  };
}

function openXml(
  onCase: (found: ReportedCase) => void,
  limits: ReportLimits,
  problems: Problems,
  mender: TextMender,
): FormatReader {
  const reader = new JunitReader(onCase, limits, problems, mender);
  const scanner = new XmlScanner(reader, limits.attributeBytesMax);
  return {
    write: (bytes) => scanner.write(bytes),
    end: () => {
      scanner.end();
      const { format, cases, root, declaredTests } = reader;
      const isComplete = !scanner.isCut && !reader.isCut;
      if (format === 'unknown') problems.add('NOT_A_REPORT', refusalOf(root));
      else {
        if (!isComplete) problems.add('TRUNCATED');
        if (cases === 0 && declaredTests > 0) problems.add('CASES_MISSING');
        else if (cases === 0) problems.add('NO_TESTS');
      }
      return { format, cases, isComplete: isComplete && format !== 'unknown' };
    },
  };
}

const otherRoots: Readonly<Record<string, string>> = {
  TestRun: 'This is a TRX file. Have the tests write JUnit XML, such as by `dotnet test --logger junit`.',
  coverage: 'This is a coverage report. Upload the report of the tests, as JUnit XML or CTRF JSON.',
  checkstyle: 'This is the report of a linter. Upload the report of the tests, as JUnit XML or CTRF JSON.',
  html: 'This is a web page. Upload the report of the tests, as JUnit XML or CTRF JSON.',
  robot: 'This is the native output of Robot Framework. Have it write JUnit XML by `--xunit`.',
};

function refusalOf(root: string): string | undefined {
  if (root === '') return undefined;
  if (Object.hasOwn(otherRoots, root)) return otherRoots[root];
  const shown = /^[\w.:-]{1,64}$/.test(root) ? ` It begins with \`${root}\`.` : '';
  return `This is XML, but no test report that can be read.${shown} Upload JUnit XML or CTRF JSON.`;
}

/** Bytes that are looked at to tell what they are. */
const sniffMax = 1024;

/** Passes bytes to the reader that fits the first of them; UTF-16 becomes UTF-8 on the way. */
class Sniffer {
  readonly #open: (isJson: boolean) => FormatReader;
  #reader: FormatReader | null = null;
  #first = Buffer.alloc(0);
  #wide: TextDecoder | null = null;

  constructor(open: (isJson: boolean) => FormatReader) {
    this.#open = open;
  }

  write(bytes: Uint8Array): void {
    if (this.#reader !== null) {
      this.#pass(bytes);
      return;
    }
    this.#first = Buffer.concat([this.#first, bytes]);
    if (this.#first.length >= sniffMax) this.#begin();
  }

  /** Null: there was nothing. */
  end(): FormatReader | null {
    if (this.#reader === null) this.#begin();
    if (this.#wide !== null) this.#reader?.write(Buffer.from(this.#wide.decode()));
    return this.#reader;
  }

  #begin(): void {
    const first = this.#first;
    this.#first = Buffer.alloc(0);
    this.#wide = wideDecoderOf(first);
    let from = this.#wide === null && first.subarray(0, 3).equals(utf8Mark) ? 3 : 0;
    const step = this.#wide === null ? 1 : 2;
    if (this.#wide !== null) while (from + 1 < first.length && isBlankPair(first, from)) from += step;
    else while (from < first.length && isBlank(first[from]!)) from++;
    if (from >= first.length) {
      // Nothing but space so far: the rest decides.
      this.#wide = null;
      return;
    }
    const begin = this.#wide === null ? first[from]! : first[from]! || first[from + 1]!;
    this.#reader = this.#open(begin === 0x7b);
    this.#pass(first.subarray(from));
  }

  #pass(bytes: Uint8Array): void {
    if (this.#wide === null) this.#reader!.write(bytes);
    else this.#reader!.write(Buffer.from(this.#wide.decode(bytes, { stream: true })));
  }
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

const isBlank = (byte: number): boolean => byte <= 32;

const isBlankPair = (bytes: Buffer, at: number): boolean => {
  const pair = bytes.readUInt16LE(at);
  return (pair & 0xff) + (pair >> 8) <= 32 || pair === 0xfeff || pair === 0xfffe;
};

/** By its mark, or by the zeros beside the first characters. */
function wideDecoderOf(bytes: Buffer): TextDecoder | null {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le');
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be');
  if (b === 0 && d === 0 && a !== 0 && c !== 0 && c !== undefined) return new TextDecoder('utf-16le');
  if (a === 0 && c === 0 && b !== 0 && d !== 0 && d !== undefined) return new TextDecoder('utf-16be');
  return null;
}

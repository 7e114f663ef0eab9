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

/** Bytes that tell the encoding. */
const sniffMin = 4;

/** Passes bytes to the reader that fits the first that is no space; UTF-16 becomes UTF-8 on the way. */
class Sniffer {
  readonly #open: (isJson: boolean) => FormatReader;
  #reader: FormatReader | null = null;
  /** Null: the encoding is known. */
  #first: Buffer | null = Buffer.alloc(0);
  #wide: TextDecoder | null = null;

  constructor(open: (isJson: boolean) => FormatReader) {
    this.#open = open;
  }

  write(bytes: Uint8Array): void {
    if (this.#first === null) {
      this.#decode(bytes);
      return;
    }
    this.#first = Buffer.concat([this.#first, bytes]);
    if (this.#first.length >= sniffMin) this.#begin();
  }

  /** Null: there was nothing. */
  end(): FormatReader | null {
    if (this.#first !== null) this.#begin();
    if (this.#wide !== null) this.#pass(Buffer.from(this.#wide.decode()));
    return this.#reader;
  }

  #begin(): void {
    const first = this.#first!;
    this.#first = null;
    this.#wide = wideDecoderOf(first);
    const isMarked = this.#wide === null && first.subarray(0, 3).equals(utf8Mark);
    this.#decode(isMarked ? first.subarray(3) : first);
  }

  #decode(bytes: Uint8Array): void {
    this.#pass(this.#wide === null ? bytes : Buffer.from(this.#wide.decode(bytes, { stream: true })));
  }

  #pass(bytes: Uint8Array): void {
    let from = 0;
    if (this.#reader === null) {
      while (from < bytes.length && bytes[from]! <= 32) from++;
      if (from === bytes.length) return;
      this.#reader = this.#open(bytes[from] === 0x7b);
    }
    this.#reader.write(from === 0 ? bytes : bytes.subarray(from));
  }
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

/** By its mark, or by the zeros beside the first characters. */
function wideDecoderOf(bytes: Buffer): TextDecoder | null {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le');
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be');
  if (b === 0 && d === 0 && a !== 0 && c !== 0) return new TextDecoder('utf-16le');
  if (a === 0 && c === 0 && b !== 0 && d !== undefined && d !== 0) return new TextDecoder('utf-16be');
  return null;
}

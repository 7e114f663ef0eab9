// Reads one report as its bytes arrive, in constant memory; its first bytes show its format. Never throws,
// and never returns nothing without a reason: a report without a test always has a problem.

import { TextDecoder } from 'node:util';
import type { ReportedCase, UploadProblem } from '#core/health/reported-case.ts';
import { CtrfReader } from '../format/ctrf.ts';
import { JunitReader, type XmlFormat } from '../format/junit.ts';
import { defaultReportLimits, type ReportLimits } from '../limits.ts';
import { Problems } from '../problem.ts';
import type { TextDecoding } from '../format/text.ts';
import { XmlScanner } from '../format/xml-scanner.ts';

export type ReportFormat = XmlFormat | 'ctrf';

export type ReportSummary = {
  readonly format: ReportFormat;
  /** Cases that were passed on. */
  readonly cases: number;
  /** False: the report was cut off, or tests may be missing for another reason. */
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
  /** Adds its problems and returns what it found. */
  readonly end: () => { readonly format: ReportFormat; readonly cases: number; readonly isComplete: boolean };
};

/** `file` is only named in problems. */
export function openReport(
  file: string,
  onCase: (found: ReportedCase) => void,
  limits: Partial<ReportLimits> = {},
): Report {
  const problems = new Problems(file);
  const decoding: TextDecoding = { fallback: null, repaired: 0 };
  const all = { ...defaultReportLimits, ...limits };
  const open = (isJson: boolean): FormatReader =>
    isJson ? new CtrfReader(onCase, all, problems, decoding) : openXml(onCase, all, problems, decoding);
  const sniffer = new Sniffer(open);
  return {
    write: (bytes) => sniffer.write(bytes),
    end: () => {
      const reader = sniffer.end();
      if (reader === null) problems.add('EMPTY');
      const found = reader?.end() ?? { format: 'unknown' as const, cases: 0, isComplete: false };
      if (decoding.repaired > 0) problems.add('REPAIRED_BYTES', undefined, decoding.repaired);
      const isComplete = found.isComplete && !problems.isLossy;
      return { ...found, isComplete, problems: problems.list() };
    },
  };
}

function openXml(
  onCase: (found: ReportedCase) => void,
  limits: ReportLimits,
  problems: Problems,
  decoding: TextDecoding,
): FormatReader {
  const reader = new JunitReader(onCase, limits, problems, decoding);
  const scanner = new XmlScanner(reader, limits.attributeBytesMax);
  return {
    write: (bytes) => scanner.write(bytes),
    end: () => {
      scanner.end();
      const { format, cases, root, declaredTests } = reader;
      const isComplete = !scanner.isCut && !reader.isCut;
      if (format === 'unknown') problems.add('NOT_A_REPORT', explainRefusedRoot(root));
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
  TestRun: 'The file is a TRX file. Write JUnit XML instead, for example with `dotnet test --logger junit`.',
  coverage: 'The file is a coverage report. Upload the test report as JUnit XML or CTRF JSON.',
  checkstyle: 'The file is the report of a linter. Upload the test report as JUnit XML or CTRF JSON.',
  html: 'The file is a web page. Upload the test report as JUnit XML or CTRF JSON.',
  robot: 'The file is the native output of Robot Framework. Write JUnit XML with `--xunit`.',
};

function explainRefusedRoot(root: string): string | undefined {
  if (root === '') return undefined;
  if (Object.hasOwn(otherRoots, root)) return otherRoots[root];
  const shown = /^[\w.:-]{1,64}$/.test(root) ? ` Its root element is \`${root}\`.` : '';
  return `The file is XML, but not a supported test report.${shown} Upload JUnit XML or CTRF JSON.`;
}

/** The number of bytes that show the encoding. */
const sniffMin = 4;

/** Passes bytes to the reader that fits the first non-space byte; UTF-16 becomes UTF-8 on the way. */
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

  /** Null: the report is empty. */
  end(): FormatReader | null {
    if (this.#first !== null) this.#begin();
    if (this.#wide !== null) this.#pass(Buffer.from(this.#wide.decode()));
    return this.#reader;
  }

  #begin(): void {
    const first = this.#first!;
    this.#first = null;
    this.#wide = detectUtf16Decoder(first);
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

/** By its byte order mark, or by the zeros beside the first characters. */
function detectUtf16Decoder(bytes: Buffer): TextDecoder | null {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le');
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be');
  if (b === 0 && d === 0 && a !== 0 && c !== 0) return new TextDecoder('utf-16le');
  if (a === 0 && c === 0 && b !== 0 && d !== undefined && d !== 0) return new TextDecoder('utf-16be');
  return null;
}

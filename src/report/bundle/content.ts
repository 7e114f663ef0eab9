// The content of an upload is detected from its bytes, not from its name: `bundle.tar.zstd`, or one report,
// either of them plain or compressed. The bytes are read in one pass and constant memory; reading stops if
// the content is too large or too dense, and what was read until then counts.

import type { UploadProblem } from '#core/health/reported-case.ts';
import { BundleReader, type ContentHandlers } from './bundle.ts';
import { detectCompression, decompress, type Decompressed } from './decompress.ts';
import { defaultContentLimits, type ContentLimits } from '../limits.ts';
import { openReport } from './report.ts';
import { parseHeader } from './tar.ts';

export type { ContentHandlers };

export type ContentSummary = {
  readonly form: 'bundle' | 'report';
  /** Reports that were read, with or without cases. */
  readonly reports: number;
  readonly cases: number;
  /** False: something was cut off or left out, so tests may be missing. */
  readonly isComplete: boolean;
  /** At most 500; if there are more, the last one gives their number. */
  readonly problems: readonly UploadProblem[];
};

const problemsMax = 500;
/** A tar archive is recognized by its first header. */
const sniffMax = 512;

/** Never throws because of the content; errors of `bytes` or of a handler are passed on. */
export async function readContent(
  bytes: AsyncIterable<Uint8Array>,
  handlers: ContentHandlers,
  limits: Partial<ContentLimits> = {},
): Promise<ContentSummary> {
  const all = { ...defaultContentLimits, ...limits };
  const { first, rest } = await readFirst(bytes);
  const compression = detectCompression(first);
  const plain = new PlainReader(handlers, all);
  const ending =
    compression === null
      ? await pass(rest, (piece) => plain.write(piece), all.bytesMax)
      : await decompress(compression, rest, (piece) => plain.write(piece), all);
  return plain.end(ending);
}

/** The first bytes, and an iterable of all bytes from the start. */
async function readFirst(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly first: Buffer; readonly rest: AsyncIterable<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  let isOver = false;
  while (!isOver && first.length < 4) {
    const next = await source.next();
    if (next.done === true) isOver = true;
    else first = Buffer.concat([first, next.value]);
  }
  async function* again(): AsyncGenerator<Uint8Array> {
    try {
      yield first;
      if (!isOver) yield* { [Symbol.asyncIterator]: () => source };
    } finally {
      await source.return?.();
    }
  }
  return { first, rest: again() };
}

async function pass(
  bytes: AsyncIterable<Uint8Array>,
  sink: (bytes: Buffer) => void,
  bytesMax: number,
): Promise<Decompressed> {
  let given = 0;
  for await (const chunk of bytes) {
    given += chunk.length;
    if (given > bytesMax) return 'too-large';
    sink(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }
  return 'whole';
}

const endings: Readonly<Record<Exclude<Decompressed, 'whole'>, readonly [code: string, message: string]>> = {
  cut: ['TRUNCATED', 'The compressed upload is truncated; the part before was read. Upload it again.'],
  damaged: ['DAMAGED', 'The compressed upload is damaged; the part before was read. Upload it again.'],
  bomb: [
    'TOO_DENSE',
    'The upload expands too much when it is decompressed; only a part was read. Check its content.',
  ],
  frames: [
    'TOO_MANY_FRAMES',
    'The upload has too many compressed frames; only a part was read. Compress it as one frame.',
  ],
  'too-large': ['TOO_LARGE', 'The upload is too large; only a part was read. Split it.'],
};

/** Decompressed bytes: an archive or a report. */
class PlainReader {
  readonly #handlers: ContentHandlers;
  readonly #limits: ContentLimits;
  #first = Buffer.alloc(0);
  #bundle: BundleReader | null = null;
  #report: ReturnType<typeof openReport> | null = null;
  #refusal: UploadProblem | null = null;

  constructor(handlers: ContentHandlers, limits: ContentLimits) {
    this.#handlers = handlers;
    this.#limits = limits;
  }

  write(bytes: Buffer): void {
    if (this.#bundle !== null) this.#bundle.write(bytes);
    else if (this.#report !== null) this.#report.write(bytes);
    else if (this.#refusal === null) {
      this.#first = Buffer.concat([this.#first, bytes]);
      if (this.#first.length >= sniffMax) this.#begin();
    }
  }

  end(ending: Decompressed): ContentSummary {
    if (this.#bundle === null && this.#report === null && this.#refusal === null) this.#begin();
    const problems: UploadProblem[] = [];
    if (ending !== 'whole') {
      const [code, message] = endings[ending];
      problems.push({ file: '', code, message, count: 1 });
    }
    const isWhole = ending === 'whole';
    if (this.#bundle !== null) {
      const bundle = this.#bundle;
      bundle.end();
      const { reports, cases, isComplete } = bundle;
      problems.push(...bundle.problems);
      return { form: 'bundle', reports, cases, isComplete: isComplete && isWhole, problems: few(problems) };
    }
    if (this.#refusal !== null)
      return {
        form: 'report',
        reports: 0,
        cases: 0,
        isComplete: false,
        problems: [...problems, this.#refusal],
      };
    const { cases, isComplete, problems: found } = this.#report!.end();
    // The report's own problem of being cut adds nothing.
    problems.push(...found.filter(({ code }) => code !== 'TRUNCATED' || ending !== 'cut'));
    return { form: 'report', reports: 1, cases, isComplete: isComplete && isWhole, problems: few(problems) };
  }

  #begin(): void {
    const first = this.#first;
    this.#first = Buffer.alloc(0);
    const refused = explainRefusedContent(first);
    if (refused !== null) {
      this.#refusal = { file: '', code: 'NOT_A_REPORT', message: refused, count: 1 };
      return;
    }
    if (isTar(first)) {
      this.#bundle = new BundleReader(this.#handlers, this.#limits);
      this.#bundle.write(first);
    } else {
      this.#report = openReport('', (found) => this.#handlers.onCase(found, ''), this.#limits);
      this.#report.write(first);
    }
  }
}

function isTar(first: Buffer): boolean {
  if (first.length < sniffMax) return false;
  if (first.toString('latin1', 257, 262) === 'ustar') return true;
  const header = parseHeader(first.subarray(0, sniffMax));
  return header !== null && header !== 'end';
}

function explainRefusedContent(first: Buffer): string | null {
  if (first.toString('latin1', 0, 4) === 'PK\u0003\u0004')
    return 'The file is a ZIP archive. Upload the report itself, plain or compressed with gzip or zstd.';
  if (first.toString('latin1', 0, 6) === '\u00FD7zXZ\0' || first.toString('latin1', 0, 3) === 'BZh')
    return 'The compression of the file is not supported. Upload the report plain, or compressed with gzip or zstd.';
  return detectCompression(first) === null ? null : 'The file is compressed twice. Compress it once.';
}

function few(problems: readonly UploadProblem[]): readonly UploadProblem[] {
  if (problems.length <= problemsMax) return problems;
  const more = problems.length - problemsMax + 1;
  const last = {
    file: '',
    code: 'MORE_PROBLEMS',
    message: 'There are more problems than these.',
    count: more,
  };
  return [...problems.slice(0, problemsMax - 1), last];
}

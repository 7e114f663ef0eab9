// The files of a bundle: `meta.json` first, then reports. A report is a file that meta.json lists, that is in `junit/`, or
// that ends in `.xml`. Problems name it by its path in the checkout, which people know, not by its name in the bundle.

import type { ReportedCase, UploadProblem } from '#core/health/reported-case.ts';
import type { ContentLimits } from '../limits.ts';
import { parseMeta, type BundleMeta } from './meta.ts';
import { openReport } from './report.ts';
import { TarReader, type TarProblem, type TarSink } from './tar.ts';

export type ContentHandlers = {
  readonly onMeta?: (meta: BundleMeta) => void;
  readonly onCodeowners?: (text: string) => void;
  /** `file`: the report's path, as in `UploadProblem`. */
  readonly onCase: (found: ReportedCase, file: string) => void;
};

const tarProblems: Readonly<Record<TarProblem, string>> = {
  TAR_LINK: 'The bundle contains a link, which was ignored; only plain files are read.',
  TAR_DEVICE: 'The bundle contains a device or pipe, which was ignored; only plain files are read.',
  TAR_TYPE: 'The bundle contains an entry of an unknown kind, which was ignored; only plain files are read.',
  TAR_PATH: 'The bundle contains an entry with a path outside the bundle, which was ignored.',
  TAR_DUPLICATE: 'The bundle contains a file twice; only the first was read.',
  TAR_DAMAGED: 'The archive is damaged; only a part was read. Upload it again.',
  TAR_ENTRIES: 'The bundle contains too many files; the rest was ignored. Split it.',
};

/** What is in bundles and not needed. */
const unneeded = new Set(['internal.bin', 'bazel_bep.json']);

export class BundleReader {
  reports = 0;
  cases = 0;
  isComplete = true;
  readonly problems: UploadProblem[] = [];
  readonly #handlers: ContentHandlers;
  readonly #limits: ContentLimits;
  readonly #tar: TarReader;
  #meta: BundleMeta | null = null;
  #hasInternal = false;
  /** By its path in the bundle: the path people know. */
  readonly #listed = new Map<string, string>();
  readonly #read = new Set<string>();

  constructor(handlers: ContentHandlers, limits: ContentLimits) {
    this.#handlers = handlers;
    this.#limits = limits;
    this.#tar = new TarReader(
      {
        onFile: (path, size) => this.#open(path, size),
        onProblem: (code, name) => this.#tarProblem(code, name),
      },
      limits.bytesMax,
      limits.entriesMax,
    );
  }

  write(bytes: Buffer): void {
    this.#tar.write(bytes);
  }

  end(): void {
    const isWhole = this.#tar.end();
    if (!isWhole) {
      this.isComplete = false;
      if (!this.#tar.isDamaged)
        this.#add('', 'TRUNCATED', 'The bundle is truncated; the reports in it were read. Upload it again.');
    }
    if (this.#meta === null)
      this.#add(
        '',
        'META_MISSING',
        'The bundle has no readable meta.json; the reports were read without it.',
      );
    const missing = [...this.#listed].filter(([path]) => !this.#read.has(path));
    for (const [, file] of missing.slice(0, 100))
      this.#add(file, 'FILE_MISSING', 'meta.json lists this report, but the bundle does not contain it.');
    if (missing.length > 0) this.isComplete = false;
    if (this.reports === 0) this.#noReports();
  }

  #noReports(): void {
    this.isComplete = false;
    const why = this.#hasInternal
      ? 'It contains only internal.bin, which Signalbox does not read. Configure the uploader to send JUnit XML.'
      : 'Check that the pattern of the uploader matches the files that the tests write.';
    this.#add('', 'NO_REPORTS', `The bundle contains no report. ${why}`);
  }

  #add(file: string, code: string, message: string): void {
    this.problems.push({ file, code, message, count: 1 });
  }

  #tarProblem(code: TarProblem, name: string): void {
    // Some file of the bundle is not what it was.
    if (code !== 'TAR_DUPLICATE') this.isComplete = false;
    this.#add(name.toWellFormed().replaceAll('\0', '\uFFFD'), code, tarProblems[code]);
  }

  #open(path: string, size: number): TarSink | null {
    if (path === 'meta.json') return this.#openMeta(size);
    if (path === 'internal.bin') this.#hasInternal = true;
    if (unneeded.has(path)) return null;
    const listed = this.#listed.get(path);
    if (listed !== undefined || path.startsWith('junit/') || /\.xml$/i.test(path))
      return this.#openReport(path, listed ?? path);
    if (path === 'CODEOWNERS' || path.endsWith('/CODEOWNERS')) return this.#openCodeowners(path, size);
    this.#add(path, 'FILE_IGNORED', 'This file of the bundle is not a report and was ignored.');
    return null;
  }

  #openMeta(size: number): TarSink | null {
    if (size > this.#limits.metaBytesMax) {
      this.#add('meta.json', 'META_TOO_LARGE', 'meta.json is too large and was ignored.');
      return null;
    }
    return whole((text) => {
      const meta = parseMeta(text);
      if (meta === null) this.#add('meta.json', 'META_UNREADABLE', 'meta.json is not a JSON object.');
      else this.#takeMeta(meta);
    });
  }

  #takeMeta(meta: BundleMeta): void {
    this.#meta = meta;
    for (const { files, file_set_type: type } of meta.file_sets)
      for (const { path, original_path_rel: relative, original_path: original } of files) {
        const plain = path.startsWith('./') ? path.slice(2) : path;
        if (unneeded.has(plain) || /internal/i.test(type ?? '')) continue;
        this.#listed.set(plain, (relative ?? original ?? plain).slice(0, 1_024).toWellFormed());
      }
    this.#handlers.onMeta?.(meta);
  }

  #openCodeowners(path: string, size: number): TarSink | null {
    if (size > this.#limits.codeownersBytesMax) {
      this.#add(path, 'CODEOWNERS_TOO_LARGE', 'CODEOWNERS is too large and was ignored.');
      return null;
    }
    return whole((text) => this.#handlers.onCodeowners?.(text));
  }

  #openReport(path: string, file: string): TarSink {
    this.#read.add(path);
    this.reports++;
    const report = openReport(file, (found) => this.#handlers.onCase(found, file), this.#limits);
    return {
      write: report.write,
      end: () => {
        const { cases, isComplete, problems } = report.end();
        this.cases += cases;
        this.isComplete &&= isComplete;
        this.problems.push(...problems);
      },
    };
  }
}

/** All of a small file at once. */
function whole(take: (text: string) => void): TarSink {
  const parts: Buffer[] = [];
  return {
    write: (bytes) => parts.push(Buffer.from(bytes)),
    end: () =>
      take(
        Buffer.concat(parts)
          .toString('utf8')
          .replace(/^\uFEFF/, ''),
      ),
  };
}

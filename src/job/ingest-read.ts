// Reads one upload: bytes to runs. Nothing is written but tests that were never named before: those get their numbers as
// they appear, so that a report of a million new tests is never in memory whole. If what follows fails, they are there
// without results, and the next attempt finds them.

import { hash } from 'node:crypto';
import type { BlobStore } from '#blob/blob.ts';
import { type Codeowners, ownersOf, parseCodeowners } from '#core/health/codeowners.ts';
import { fingerprintOf } from '#core/health/fingerprint.ts';
import type { CaseContext } from '#core/health/identity.ts';
import type { ReportedCase, UploadProblem } from '#core/health/reported-case.ts';
import type { Cell } from '#db/cell.ts';
import { failureTextOf, type FailureText } from '#db/failure-store.ts';
import type { StoredUpload } from '#db/ingest-store.ts';
import { readContent } from '#report/content.ts';
import type { BundleMeta } from '#report/meta.ts';
import { createCaseList, type Runs } from './ingest-run.ts';
import { type UploadAbout, aboutOf } from './ingest-about.ts';
import { createIdentifier, uuidText } from './test-identity.ts';
import { numberUnknown, type TestMemory, type UnknownTest } from './test-memory.ts';

/** How a test failed in this upload. */
export type FoundFailure = {
  readonly testCaseId: string;
  /** Of the last failed attempt; empty: it says nothing. */
  readonly fingerprint: string;
  readonly summary: string;
  readonly textHash: Buffer | null;
};

export type ReadUpload = {
  readonly upload: StoredUpload;
  readonly about: UploadAbout;
  readonly runs: Runs;
  /** By the test's number. */
  readonly failures: ReadonlyMap<number, FoundFailure>;
  readonly texts: readonly FailureText[];
  readonly codeowners: { readonly hash: Buffer; readonly parsed: Codeowners } | null;
  readonly isComplete: boolean;
  readonly problems: readonly UploadProblem[];
  /** What the numbers of its tests are worth: those of another generation are not. */
  readonly generation: number;
};

/** Unknown tests that are numbered together. */
const unknownMax = 8_192;
/** Bytes that are parsed before unknown tests are looked at: these few become a hundred times as many. */
const sliceBytes = 65_536;
/** Of one upload: what fails beyond is counted, and not told apart. */
const failuresMax = 20_000;
const textsBytesMax = 16 * 1024 * 1024;

const sha256 = (text: string): string => hash('sha256', text, 'hex');

type ReadDeps = {
  readonly cell: Cell;
  readonly blobs: BlobStore;
  readonly memory: TestMemory;
  /** Of the repository; the variant is the upload's. */
  readonly context: Omit<CaseContext, 'variant'>;
  readonly defaultBranches: readonly string[];
};

/** Null: its bytes are not there. Throws what reading the bytes throws; whatever they hold is an answer. */
export async function readUpload(deps: ReadDeps, upload: StoredUpload): Promise<ReadUpload | null> {
  const bytes = await deps.blobs.read({ uploadId: upload.id, uploadedAt: upload.uploaded_at });
  if (bytes === null) return null;
  const reading = startReading(deps, upload);
  // An error of the store is thrown on, to be tried again. One of a parser is a defect that would come again.
  let lost: { readonly error: unknown } | null = null;
  const source = (async function* () {
    try {
      for await (const chunk of bytes)
        for (let at = 0; at < chunk.length; at += sliceBytes) {
          yield chunk.subarray(at, at + sliceBytes);
          await reading.settle(unknownMax);
        }
    } catch (error) {
      lost = { error };
      throw error;
    }
  })();
  const summary = await readContent(source, reading.handlers).catch((error: unknown) => {
    if (lost !== null) throw lost.error;
    return { isComplete: false, problems: [defectOf(error)] };
  });
  await reading.settle(1);
  return reading.finish(summary);
}

const defectOf = (error: unknown): UploadProblem => ({
  file: '',
  code: 'UNREADABLE',
  message: `Reading it ended with an error of ours (${error instanceof Error ? error.name : 'unknown'}); what was read before counts.`,
  count: 1,
});

function startReading(deps: ReadDeps, upload: StoredUpload) {
  const { cell, memory } = deps;
  let about = aboutOf(upload, null, deps.defaultBranches);
  let identify = createIdentifier({ ...deps.context, variant: about.variant });
  let codeowners: ReadUpload['codeowners'] = null;
  const cases = createCaseList();
  const failures = new Map<number, FoundFailure>();
  const texts = new Map<string, FailureText>();
  let textBytes = 0;
  // Tests without a number are counted from -1 down until they have one.
  const resolved: number[] = [];
  let unknown: UnknownTest[] = [];
  let unknownById = new Map<string, number>();

  const numberOf = (found: ReportedCase): number => {
    const bytes = identify(found);
    const ordinal = memory.index.find(bytes);
    if (ordinal !== -1) return ordinal;
    const key = bytes.toString('latin1', 0, 16);
    const known = unknownById.get(key);
    if (known !== undefined) return known;
    const number = -1 - resolved.length - unknown.length;
    unknownById.set(key, number);
    const variant = about.variant === '' ? found.variant : about.variant;
    const { name, file, classname, parent } = found;
    const owners = codeowners === null || file === '' ? [] : ownersOf(codeowners.parsed, file);
    unknown.push({
      id: uuidText(bytes),
      bytes,
      name,
      variant,
      file,
      classname,
      parent,
      codeowners: owners,
    });
    return number;
  };

  const keepFailure = (number: number, found: ReportedCase): void => {
    if (!failures.has(number) && failures.size >= failuresMax) return;
    const last = found.failures.at(-1);
    const text = found.failures.length === 0 ? null : failureTextOf(found.failures);
    const key = text?.hash.toString('latin1') ?? '';
    let textHash: Buffer | null = null;
    if (text !== null && (texts.has(key) || textBytes + text.body.length <= textsBytesMax)) {
      if (!texts.has(key)) textBytes += text.body.length;
      texts.set(key, text);
      textHash = text.hash;
    }
    const print = last === undefined ? { key: '', summary: '' } : fingerprintOf(last, found.name, sha256);
    failures.set(number, {
      testCaseId: uuidText(identify(found)),
      fingerprint: print.key,
      summary: print.summary,
      textHash,
    });
  };

  return {
    handlers: {
      onMeta: (meta: BundleMeta) => {
        about = aboutOf(upload, meta, deps.defaultBranches);
        identify = createIdentifier({ ...deps.context, variant: about.variant });
      },
      onCodeowners: (text: string) => {
        codeowners = { hash: hash('sha256', text, 'buffer'), parsed: parseCodeowners(text) };
      },
      onCase: (found: ReportedCase) => {
        const number = numberOf(found);
        cases.add(number, found);
        if (found.outcome === 'failed' || found.outcome === 'flaky') keepFailure(number, found);
      },
    },
    /** Numbers the unknown, if they are that many. */
    settle: async (least: number) => {
      if (unknown.length < least) return;
      const numbered = unknown;
      unknown = [];
      unknownById = new Map();
      resolved.push(...(await numberUnknown(cell, memory, numbered)));
    },
    finish: (summary: {
      readonly isComplete: boolean;
      readonly problems: readonly UploadProblem[];
    }): ReadUpload => {
      const ordinalOf = (number: number) => (number < 0 ? resolved[-1 - number]! : number);
      return {
        upload,
        about,
        runs: cases.toRuns(ordinalOf),
        failures: new Map([...failures].map(([number, failure]) => [ordinalOf(number), failure])),
        texts: [...texts.values()],
        codeowners,
        isComplete: summary.isComplete && !cases.isCut(),
        problems: summary.problems,
        generation: memory.generation,
      };
    },
  };
}

// Reads one upload: bytes to runs. The only writes are new tests: they get their numbers as they appear, so
// that a report of a million new tests is never in memory whole. If a later step fails, they stay without
// results, and the next attempt finds them.

import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlobStore } from '#blob/blob.ts';
import { createOwnerLookup, parseInParts } from '#core/health/codeowners/codeowners.ts';
import { fingerprintFailure } from '#core/health/fingerprint/fingerprint.ts';
import type { CaseContext } from '#core/health/identity.ts';
import type { ReportedCase, UploadProblem } from '#core/health/reported-case.ts';
import type { Cell } from '#db/cell.ts';
import { packFailureText, type FailureText } from '#db/health/failure-store.ts';
import type { StoredUpload } from '#db/health/ingest-store.ts';
import { readContent } from '#report/bundle/content.ts';
import type { BundleMeta } from '#report/bundle/meta.ts';
import { createCaseList, type Runs } from './ingest-run.ts';
import { type UploadAbout, collectUploadMetadata } from './ingest-about.ts';
import { createIdentifier, createStableIdentifier, type Digest, uuidText } from './test-identity.ts';
import { numberUnknown, type TestMemory, type UnknownTest } from './test-memory.ts';

/** How a test failed in this upload. */
export type FoundFailure = {
  readonly testCaseId: string;
  /** The fingerprint of the last failed attempt; empty: there is none. */
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
  readonly codeowners: {
    readonly hash: Buffer;
    readonly ownersOf: (file: string) => readonly string[];
  } | null;
  readonly isComplete: boolean;
  readonly problems: readonly UploadProblem[];
  /** The generation of the tests' numbers; numbers of another generation are not valid. */
  readonly generation: number;
};

/** Unknown tests that are numbered together. */
const unknownMax = 2_048;
/** Bytes that are parsed between two checks for unknown tests: they can expand a hundredfold. */
const sliceBytes = 16_384;
/** Failures of one upload that are stored individually; those beyond are only counted. */
const failuresMax = 20_000;
/** Unknown tests of an untrusted upload, such as one of a fork, that are recorded: each stays for weeks. */
export const untrustedTestsMax = 50_000;
const textsBytesMax = 16 * 1024 * 1024;

/** Matching steps for the owners of new tests while a report is read; the rest is matched later, in turns. */
const stepsWhileReading = 3_000_000;

const sha256 = (text: string): string => hash('sha256', text, 'hex');

type ReadDeps = {
  readonly cell: Cell;
  readonly blobs: BlobStore;
  readonly memory: TestMemory;
  /** Of the repository; the variant is the upload's. */
  readonly context: Omit<CaseContext, 'variant'>;
  readonly defaultBranches: readonly string[];
};

/** Null: the bytes are missing. Errors of reading the bytes are thrown; invalid content is not an error. */
export async function readUpload(deps: ReadDeps, upload: StoredUpload): Promise<ReadUpload | null> {
  const bytes = await deps.blobs.read({ uploadId: upload.id, uploadedAt: upload.uploaded_at });
  if (bytes === null) return null;
  const reading = startReading(deps, upload);
  // An error of the store is rethrown, for a retry. An error of a parser is a defect that a retry would
  // repeat.
  let lost: { readonly error: unknown } | null = null;
  const source = (async function* () {
    try {
      for await (const chunk of bytes)
        for (let at = 0; at < chunk.length; at += sliceBytes) {
          yield chunk.subarray(at, at + sliceBytes);
          await reading.readOwners();
          await reading.settle(unknownMax);
        }
    } catch (error) {
      lost = { error };
      throw error;
    }
  })();
  const summary = await readContent(source, reading.handlers).catch((error: unknown) => {
    if (lost !== null) throw lost.error;
    return { isComplete: false, problems: [toUploadProblem(error)] };
  });
  await reading.readOwners();
  await reading.settle(1);
  await reading.settled();
  return reading.finish(summary);
}

const toUploadProblem = (error: unknown): UploadProblem => ({
  file: '',
  code: 'UNREADABLE',
  message: `Signalbox failed while reading it (${error instanceof Error ? error.name : 'unknown'}); the results before that point count.`,
  count: 1,
});

const failuresCut = `Only the first ${failuresMax} failing tests are recorded; the rest are counted.`;

const testsCut = (max: number): string =>
  `An upload that is not trusted may add ${max} tests; results of further new tests are not recorded. Upload them from a branch of the repository.`;

/** No problem if it was met zero times. */
const countedProblem = (code: string, count: number, message: string): readonly UploadProblem[] =>
  count === 0 ? [] : [{ file: '', code, message, count }];

/** Numbers tests, of those without a number at most `max`: they get a temporary one, from -1 down. */
function createNumberer(cell: Cell, memory: TestMemory, max: number) {
  const resolved: number[] = [];
  let count = 0;
  let refused = 0;
  let unknown: { readonly place: number; readonly test: UnknownTest }[] = [];
  let unknownById = new Map<Digest, number>();
  let settling: Promise<void> = Promise.resolve();
  const resolve = async (settled: typeof unknown): Promise<void> => {
    const ordinals = await numberUnknown(
      cell,
      memory,
      settled.map(({ test }) => test),
    );
    for (const [index, { place }] of settled.entries()) resolved[place] = ordinals[index]!;
  };
  return {
    /** Null: there are too many unknown tests. */
    numberOf: (digest: Digest, describe: () => Omit<UnknownTest, 'id' | 'digest'>): number | null => {
      const ordinal = memory.index.find(digest);
      if (ordinal !== -1) return ordinal;
      const known = unknownById.get(digest);
      if (known !== undefined) return known;
      if (count >= max) {
        refused++;
        return null;
      }
      const place = count++;
      unknownById.set(digest, -1 - place);
      unknown.push({ place, test: { ...describe(), id: uuidText(digest), digest } });
      return -1 - place;
    },
    /**
     * Numbers the unknown tests if there are at least `least`: while more is read, and one batch at a time.
     */
    settle: async (least: number): Promise<void> => {
      if (unknown.length < least) return;
      await settling;
      const settled = unknown;
      unknown = [];
      unknownById = new Map();
      settling = resolve(settled);
      // The next `settle` or `settled` awaits it and gets the error; without a handler it would count as
      // unhandled until then.
      settling.catch(() => undefined);
    },
    /** Resolves when all tests have their numbers. */
    settled: async (): Promise<void> => {
      await settling;
    },
    ordinalOf: (number: number): number => (number < 0 ? resolved[-1 - number]! : number),
    problems: (): readonly UploadProblem[] => countedProblem('TESTS_CUT', refused, testsCut(max)),
  };
}

/** Failed tests keep their texts, up to a limit. */
function createFailureList() {
  const failures = new Map<number, FoundFailure>();
  const texts = new Map<string, FailureText>();
  let textBytes = 0;
  let cut = 0;
  const keepText = (found: ReportedCase): Buffer | null => {
    if (found.failures.length === 0) return null;
    const text = packFailureText(found.failures);
    const key = text.hash.toString('latin1');
    if (!texts.has(key)) {
      if (textBytes + text.body.length > textsBytesMax) return null;
      textBytes += text.body.length;
      texts.set(key, text);
    }
    return text.hash;
  };
  return {
    keep: (number: number, found: ReportedCase, id: Digest): void => {
      if (!failures.has(number) && failures.size >= failuresMax) {
        cut++;
        return;
      }
      const last = found.failures.at(-1);
      const { key, summary } =
        last === undefined ? { key: '', summary: '' } : fingerprintFailure(last, found.name, sha256);
      const testCaseId = uuidText(id);
      failures.set(number, { testCaseId, fingerprint: key, summary, textHash: keepText(found) });
    },
    texts: () => [...texts.values()],
    failures: (ordinalOf: (number: number) => number) =>
      new Map([...failures].map(([number, failure]) => [ordinalOf(number), failure])),
    problems: (): readonly UploadProblem[] => countedProblem('FAILURES_CUT', cut, failuresCut),
  };
}

async function inTurns<Result>(parts: Generator<void, Result, void>): Promise<Result> {
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
    await nextTurn();
  }
}

function startReading(deps: ReadDeps, upload: StoredUpload) {
  const { cell, memory } = deps;
  let about = collectUploadMetadata(upload, null, deps.defaultBranches);
  const createNaming = () =>
    createStableIdentifier(
      createIdentifier({ ...deps.context, variant: about.variant }),
      (id) => memory.index.find(id) !== -1,
    );
  let identify = createNaming();
  let codeowners: ReadUpload['codeowners'] = null;
  let ownersNow: (file: string) => readonly string[] = () => [];
  let unreadOwners: string | null = null;
  const cases = createCaseList();
  const testsMax = upload.trust === 'full' ? Number.POSITIVE_INFINITY : untrustedTestsMax;
  const numberer = createNumberer(cell, memory, testsMax);
  const failures = createFailureList();

  const describe = ({ name, file, classname, parent, variant }: ReportedCase) => ({
    name,
    file,
    classname,
    parent,
    variant: about.variant === '' ? variant : about.variant,
    codeowners: file === '' ? [] : ownersNow(file),
  });

  return {
    handlers: {
      onMeta: (meta: BundleMeta) => {
        about = collectUploadMetadata(upload, meta, deps.defaultBranches);
        identify = createNaming();
      },
      onCodeowners: (text: string) => {
        // A fork must not set the owners of tests.
        if (upload.trust === 'full') unreadOwners = text;
      },
      onCase: (found: ReportedCase) => {
        const { id, name } = identify(found);
        const number = numberer.numberOf(id, () => ({ ...describe(found), name }));
        if (number === null) return;
        cases.add(number, found);
        if (found.outcome === 'failed' || found.outcome === 'flaky') failures.keep(number, found, id);
      },
    },
    /** Parses the CODEOWNERS file, in turns of the event loop. */
    readOwners: async (): Promise<void> => {
      if (unreadOwners === null) return;
      const text = unreadOwners;
      unreadOwners = null;
      const rules = await inTurns(parseInParts(text));
      ownersNow = createOwnerLookup(rules, { steps: stepsWhileReading });
      codeowners = { hash: hash('sha256', text, 'buffer'), ownersOf: createOwnerLookup(rules) };
    },
    settle: numberer.settle,
    settled: numberer.settled,
    finish: (summary: {
      readonly isComplete: boolean;
      readonly problems: readonly UploadProblem[];
    }): ReadUpload => ({
      upload,
      about,
      runs: cases.toRuns(numberer.ordinalOf),
      failures: failures.failures(numberer.ordinalOf),
      texts: failures.texts(),
      codeowners,
      isComplete: summary.isComplete && !cases.isCut() && numberer.problems().length === 0,
      problems: [...summary.problems, ...failures.problems(), ...numberer.problems()],
      generation: memory.generation,
    }),
  };
}

// The uploads of the last two weeks, and the histories that are brought up to date from them. A test that nothing is known
// against passes in nearly every upload, and recording each pass would take most of the time of a replay. So its history is
// brought up to date when something happens to it. Passes that the rings would have dropped by then are only counted, which
// gives the same history as one record after the other. A test compares both.

import { dayMs } from '#base/duration.ts';
import { type BranchClass, branchClasses } from '#core/health/branch.ts';
import { addPasses, dayNumber, record, type TestCaseHistory } from '#core/health/history.ts';
import type { RunFact } from '#core/health/recent-run.ts';

/** Longer than any window of a monitor. */
const keptMs = 16 * dayMs;
/** Earlier passes of a newly watched test: src/job/health/ingest-history.ts and src/db/health/ingest-store.ts. */
const earlierMs = 14 * dayMs;
const namedMax = 40;
/** At least as many as a ring holds. */
const ringMax = 64;

export type LoggedUpload = {
  /** The run of a test that passed in it. */
  readonly passed: RunFact;
  /** 1 at the numbers of the tests of its suite. */
  readonly suite: Uint8Array;
  /** Tests of the suite that it did not execute, and tests that it executed beside the suite. */
  readonly missing: ReadonlySet<number>;
  readonly extra: ReadonlySet<number>;
};

export const hasExecuted = ({ suite, missing, extra }: LoggedUpload, test: number): boolean =>
  suite[test] === 1 ? missing.size === 0 || !missing.has(test) : extra.size > 0 && extra.has(test);

type SourceLog = {
  readonly places: number[];
  readonly failed: Set<number>;
  lastAt: number;
  /** The catching up that counted it last. */
  countedBy: number;
};

/** An upload with what catching up needs at once. */
type Entry = {
  readonly upload: LoggedUpload;
  readonly source: SourceLog;
  /** One number for each day and class of branch. */
  readonly dayKey: number;
};

type PassCount = { at: number; branchClass: BranchClass; runs: number; sources: number };

export function createUploadLog() {
  let entries: Entry[] = [];
  /** The place of the first upload that is kept. */
  let start = 0;
  let catching = 0;
  const sources = new Map<string, SourceLog>();
  const index = createSuiteIndex();

  const forgetOld = (now: number): void => {
    const keptFrom = entries.findIndex(({ upload }) => upload.passed.at > now - keptMs);
    entries = entries.slice(keptFrom);
    index.forget(keptFrom);
    start += keptFrom;
    for (const [source, { lastAt }] of sources) if (lastAt <= now - keptMs) sources.delete(source);
  };

  return {
    /** The place of the next upload. */
    end: () => start + entries.length,
    add: (upload: LoggedUpload, failed: Iterable<number>): void => {
      const { at, source: name, branchClass } = upload.passed;
      const source = sources.get(name) ?? { places: [], failed: new Set(), lastAt: at, countedBy: 0 };
      source.places.push(start + entries.length);
      for (const test of failed) source.failed.add(test);
      source.lastAt = at;
      sources.set(name, source);
      const dayKey = dayNumber(at) * branchClasses.length + branchClasses.indexOf(branchClass);
      entries.push({ upload, source, dayKey });
      index.add(upload);
      const first = entries[0];
      if (first !== undefined && first.upload.passed.at < at - keptMs - dayMs) forgetOld(at);
    },
    /** Tests that failed or were flaky on the source before. */
    failedOn: (source: string): Iterable<number> => sources.get(source)?.failed ?? [],
    /** The upload that was added last. */
    newest: (): LoggedUpload => entries.at(-1)!.upload,

    /** A newly watched test: it passed in every upload so far that executed it, as fillEarlier of the service does it. */
    fillEarlier: (empty: TestCaseHistory, test: number, now: number, source: string): TestCaseHistory => {
      const named: RunFact[] = [];
      const counts = new Map<number, PassCount>();
      let defaults = 0;
      const mayHave = index.findFor(test);
      for (let place = entries.length - 1; place >= 0; place--) {
        if (!mayHave(place)) continue;
        const { upload, dayKey } = entries[place]!;
        const { passed } = upload;
        if (passed.at < now - earlierMs) break;
        if (!hasExecuted(upload, test)) continue;
        const isNamed = passed.branchClass === 'default' && defaults < namedMax;
        if (isNamed) defaults++;
        if (isNamed || passed.source === source) named.push(passed);
        else countRun(counts, dayKey, passed).sources++;
      }
      let history = empty;
      for (const fact of named.toReversed()) history = record(history, fact);
      for (const count of counts.values()) history = addPasses(history, count);
      return history;
    },

    /** A watched test that passed in every upload from `from` on that executed it. */
    catchUp: (before: TestCaseHistory, test: number, from: number): TestCaseHistory => {
      const counts = new Map<number, PassCount>();
      const recent: RunFact[] = [];
      const room = { onDefault: ringMax, elsewhere: ringMax };
      catching++;
      const mayHave = index.findFor(test);
      for (let place = entries.length - 1; place >= Math.max(0, from - start); place--) {
        if (!mayHave(place)) continue;
        const { upload, source, dayKey } = entries[place]!;
        if (!hasExecuted(upload, test)) continue;
        const { passed } = upload;
        if (room[passed.branchClass === 'default' ? 'onDefault' : 'elsewhere']-- > 0) {
          recent.push(passed);
          continue;
        }
        const count = countRun(counts, dayKey, passed);
        if (source.countedBy !== catching && source.places[0]! >= from) count.sources++;
        source.countedBy = catching;
      }
      let history = before;
      for (const count of counts.values()) history = addPasses(history, count);
      for (const fact of recent.toReversed()) history = record(history, fact);
      return history;
    },
  };
}

function countRun(counts: Map<number, PassCount>, dayKey: number, { at, branchClass }: RunFact): PassCount {
  const known = counts.get(dayKey);
  const count = known ?? { at, branchClass, runs: 0, sources: 0 };
  if (known === undefined) counts.set(dayKey, count);
  count.runs++;
  return count;
}

/** Which uploads may have executed a test, in one array of numbers: most of the time of catching up is spent on this question. */
function createSuiteIndex() {
  const numbers = new Map<Uint8Array, number>();
  const suites: Uint8Array[] = [];
  /** Tests that some upload executed beside its suite. */
  const beside = new Set<number>();
  let count = 0;
  /** For each upload twice the number of its suite, and one more if it has tests beside the suite. */
  let codes = new Uint32Array(1_024);
  return {
    add: ({ suite, extra }: LoggedUpload): void => {
      const number = numbers.get(suite) ?? suites.push(suite) - 1;
      numbers.set(suite, number);
      for (const test of extra) beside.add(test);
      if (count === codes.length) {
        const longer = new Uint32Array(2 * count);
        longer.set(codes);
        codes = longer;
      }
      codes[count++] = 2 * number + (extra.size > 0 ? 1 : 0);
    },
    /** The first so many uploads are dropped. */
    forget: (dropped: number): void => {
      codes.copyWithin(0, dropped, count);
      count -= dropped;
    },
    findFor: (test: number): ((place: number) => boolean) => {
      const isIn = Uint8Array.from(suites, (suite) => suite[test] ?? 0);
      const isBeside = beside.has(test) ? 1 : 0;
      return (place) => {
        const code = codes[place]!;
        return (code & isBeside) === 1 || isIn[code >> 1] === 1;
      };
    },
  };
}

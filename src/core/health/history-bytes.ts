// A history as bytes: varints, instants as differences, sources and fingerprints as the bytes of their hexadecimal where
// they are that. A ring full of passes is about 8 bytes for each.
//
// What was added later follows at the end, so that the release before, which stops reading earlier, reads the rest:
//   jobs of the runs (an index in a short list each; nothing if there is one job), what contradictions and flakes gained,
//   and breakages

import { assert } from '#base/assert.ts';
import { branchClasses } from './branch.ts';
import type { BranchBreakage } from './breakage.ts';
import type { Contradiction, DayCount, TestCaseHistory, KnownFlake } from './history.ts';
import { passedRun, type RecentRun } from './recent-run.ts';

const version = 1;
const outcomes = ['passed', 'failed', 'flaky'] as const;

type HistoryWriter = { readonly bytes: Uint8Array; at: number };
type HistoryReader = { readonly bytes: Uint8Array; at: number };

/** Larger than any history: its lists and texts are bounded. Used again and again, and what is returned is a copy. */
const scratch = new Uint8Array(128 * 1_024);

/** Whole numbers of up to 53 bits. */
function writeNumber(writer: HistoryWriter, value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    // Bits work up to 31; beyond, the division does.
    writer.bytes[writer.at++] = (rest & 0x7f) | 0x80;
    rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 0x80);
  }
  writer.bytes[writer.at++] = rest;
}

function readNumber(reader: HistoryReader): number {
  let value = 0;
  let scale = 1;
  for (;;) {
    const byte = readByte(reader);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 0x80;
  }
}

function readByte(reader: HistoryReader): number {
  const byte = reader.bytes[reader.at++];
  assert(byte !== undefined, 'a history is whole');
  return byte;
}

/** The length twice, plus one where it is of hexadecimal bytes. Other texts are written by their code units. */
function writeText(writer: HistoryWriter, text: string): void {
  const begunAt = writer.at;
  if (text.length % 2 === 0 && text.length > 0) {
    writeNumber(writer, text.length + 1);
    for (let at = 0; at < text.length; at += 2) {
      const byte = (digitAt(text, at) << 4) | digitAt(text, at + 1);
      if (byte < 0) break;
      writer.bytes[writer.at++] = byte;
      if (at + 2 === text.length) return;
    }
    writer.at = begunAt;
  }
  writeNumber(writer, text.length * 2);
  for (let at = 0; at < text.length; at++) writeNumber(writer, text.charCodeAt(at));
}

/** Less than 0: not a digit of lower-case hexadecimal. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}

const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function readText(reader: HistoryReader): string {
  const head = readNumber(reader);
  let text = '';
  if (head % 2 === 1) for (let left = head >> 1; left > 0; left--) text += pairs[readByte(reader)]!;
  else for (let left = head / 2; left > 0; left--) text += String.fromCharCode(readNumber(reader));
  return text;
}

function writeHash(writer: HistoryWriter, hash: number): void {
  const { bytes, at } = writer;
  bytes[at] = hash;
  bytes[at + 1] = hash >>> 8;
  bytes[at + 2] = hash >>> 16;
  bytes[at + 3] = hash >>> 24;
  writer.at = at + 4;
}

function readHash(reader: HistoryReader): number {
  const { bytes, at } = reader;
  assert(at + 4 <= bytes.length, 'a history is whole');
  reader.at = at + 4;
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** None is 0, so that numbers move up by one. */
const writeOptional = (writer: HistoryWriter, value: number | null): void =>
  writeNumber(writer, value === null ? 0 : value + 1);

function readOptional(reader: HistoryReader): number | null {
  const value = readNumber(reader);
  return value === 0 ? null : value - 1;
}

export function encodeHistory(history: TestCaseHistory): Uint8Array {
  const writer: HistoryWriter = { bytes: scratch, at: 0 };
  writeNumber(writer, version);
  writeNumber(writer, history.cleanPasses);
  writeNumber(writer, history.lastFailureAt);
  writeDays(writer, history.days);
  writeContradictions(writer, history.contradictions);
  writeRing(writer, history.onDefault);
  writeRing(writer, history.elsewhere);
  writeNumber(writer, history.flakes.length);
  for (const { fingerprint, lastAt } of history.flakes) {
    writeText(writer, fingerprint);
    writeNumber(writer, lastAt);
  }
  writeAdded(writer, history);
  return writer.bytes.slice(0, writer.at);
}

export function decodeHistory(bytes: Uint8Array): TestCaseHistory {
  const reader: HistoryReader = { bytes, at: 0 };
  assert(readNumber(reader) === version, 'the version of a history is known');
  const cleanPasses = readNumber(reader);
  const lastFailureAt = readNumber(reader);
  const days = readDays(reader);
  const contradictions = readContradictions(reader);
  const onDefault = readRing(reader);
  const elsewhere = readRing(reader);
  const flakes: KnownFlake[] = [];
  for (let left = readNumber(reader); left > 0; left--) {
    const fingerprint = readText(reader);
    const lastAt = readNumber(reader);
    flakes.push({ fingerprint, firstAt: lastAt, lastAt });
  }
  const history = {
    days,
    contradictions,
    onDefault,
    elsewhere,
    flakes,
    breakages: [],
    cleanPasses,
    lastFailureAt,
    suite: 0,
  };
  return reader.at === bytes.length ? history : readAdded(reader, history);
}

function writeAdded(writer: HistoryWriter, history: TestCaseHistory): void {
  const { onDefault, elsewhere, contradictions, flakes, breakages, suite } = history;
  writeNumber(writer, suite);
  const jobs = [...new Set([...onDefault, ...elsewhere, ...contradictions].map(({ job }) => job))];
  writeNumber(writer, jobs.length);
  for (const job of jobs) writeHash(writer, job);
  const runs = [...onDefault, ...elsewhere];
  if (jobs.length > 1) for (const { job } of runs) writeNumber(writer, jobs.indexOf(job));
  writeIndexes(writer, runs, ({ isShared }) => isShared);
  writeIndexes(writer, runs, ({ isSeparate }) => isSeparate);
  for (const { isShared, isSeparate, job, cause, isExplained } of contradictions) {
    const flags =
      (isSeparate ? 8 : 0) + (isShared ? 4 : 0) + (isExplained ? 2 : 0) + (cause === null ? 0 : 1);
    writeNumber(writer, jobs.indexOf(job) * 16 + flags);
    if (cause !== null) writeHash(writer, cause);
  }
  for (const { firstAt, lastAt } of flakes) writeNumber(writer, lastAt - firstAt);
  writeNumber(writer, breakages.length);
  for (const { cause, job, from, to, isPartial } of breakages) {
    writeHash(writer, cause);
    writeHash(writer, job);
    writeNumber(writer, from);
    writeNumber(writer, (to - from) * 2 + (isPartial ? 1 : 0));
  }
}

/** The places of those for which it is true. */
function writeIndexes(
  writer: HistoryWriter,
  runs: readonly RecentRun[],
  isTrue: (run: RecentRun) => boolean,
): void {
  const indexes = [...runs.keys()].filter((index) => isTrue(runs[index]!));
  writeNumber(writer, indexes.length);
  for (const index of indexes) writeNumber(writer, index);
}

const readIndexes = (reader: HistoryReader): ReadonlySet<number> =>
  new Set(Array.from({ length: readNumber(reader) }, () => readNumber(reader)));

function readAdded(reader: HistoryReader, history: TestCaseHistory): TestCaseHistory {
  const suite = readNumber(reader);
  const jobs = Array.from({ length: readNumber(reader) }, () => readHash(reader));
  const before = [...history.onDefault, ...history.elsewhere];
  const jobIndexes = before.map(() => (jobs.length > 1 ? readNumber(reader) : 0));
  const shared = readIndexes(reader);
  const separate = readIndexes(reader);
  const runs = before.map((run, index): RecentRun => {
    const job = jobs[jobIndexes[index]!] ?? 0;
    return { ...run, job, isShared: shared.has(index), isSeparate: separate.has(index) };
  });
  const onDefault = runs.slice(0, history.onDefault.length);
  const elsewhere = runs.slice(history.onDefault.length);
  const contradictions = history.contradictions.map((one): Contradiction => {
    const flags = readNumber(reader);
    const cause = flags % 2 === 1 ? readHash(reader) : null;
    return {
      ...one,
      job: jobs[flags >> 4] ?? 0,
      isSeparate: (flags & 8) !== 0,
      isShared: (flags & 4) !== 0,
      cause,
      isExplained: (flags & 2) !== 0,
    };
  });
  const flakes = history.flakes.map((flake) => ({ ...flake, firstAt: flake.lastAt - readNumber(reader) }));
  const breakages = reader.at === reader.bytes.length ? [] : readBreakages(reader);
  return { ...history, onDefault, elsewhere, contradictions, flakes, breakages, suite };
}

const readBreakages = (reader: HistoryReader): readonly BranchBreakage[] =>
  Array.from({ length: readNumber(reader) }, () => {
    const cause = readHash(reader);
    const job = readHash(reader);
    const from = readNumber(reader);
    const length = readNumber(reader);
    return { cause, job, from, to: from + Math.floor(length / 2), isPartial: length % 2 === 1 };
  });

function writeDays(writer: HistoryWriter, days: readonly DayCount[]): void {
  writeNumber(writer, days.length);
  let before = 0;
  for (const { day, branchClass, runs, failed, sources, contradicted } of days) {
    writeNumber(writer, (day - before) * 4 + branchClasses.indexOf(branchClass));
    writeNumber(writer, runs);
    writeNumber(writer, failed);
    writeNumber(writer, sources);
    writeNumber(writer, contradicted);
    before = day;
  }
}

function readDays(reader: HistoryReader): DayCount[] {
  const days: DayCount[] = [];
  let before = 0;
  for (let left = readNumber(reader); left > 0; left--) {
    const head = readNumber(reader);
    const day = before + Math.floor(head / 4);
    days.push({
      day,
      branchClass: branchClasses[head % 4]!,
      runs: readNumber(reader),
      failed: readNumber(reader),
      sources: readNumber(reader),
      contradicted: readNumber(reader),
    });
    before = day;
  }
  return days;
}

function writeContradictions(writer: HistoryWriter, contradictions: readonly Contradiction[]): void {
  writeNumber(writer, contradictions.length);
  let before = 0;
  for (const { at, source, branchClass, prNumber, isSuspect, failing, tests } of contradictions) {
    writeNumber(writer, at - before);
    writeNumber(writer, branchClasses.indexOf(branchClass) * 2 + (isSuspect ? 1 : 0));
    writeText(writer, source);
    writeOptional(writer, prNumber);
    writeNumber(writer, failing);
    writeNumber(writer, tests);
    before = at;
  }
}

/** What the release before did not write. */
const runAdded = { job: 0, isShared: false, isSeparate: false } as const;
const contradictionAdded = { ...runAdded, cause: null, isExplained: false } as const;

function readContradictions(reader: HistoryReader): Contradiction[] {
  const contradictions: Contradiction[] = [];
  let before = 0;
  for (let left = readNumber(reader); left > 0; left--) {
    const at = before + readNumber(reader);
    const flags = readNumber(reader);
    contradictions.push({
      at,
      branchClass: branchClasses[flags >> 1]!,
      isSuspect: flags % 2 === 1,
      source: readText(reader),
      prNumber: readOptional(reader),
      failing: readNumber(reader),
      tests: readNumber(reader),
      ...contradictionAdded,
    });
    before = at;
  }
  return contradictions;
}

function writeRing(writer: HistoryWriter, ring: readonly RecentRun[]): void {
  writeNumber(writer, ring.length);
  let before = 0;
  for (const run of ring) {
    const isNamed = run.source !== '';
    const flags = outcomes.indexOf(run.outcome) * 4 + (run.isSuspect ? 2 : 0) + (isNamed ? 1 : 0);
    writeNumber(writer, flags * 4 + branchClasses.indexOf(run.branchClass));
    writeNumber(writer, run.at - before);
    writeHash(writer, run.sourceHash);
    before = run.at;
    if (isNamed) writeText(writer, run.source);
    if (run.outcome === 'passed') continue;
    writeOptional(writer, run.prNumber);
    writeNumber(writer, run.fingerprint === null ? 0 : 1);
    if (run.fingerprint !== null) writeText(writer, run.fingerprint);
    writeNumber(writer, run.failing);
    writeNumber(writer, run.tests);
  }
}

function readRing(reader: HistoryReader): RecentRun[] {
  const ring: RecentRun[] = [];
  let before = 0;
  for (let left = readNumber(reader); left > 0; left--) {
    const flags = readNumber(reader);
    const at = before + readNumber(reader);
    const sourceHash = readHash(reader);
    const outcome = outcomes[flags >> 4]!;
    const source = (flags & 4) === 0 ? '' : readText(reader);
    const branchClass = branchClasses[flags & 3]!;
    if (outcome === 'passed') ring.push(passedRun(at, sourceHash, source, branchClass));
    else
      ring.push({
        at,
        sourceHash,
        source,
        branchClass,
        outcome,
        prNumber: readOptional(reader),
        isSuspect: (flags & 8) !== 0,
        fingerprint: readNumber(reader) === 0 ? null : readText(reader),
        failing: readNumber(reader),
        tests: readNumber(reader),
        ...runAdded,
      });
    before = at;
  }
  return ring;
}

// A history as bytes: varints, instants as differences, sources and fingerprints as the bytes of their hexadecimal where
// they are that. A ring full of passes is about 8 bytes for each.

import { assert } from '#base/assert.ts';
import { branchClasses } from './branch.ts';
import type { Contradiction, DayCount, History, KnownFlake, RecentRun } from './history.ts';

const version = 1;
const outcomes = ['passed', 'failed', 'flaky'] as const;

type Writer = { bytes: Uint8Array; at: number };
type Reader = { readonly bytes: Uint8Array; at: number };

/** Grows by doubling: most histories fit at once. */
function reserve(writer: Writer, more: number): void {
  if (writer.at + more <= writer.bytes.length) return;
  const bytes = new Uint8Array((writer.at + more) * 2);
  bytes.set(writer.bytes.subarray(0, writer.at));
  writer.bytes = bytes;
}

/** Whole numbers of up to 53 bits. */
function writeNumber(writer: Writer, value: number): void {
  reserve(writer, 8);
  let rest = value;
  while (rest >= 0x80) {
    writer.bytes[writer.at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  writer.bytes[writer.at++] = rest;
}

function readNumber(reader: Reader): number {
  let value = 0;
  let scale = 1;
  for (;;) {
    const byte = readByte(reader);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 0x80;
  }
}

function readByte(reader: Reader): number {
  const byte = reader.bytes[reader.at++];
  assert(byte !== undefined, 'a history is whole');
  return byte;
}

const hexadecimal = /^(?:[0-9a-f]{2})+$/u;

/** The length twice, plus one where it is of hexadecimal bytes. Other texts are written by their code units. */
function writeText(writer: Writer, text: string): void {
  if (hexadecimal.test(text)) {
    const length = text.length / 2;
    writeNumber(writer, length * 2 + 1);
    reserve(writer, length);
    for (let at = 0; at < length; at++)
      writer.bytes[writer.at++] = (digitAt(text, at * 2) << 4) | digitAt(text, at * 2 + 1);
    return;
  }
  writeNumber(writer, text.length * 2);
  for (let at = 0; at < text.length; at++) writeNumber(writer, text.charCodeAt(at));
}

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code - 0x57;
}

const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function readText(reader: Reader): string {
  const head = readNumber(reader);
  let text = '';
  if (head % 2 === 1) for (let left = head >> 1; left > 0; left--) text += pairs[readByte(reader)]!;
  else for (let left = head / 2; left > 0; left--) text += String.fromCharCode(readNumber(reader));
  return text;
}

function writeHash(writer: Writer, hash: number): void {
  reserve(writer, 4);
  for (let shift = 0; shift < 32; shift += 8) writer.bytes[writer.at++] = (hash >>> shift) & 0xff;
}

function readHash(reader: Reader): number {
  let hash = 0;
  for (let shift = 0; shift < 32; shift += 8) hash |= readByte(reader) << shift;
  return hash >>> 0;
}

/** None is 0, so that numbers move up by one. */
const writeOptional = (writer: Writer, value: number | null): void =>
  writeNumber(writer, value === null ? 0 : value + 1);

function readOptional(reader: Reader): number | null {
  const value = readNumber(reader);
  return value === 0 ? null : value - 1;
}

export function encodeHistory(history: History): Uint8Array {
  const writer: Writer = { bytes: new Uint8Array(2_048), at: 0 };
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
  return writer.bytes.slice(0, writer.at);
}

export function decodeHistory(bytes: Uint8Array): History {
  const reader: Reader = { bytes, at: 0 };
  assert(readNumber(reader) === version, 'the version of a history is known');
  const cleanPasses = readNumber(reader);
  const lastFailureAt = readNumber(reader);
  const days = readDays(reader);
  const contradictions = readContradictions(reader);
  const onDefault = readRing(reader);
  const elsewhere = readRing(reader);
  const flakes: KnownFlake[] = [];
  for (let left = readNumber(reader); left > 0; left--)
    flakes.push({ fingerprint: readText(reader), lastAt: readNumber(reader) });
  return { days, contradictions, onDefault, elsewhere, flakes, cleanPasses, lastFailureAt };
}

function writeDays(writer: Writer, days: readonly DayCount[]): void {
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

function readDays(reader: Reader): DayCount[] {
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

function writeContradictions(writer: Writer, contradictions: readonly Contradiction[]): void {
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

function readContradictions(reader: Reader): Contradiction[] {
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
    });
    before = at;
  }
  return contradictions;
}

function writeRing(writer: Writer, ring: readonly RecentRun[]): void {
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
    writeNumber(writer, run.failing);
    writeNumber(writer, run.tests);
    writeNumber(writer, run.fingerprint === null ? 0 : 1);
    if (run.fingerprint !== null) writeText(writer, run.fingerprint);
  }
}

function readRing(reader: Reader): RecentRun[] {
  const ring: RecentRun[] = [];
  let before = 0;
  for (let left = readNumber(reader); left > 0; left--) {
    const flags = readNumber(reader);
    const at = before + readNumber(reader);
    const sourceHash = readHash(reader);
    const outcome = outcomes[flags >> 4]!;
    const hasPassed = outcome === 'passed';
    ring.push({
      at,
      sourceHash,
      source: (flags & 4) === 0 ? '' : readText(reader),
      branchClass: branchClasses[flags & 3]!,
      outcome,
      isSuspect: (flags & 8) !== 0,
      prNumber: hasPassed ? null : readOptional(reader),
      failing: hasPassed ? 0 : readNumber(reader),
      tests: hasPassed ? 0 : readNumber(reader),
      fingerprint: hasPassed || readNumber(reader) === 0 ? null : readText(reader),
    });
    before = at;
  }
  return ring;
}

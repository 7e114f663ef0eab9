// Inputs made of fixtures by what happens to files: bytes that change, get lost or come twice, files that end too early,
// files in files, tags that do not fit. Each input follows from a seed and its number alone.

import { readdirSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { bundleOf } from '../fixture/report/archive.ts';
import { fixtureFolder, readFixture } from '../fixture/report/fixture.ts';
import { randomOf, type Random } from './random.ts';

export type Input = { readonly number: number; readonly isContent: boolean; readonly bytes: Buffer };

const tokens = [
  '<testcase name="t"/>',
  '<testcase name="t" classname="c" time="0.1">',
  '</testcase>',
  '<testsuite name="s">',
  '</testsuite>',
  '</testsuites>',
  '<failure message="m" type="T">',
  '</failure>',
  '<flakyFailure message="m"><stackTrace>s</stackTrace></flakyFailure>',
  '<rerunFailure/>',
  '<skipped/>',
  '<system-out>',
  '</system-out>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<?xml version="1.0" encoding="UTF-16"?>',
  '<?xml version="1.0" encoding="windows-1251"?>',
  '<!DOCTYPE a [<!ENTITY x "y">',
  ']>',
  '&amp;',
  '&#x1F4A9;',
  '&#xD800;',
  '&#99999999999;',
  '&x;',
  '"',
  "'",
  '<',
  '>',
  '/>',
  '=',
  ' a=b ',
  '\0',
  '\u001B[31m',
  '\u00FF\u00FE',
  '{"results":{"tests":[{"name":"n","status":"passed"}',
  '{',
  '}',
  '[',
  ']',
  ',',
  '\\',
  '-----BEGIN PRIVATE KEY-----',
  'eyJhbGciOiJI.eyJzdWIiOiIx.',
].map((token) => Buffer.from(token, 'latin1'));

/** Such bytes end or begin something. */
const special = Buffer.from('<>&"\'/=![]{}-?:,\\ \n\0\u001B\u0080\u00C3\u00ED\u00FF', 'latin1');

type Seeds = { readonly reports: readonly Buffer[]; readonly contents: readonly Buffer[] };

export function loadSeeds(): Seeds {
  const names = readdirSync(fixtureFolder).filter((name) => /\.(?:xml|json)$/.test(name));
  const reports = names.toSorted().map(readFixture);
  const wide = reports.slice(0, 4).map((report) => Buffer.from(`\uFEFF${report.toString()}`, 'utf16le'));
  const bundles = [reports.slice(0, 3), reports.slice(10, 30), reports].map((list) => bundleOf(list));
  const contents = [
    ...bundles,
    ...bundles.map((bundle) => zstdCompressSync(bundle)),
    ...bundles.map((bundle) => gzipSync(bundle)),
    ...reports.slice(5, 10).flatMap((report) => [zstdCompressSync(report), gzipSync(report)]),
  ];
  return { reports: [...reports, ...wide], contents };
}

/** The input with this number. One in 32 is an upload as a whole, the others are reports. */
export function makeInput(seeds: Seeds, seed: number, number: number): Input {
  const random = randomOf((Math.imul(seed, 0x85ebca6b) ^ Math.imul(number, 0xc2b2ae35)) >>> 0);
  const isContent = number % 32 === 31;
  if (!isContent)
    return { number, isContent, bytes: mutate(random.pick(seeds.reports), seeds.reports, random) };
  // Either what was compressed is damaged, or something damaged is compressed.
  if (random.below(2) === 0)
    return { number, isContent, bytes: mutate(random.pick(seeds.contents), seeds.contents, random) };
  const bundle = bundleOf([
    mutate(random.pick(seeds.reports), seeds.reports, random),
    random.pick(seeds.reports),
  ]);
  const damaged = random.below(2) === 0 ? bundle : mutate(bundle, seeds.reports, random);
  const bytes = random.pick([zstdCompressSync, gzipSync, (plain: Buffer) => plain])(damaged);
  return { number, isContent, bytes };
}

function mutate(original: Buffer, others: readonly Buffer[], random: Random): Buffer {
  let bytes = Buffer.from(original);
  for (let left = 1 + random.below(6); left > 0; left--)
    bytes = random.pick(mutations)(bytes, random, others);
  return bytes;
}

type Mutation = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer<ArrayBuffer>;

/** A part of the bytes; short ones are more likely. */
function partOf(bytes: Buffer, random: Random): readonly [start: number, end: number] {
  const start = random.below(bytes.length + 1);
  const length = random.below(1 << (1 + random.below(11)));
  return [start, Math.min(bytes.length, start + length)];
}

function insert(bytes: Buffer, at: number, ...parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  return Buffer.concat([bytes.subarray(0, at), ...parts, bytes.subarray(at)]);
}

function change(bytes: Buffer, random: Random, valueOf: (byte: number) => number): Buffer<ArrayBuffer> {
  const changed = Buffer.from(bytes);
  for (let left = 1 + random.below(4); left > 0 && changed.length > 0; left--) {
    const at = random.below(changed.length);
    changed[at] = valueOf(changed[at]!);
  }
  return changed;
}

const mutations: readonly Mutation[] = [
  (bytes, random) => change(bytes, random, (byte) => byte ^ (1 << random.below(8))),
  (bytes, random) => change(bytes, random, () => special[random.below(special.length)]!),
  (bytes, random) => change(bytes, random, () => random.below(256)),
  (bytes, random) => insert(bytes, random.below(bytes.length + 1), random.pick(tokens)),
  (bytes, random) => insert(bytes, random.below(bytes.length + 1), random.pick(tokens), random.pick(tokens)),
  // Cut off, at either end.
  (bytes, random) => Buffer.from(bytes.subarray(0, random.below(bytes.length + 1))),
  (bytes, random) => Buffer.from(bytes.subarray(random.below(Math.min(64, bytes.length) + 1))),
  // A part is lost, comes again, or comes many times.
  (bytes, random) => {
    const [start, end] = partOf(bytes, random);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  },
  (bytes, random) => {
    const [start, end] = partOf(bytes, random);
    return insert(bytes, random.below(bytes.length + 1), bytes.subarray(start, end));
  },
  (bytes, random) => {
    const [start, end] = partOf(bytes, random);
    const part = bytes.subarray(start, Math.min(end, start + 200));
    return insert(bytes, end, ...Array.from({ length: random.below(100) }, () => part));
  },
  // A part of another file.
  (bytes, random, others) => {
    const other = random.pick(others);
    const [start, end] = partOf(other, random);
    return insert(bytes, random.below(bytes.length + 1), other.subarray(start, end));
  },
  (bytes, random, others) => Buffer.concat([bytes, random.pick(others)]),
  // The rest of a tag or text becomes that of another.
  (bytes, random) => {
    const from = bytes.indexOf(random.pick(['<', '>', '"', '{']), random.below(bytes.length + 1));
    const to = bytes.indexOf(random.pick(['<', '>', '"', '}']), random.below(bytes.length + 1));
    return from === -1 || to === -1
      ? Buffer.from(bytes)
      : Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  // One in a hundred gets something very long.
  (bytes, random) =>
    random.below(16) > 0
      ? insert(bytes, random.below(bytes.length + 1), random.pick(tokens))
      : insert(
          bytes,
          random.below(bytes.length + 1),
          Buffer.alloc(1 << (10 + random.below(9)), random.pick(tokens)),
        ),
];

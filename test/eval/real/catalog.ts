// The tests of a replay: their names, files and shards, when they exist, and what is renamed. Every second file runs with one
// retry. A part of the files also runs in the job of the second platform.

import { dayMs } from '#base/duration.ts';
import type { Suite, TestName } from '../replay/upload.ts';
import { drawWhole, type Random } from '../random.ts';
import { createOccasion, drawInstants, drawWord } from './draw.ts';
import type { Phenomenon, Profile } from './profile.ts';

const testsPerFile = 20;
const platformShare = 0.3;
const renamesEveryDays = { low: 10, mid: 1.5, high: 0.7 };
const newbornEveryDays = { low: 6, mid: 0.7, high: 0.25 };
const volatileShare = 0.006;

export const jobNames = ['test', 'test-windows'] as const;
export type Job = 0 | 1;

export type CatalogTest = {
  readonly number: number;
  readonly file: number;
  readonly shards: readonly [main: number, platform: number];
  readonly onPlatform: boolean;
  readonly hasRetry: boolean;
  /** Its name contains an address or an id that differs with every run. */
  readonly isVolatile: boolean;
  readonly bornAt: number;
};

export type Catalog = {
  readonly tests: readonly CatalogTest[];
  readonly newborn: readonly number[];
  /** The name in a run at that time; for a volatile one a new name each time. */
  readonly nameAt: (test: CatalogTest, at: number, random: Random) => TestName;
  readonly suiteAt: (job: Job, shard: number, at: number) => Suite;
  /** Volatile tests of a shard, which no suite contains. */
  readonly volatileIn: (job: Job, shard: number) => readonly CatalogTest[];
  readonly numberOf: (name: string) => number;
};

type Source = {
  readonly seed: number;
  readonly profile: Profile;
  readonly from: number;
  readonly to: number;
  readonly isOn: (phenomenon: Phenomenon) => boolean;
};

export function createCatalog(source: Source): Catalog {
  const { profile, seed, from } = source;
  const random = createOccasion(seed, `catalog/${profile.name}`);
  const files: { name: string; onPlatform: boolean; shards: [number, number] }[] = [];
  const addFile = (): void => {
    files.push({
      name: `src/${drawWord(random)}/${drawWord(random)}-${files.length}.test.ts`,
      onPlatform: random() < platformShare,
      shards: [drawWhole(random, profile.shards), drawWhole(random, profile.platformShards)],
    });
  };
  const volatile = createOccasion(seed, `volatile/${profile.name}`);
  const tests: CatalogTest[] = [];
  const addTest = (file: number, bornAt: number): void => {
    const { onPlatform, shards } = files[file]!;
    const isVolatile = volatile() < volatileShare && source.isOn('volatile');
    const hasRetry = file % 2 === 0;
    tests.push({ number: tests.length, file, shards, onPlatform, hasRetry, isVolatile, bornAt });
  };
  for (let number = 0; number < profile.tests; number++) {
    if (number % testsPerFile === 0) addFile();
    addTest(files.length - 1, from);
  }
  const newborn = drawNewborn(source, (bornAt) => {
    addFile();
    const count = 1 + drawWhole(random, 8);
    for (let index = 0; index < count; index++) addTest(files.length - 1, bornAt);
    return tests.slice(-count).map(({ number }) => number);
  });
  const renamedAt = drawRenames(source, files.length);
  return {
    tests,
    newborn,
    ...createNames(
      source,
      tests,
      files.map(({ name }) => name),
      renamedAt,
    ),
  };
}

function drawNewborn(source: Source, add: (at: number) => readonly number[]): readonly number[] {
  if (!source.isOn('newborn')) return [];
  const { from, to, profile } = source;
  const random = createOccasion(source.seed, `newborn/${profile.name}`);
  return drawInstants(random, from, to, newbornEveryDays[profile.name] * dayMs).flatMap(add);
}

/** By file, the instant of its renaming. */
function drawRenames(source: Source, files: number): ReadonlyMap<number, number> {
  if (!source.isOn('renames')) return new Map();
  const { from, to, profile } = source;
  const random = createOccasion(source.seed, `renames/${profile.name}`);
  return new Map(
    drawInstants(random, from, to, renamesEveryDays[profile.name] * dayMs).map((at) => [
      drawWhole(random, files),
      at,
    ]),
  );
}

function createNames(
  source: Source,
  tests: readonly CatalogTest[],
  files: readonly string[],
  renamedAt: ReadonlyMap<number, number>,
): Pick<Catalog, 'nameAt' | 'suiteAt' | 'volatileIn' | 'numberOf'> {
  const nameIn = (file: string, test: CatalogTest, suffix: string): TestName => {
    const name = `case ${test.number} does what it should${suffix}`;
    return { file, classname: '', parent: '', name };
  };
  const names = tests.map((test): readonly [TestName, TestName] => {
    const file = files[test.file]!;
    return [nameIn(file, test, ''), nameIn(file.replace('.test', '-renamed.test'), test, '')];
  });
  const nameAt: Catalog['nameAt'] = (test, at, random) => {
    if (test.isVolatile) {
      const port = 20_000 + drawWhole(random, 40_000);
      return nameIn(files[test.file]!, test, ` at 127.0.0.1:${port}/${drawId(random)}`);
    }
    return names[test.number]![at >= (renamedAt.get(test.file) ?? Infinity) ? 1 : 0];
  };
  const changes = [...new Set([...renamedAt.values(), ...tests.map(({ bornAt }) => bornAt)])].sort(
    (a, b) => a - b,
  );
  const kept = new Map<string, Suite>();
  const inShard = (job: Job, shard: number) => (test: CatalogTest) =>
    test.shards[job] === shard && (job === 0 || test.onPlatform);
  // Tests of a suite are not volatile: nothing is drawn for their names.
  const random = createOccasion(source.seed, 'names');
  const volatile = tests.filter(({ isVolatile }) => isVolatile);
  return {
    nameAt,
    // Also of a name in which what changes from run to run is masked.
    numberOf: (name) => Number(/^case (\d+) /u.exec(name)?.[1] ?? -1),
    volatileIn: (job, shard) => volatile.filter(inShard(job, shard)),
    suiteAt: (job, shard, at) => {
      const version = changes.findLastIndex((change) => change <= at);
      const id = `${jobNames[job]}-${shard}-${version}`;
      const known = kept.get(id);
      if (known !== undefined) return known;
      const own = tests.filter((test) => inShard(job, shard)(test) && !test.isVolatile && test.bornAt <= at);
      const suite = { id, tests: own.map((test) => nameAt(test, at, random)) };
      kept.set(id, suite);
      return suite;
    },
  };
}

/** A version 4 UUID. */
function drawId(random: Random): string {
  const hex = Array.from({ length: 32 }, () => drawWhole(random, 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

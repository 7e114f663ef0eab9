// Flaky tests: how often each fails without another cause, when, and with which message. Rates are those of the public data, the frailest of
// them thinned out: most fail less than once in 100 runs. They drift over days, and follow the load of the day.
//
//   flaky      fails by chance, some in herds that fail together
//   newborn    the same, of a test that is new
//   platform   the same, in the job of the second platform only
//   load       times out when the machines are busy, more each week
//   order      fails when another test ran before it in its shard, for spells of hours
//   volatile   a flaky test whose name differs with every run

import { dayMs, hourMs } from '#base/duration.ts';
import { readProjects } from '../project.ts';
import { drawWhole, type Random, shuffle } from '../random.ts';
import type { Catalog, CatalogTest, Job } from './catalog.ts';
import { createOccasion, drawBetween, drawExponential, drawMessage, isIn } from './draw.ts';
import type { Phenomenon, Profile } from './profile.ts';
import type { Cause, FlakyKind, Interval } from './truth.ts';

const flakyShare = 0.025;
const newbornFlakyShare = 0.2;
/** Of the flaky tests. */
const kindShares: readonly (readonly [FlakyKind, number])[] = [
  ['load', 0.09],
  ['order', 0.03],
];
/** Rates above this are thinned out, since a suite that is always red is soon repaired. A small suite can bear more of them. */
const frailFrom = 0.03;
const frailKept = { low: 0.6, mid: 0.12, high: 0.12 };
const rateMax = 0.35;
const herdShare = 0.3;
const fixedShare = 0.25;
const relapseShare = 0.25;
const laterShare = 0.2;

export type Flake = {
  readonly test: CatalogTest;
  readonly kind: FlakyKind;
  readonly cause: Cause;
  /** Only in this job; null: in both. */
  readonly job: Job | null;
  readonly flaky: readonly Interval[];
  /** The chance that an attempt fails at that time. */
  readonly chanceAt: (at: number) => number;
  /** The chance that the second attempt fails as well. */
  readonly again: number;
  /** Tests of a herd share their luck. */
  readonly herd: number;
  /** Its messages, the commonest first. */
  readonly messages: readonly string[];
};

type Source = {
  readonly seed: number;
  readonly profile: Profile;
  readonly from: number;
  readonly to: number;
  readonly isOn: (phenomenon: Phenomenon) => boolean;
};

/** 0 at night and on a weekend, 1 when everybody works. */
export function activityAt(at: number): number {
  const hour = (at % dayMs) / hourMs;
  const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
  const ofDay = hour >= 8 && hour < 18 ? 1 : hour >= 6 && hour < 22 ? 0.3 : 0.06;
  return isWeekend ? ofDay * 0.15 : ofDay;
}

export function drawFlakes(source: Source, catalog: Catalog): readonly Flake[] {
  const { seed, profile } = source;
  const random = createOccasion(seed, `flakes/${profile.name}`);
  const rates = readProjects().flatMap(({ rates: all }) => [...all].filter((rate) => rate > 0));
  const newborn = new Set(catalog.newborn);
  const flakes: Flake[] = [];
  let herd = 0;
  let herdLeft = 0;
  for (const test of shuffle(random, catalog.tests)) {
    const isNew = newborn.has(test.number);
    const share = isNew ? newbornFlakyShare : test.isVolatile ? 0.25 : flakyShare;
    // The same draws for every test, so that a switch moves no other test.
    const [flakyDraw, kindDraw, ownSeed] = [random(), random(), random()];
    if (flakyDraw >= share) continue;
    const own = createOccasion(Math.floor(ownSeed * 2 ** 31), 'flake');
    const kind = drawKind(source, test, isNew, kindDraw);
    if (kind === null) continue;
    if (herdLeft-- <= 0) {
      herd++;
      herdLeft = own() < herdShare && source.isOn('herds') ? 1 + drawWhole(own, 7) : 0;
    }
    flakes.push(createFlake(source, test, kind, herd, drawRate(own, rates, frailKept[profile.name]), own));
  }
  return flakes;
}

/** Null: its phenomenon is off. */
function drawKind(source: Source, test: CatalogTest, isNew: boolean, draw: number): FlakyKind | null {
  if (test.isVolatile) return 'volatile';
  if (isNew) return 'newborn';
  let below = 0;
  for (const [kind, share] of kindShares) {
    below += share;
    if (draw < below) return source.isOn(kind as Phenomenon) ? kind : null;
  }
  if (test.onPlatform && draw < below + 0.35) return source.isOn('platform') ? 'platform' : null;
  return 'flaky';
}

function drawRate(random: Random, rates: readonly number[], kept: number): number {
  for (;;) {
    const rate = rates[drawWhole(random, rates.length)]!;
    if (rate > rateMax || (rate > frailFrom && random() >= kept)) continue;
    return rate;
  }
}

function createFlake(
  source: Source,
  test: CatalogTest,
  kind: FlakyKind,
  herd: number,
  rate: number,
  random: Random,
): Flake {
  const flaky = drawIntervals(source, test, kind, random);
  const timeout = `Timeout of ${5_000 * (1 + drawWhole(random, 2))} ms exceeded`;
  const ways = 1 + (random() < 0.3 ? 1 : 0) + (random() < 0.1 ? 1 : 0);
  const messages = Array.from({ length: ways }, () => (random() < 0.35 ? timeout : drawMessage(random)));
  const common = { test, kind, flaky, herd, messages };
  if (kind === 'order') {
    const spells = drawSpells(source, random);
    const chance = 0.4 + 0.55 * random();
    const chanceAt = (at: number) => (isIn(spells, at) && isIn(flaky, at) ? chance : 0);
    return { ...common, cause: 'order', job: 0, chanceAt, again: 0.9 };
  }
  const drift = createDrift(source, random);
  if (kind === 'load') {
    const chanceAt = (at: number) => (isIn(flaky, at) ? loadChance(source, at, drift(at)) : 0);
    return { ...common, cause: 'load', job: null, chanceAt, again: 0.5, messages: [timeout], herd: -1 };
  }
  const chanceAt = (at: number) =>
    isIn(flaky, at) ? Math.min(0.6, rate * drift(at) * (0.8 + 0.4 * activityAt(at))) : 0;
  const isPlatform = kind === 'platform';
  return {
    ...common,
    cause: isPlatform ? 'platform-flake' : 'flake',
    job: isPlatform ? 1 : null,
    chanceAt,
    again: Math.max(rate, 0.2),
  };
}

/** Grows over the weeks, and is high at noon only. */
function loadChance({ from, to }: Source, at: number, drift: number): number {
  const grown = 0.4 + (at - from) / (to - from);
  return Math.min(0.5, 0.025 * drift * grown * activityAt(at) ** 2);
}

function createDrift(source: Source, random: Random): (at: number) => number {
  const width = 0.9 * random();
  const periodMs = (4 + 16 * random()) * dayMs;
  const phase = random() * 2 * Math.PI;
  if (!source.isOn('drift')) return () => 1;
  return (at) => Math.exp(width * Math.sin((2 * Math.PI * at) / periodMs + phase));
}

function drawSpells({ from, to, profile }: Source, random: Random): readonly Interval[] {
  const spells: Interval[] = [];
  const meanMs = (profile.days / 8) * dayMs;
  for (let at = from + drawExponential(random, meanMs); at < to; at += drawExponential(random, meanMs)) {
    const until = at + drawBetween(random, [1.5, 12]) * hourMs;
    spells.push([at, until]);
    at = until;
  }
  return spells;
}

/** When it is flaky: some become so later, some are fixed, and of these some relapse. */
function drawIntervals(
  source: Source,
  test: CatalogTest,
  kind: FlakyKind,
  random: Random,
): readonly Interval[] {
  const { from, to } = source;
  const draws = [random(), random(), random(), random(), random(), random()] as const;
  const isLater = draws[0] < laterShare && kind !== 'newborn';
  const begin = Math.max(test.bornAt, isLater ? from + 0.6 * draws[1] * (to - from) : from);
  const isFixed = draws[2] < fixedShare && source.isOn('fixes');
  if (!isFixed) return [[begin, to]];
  const end = begin + (0.2 + 0.7 * draws[3]) * (to - begin);
  if (draws[4] >= relapseShare) return [[begin, end]];
  return [
    [begin, end],
    [Math.min(to, end + (1 + 6 * draws[5]) * dayMs), to],
  ];
}

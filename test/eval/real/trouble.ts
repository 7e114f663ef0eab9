// What makes sound tests fail: services that go away again and again, mass failures, and regressions of the default branch.

import { dayMs, hourMs } from '#base/duration.ts';
import { drawGeometric, drawWhole, type Random } from '../random.ts';
import type { Catalog } from './catalog.ts';
import { createOccasion, drawBetween, drawInstants, drawMessage, drawWord } from './draw.ts';
import type { Phenomenon, Profile } from './profile.ts';
import type { Interval, Regression } from './truth.ts';

export type Service = {
  readonly tests: readonly number[];
  readonly outages: readonly { readonly at: Interval; readonly chance: number }[];
  readonly messages: ReadonlyMap<number, string>;
};

type Source = {
  readonly seed: number;
  readonly profile: Profile;
  readonly from: number;
  readonly to: number;
  readonly isOn: (phenomenon: Phenomenon) => boolean;
};

/**
 * Every outage of a service takes the same tests, in whatever shard they are. In most services all of them say the same; in
 * others each test fails in its own assertion.
 */
export function drawServices(
  { seed, profile, from, to, isOn }: Source,
  catalog: Catalog,
): readonly Service[] {
  if (!isOn('outages')) return [];
  const random = createOccasion(seed, `outages/${profile.name}`);
  const words = createOccasion(seed, `own-words/${profile.name}`);
  return Array.from({ length: profile.services }, () => {
    const count = Math.round(drawBetween(random, profile.serviceTests));
    const tests = Array.from({ length: count }, () => drawWhole(random, profile.tests)).filter(
      (number) => !catalog.tests[number]!.isVolatile,
    );
    const everyMs = drawBetween(random, profile.outageEveryDays) * dayMs;
    const outages = drawInstants(random, from, to, everyMs).map((at) => ({
      at: [at, at + drawBetween(random, profile.outageHours) * hourMs] as const,
      // Some outages are slow answers, in which every other test still passes.
      chance: random() < 0.6 ? 0.95 : 0.2 + 0.6 * random(),
    }));
    const shared = drawOutageMessage(random);
    const isInOwnWords = isOn('own-words') && words() < 0.35;
    const messages = new Map(tests.map((test) => [test, isInOwnWords ? drawMessage(words) : shared]));
    return { tests, outages, messages };
  });
}

function drawOutageMessage(random: Random): string {
  const host = drawWord(random);
  const draw = random();
  if (draw < 0.5) return `Error: connect ECONNREFUSED ${host}.internal:5432`;
  if (draw < 0.8) return `HTTPError: 503 Service Unavailable from ${host}`;
  return `Timeout of 5000 ms exceeded`;
}

export type PlannedRegression = Regression & { readonly messages: ReadonlyMap<number, string> };

/** A regression fails the tests of one file and its neighbours; half of the time all of them say the same. */
export function drawRegressions(source: Source, catalog: Catalog): readonly PlannedRegression[] {
  const { profile } = source;
  const ordinary = source.isOn('regressions')
    ? drawKind(source, 'regressions', profile.regressionsDaily, profile.regressionHours)
    : [];
  const platform = source.isOn('platform')
    ? drawKind(source, 'platform', profile.platformRegressionsDaily, profile.platformRegressionHours)
    : [];
  const onPlatform = catalog.tests.filter((test) => test.onPlatform && !test.isVolatile);
  const anywhere = catalog.tests.filter((test) => !test.isVolatile && test.number < profile.tests);
  return [
    ...ordinary.map(({ random, from, to }) => {
      const tests = drawNeighbours(random, anywhere, drawGeometric(random, 0.42));
      const chance = random() < 0.85 ? 1 : 0.85;
      return { tests, from, to, isPlatform: false, chance, messages: drawMessages(random, tests) };
    }),
    ...platform.map(({ random, from, to }) => {
      const tests = drawNeighbours(random, onPlatform, 1 + drawWhole(random, 7));
      return { tests, from, to, isPlatform: true, chance: 1, messages: drawMessages(random, tests) };
    }),
  ];
}

function drawKind(
  { seed, profile, from, to }: Source,
  name: string,
  daily: number,
  hours: readonly [number, number],
) {
  const random = createOccasion(seed, `${name}/${profile.name}`);
  return drawInstants(random, from, to, dayMs / daily).map((at, index) => {
    const own = createOccasion(seed, `${name}/${profile.name}/${index}`);
    return { random: own, from: at, to: at + drawBetween(own, hours) * hourMs };
  });
}

/** Mostly of one file, and some of anywhere. */
function drawNeighbours(
  random: Random,
  tests: readonly { readonly number: number }[],
  count: number,
): readonly number[] {
  const first = drawWhole(random, tests.length);
  const numbers = new Set<number>();
  for (let index = 0; numbers.size < count && index < count * 4; index++) {
    const at = random() < 0.8 ? first + drawWhole(random, 3 * count) : drawWhole(random, tests.length);
    numbers.add(tests[at % tests.length]!.number);
  }
  return [...numbers];
}

function drawMessages(random: Random, tests: readonly number[]): ReadonlyMap<number, string> {
  const shared = random() < 0.5 ? drawMessage(random) : null;
  return new Map(tests.map((test) => [test, shared ?? drawMessage(random)]));
}

/** Runs that fail as a whole: a registry or a runner is down. Returns the share of tests that fail, 0 for most runs. */
export function drawMassShare(random: Random): number {
  return random() < 0.0005 ? 0.1 + 0.9 * random() : 0;
}

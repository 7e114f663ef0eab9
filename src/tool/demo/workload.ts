// The work of the simulated team: which pull requests it opens, when, and what is wrong with them. All of it
// follows from the seed, the repository and the number of the pull request, and nothing from the settings of
// the queue: two runs with one seed and different settings handle the same pull requests.
//
// The tree decides which tests fail. #7, which breaks alone, adds breaks/7. #9, which breaks together with
// #8, adds breaks-with/8/9, and breaks a tree that has change/8.txt too. More files never fix a tree.

import { chance } from './chance.ts';
import type { DemoRepository } from './repository.ts';

export type PlannedChange = {
  readonly repository: DemoRepository;
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly priority: 'urgent' | 'high' | 'medium' | 'low';
  /** When it is opened and submitted, in milliseconds from the beginning at speed 1. */
  readonly arrivesAtMs: number;
  /** How long CI takes for a run whose last change this is, in milliseconds at speed 1. */
  readonly ciMs: number;
  readonly targets: readonly string[];
  readonly breaksAlone: boolean;
  /** Earlier pull requests that it breaks together with, though each passes alone. */
  readonly breaksWith: readonly number[];
  /** Its author cancels it this long after submitting it, in milliseconds at speed 1; null: never. */
  readonly cancelledAfterMs: number | null;
  readonly files: Readonly<Record<string, string>>;
};

const aloneShare = 0.07;
const pairShare = 0.08;
/** Conflicting pairs are chosen among this many neighbours. */
const neighbours = 6;
const cancelShare = 0.04;
/** This many come at once, and the one with this index breaks, so that there is something to see. */
const openingCount = 4;
const openingBreaks = 2;
const ciMs = { min: 8_000, max: 24_000 };

const people = ['ana', 'ben', 'chidi', 'dora', 'emre', 'fay', 'goran', 'hana'];
const deeds = [
  'Speed up',
  'Rename the parts of',
  'Fix a race in',
  'Log less in',
  'Cache',
  'Tidy',
  'Test',
  'Split',
];

const pick = <Item>(items: readonly Item[], luck: number): Item => items[Math.floor(luck * items.length)]!;

/** The pull requests of one repository, in the order of arrival, without end. */
export function* changesOf(repository: DemoRepository, seed: number): Generator<PlannedChange, never> {
  const recent: PlannedChange[] = [];
  let nowMs = 0;
  for (let index = 0; ; index++) {
    const number = index + 1;
    const draw = (what: string) => chance(seed, repository.repo.name, number, what);
    nowMs += index < openingCount ? 300 : waitMs(draw('arrival'), repository.everyMs);
    const areas = new Set([pick(repository.areas, draw('area'))]);
    if (draw('areas') < 0.3) areas.add(pick(repository.areas, draw('second area')));
    const targets = [...areas].map((area) => `//${repository.repo.name}/${area}`);
    const breaksAlone = index === openingBreaks || (index > openingBreaks && draw('alone') < aloneShare);
    const partner = recent.find(
      (earlier) =>
        !earlier.breaksAlone &&
        earlier.targets.some((target) => targets.includes(target)) &&
        draw(`with ${earlier.number}`) < pairShare,
    );
    const breaksWith = breaksAlone || partner === undefined ? [] : [partner.number];
    const change: PlannedChange = {
      repository,
      number,
      title: `${pick(deeds, draw('deed'))} ${[...areas].join(' and ')}`,
      author: pick(people, draw('author')),
      priority: choosePriority(draw('priority')),
      arrivesAtMs: nowMs,
      ciMs: Math.round(ciMs.min + (ciMs.max - ciMs.min) * draw('ci')),
      targets,
      breaksAlone,
      breaksWith,
      cancelledAfterMs:
        index >= openingCount && draw('cancel') < cancelShare ? 2_000 + 8_000 * draw('patience') : null,
      files: buildChangeFiles(number, breaksAlone, breaksWith),
    };
    yield change;
    recent.push(change);
    if (recent.length > neighbours) recent.shift();
  }
}

/** Exponential, so that pull requests come in clusters, as from people; capped, so that no pause is long. */
const waitMs = (luck: number, meanMs: number): number => Math.min(3, -Math.log(1 - luck)) * meanMs;

function choosePriority(luck: number): PlannedChange['priority'] {
  if (luck < 0.02) return 'urgent';
  if (luck < 0.08) return 'high';
  return luck < 0.2 ? 'low' : 'medium';
}

function buildChangeFiles(
  number: number,
  breaksAlone: boolean,
  breaksWith: readonly number[],
): PlannedChange['files'] {
  const paths = [
    `change/${number}.txt`,
    ...(breaksAlone ? [`breaks/${number}`] : []),
    ...breaksWith.map((earlier) => `breaks-with/${earlier}/${number}`),
  ];
  return Object.fromEntries(paths.map((path) => [path, `#${number}\n`]));
}

/** The pull requests in a tree that break it, by its paths. */
export function breakersIn(paths: readonly string[]): readonly number[] {
  const all = new Set(paths);
  return paths.flatMap((path) => {
    const [, alone] = /^breaks\/(\d+)$/.exec(path) ?? [];
    if (alone !== undefined) return [Number(alone)];
    const [, earlier, later] = /^breaks-with\/(\d+)\/(\d+)$/.exec(path) ?? [];
    return later !== undefined && all.has(`change/${earlier}.txt`) ? [Number(later)] : [];
  });
}

/** The changes of all repositories, in the order of arrival, without end. */
export function* changesOfAll(
  repositories: readonly DemoRepository[],
  seed: number,
): Generator<PlannedChange, never> {
  const streams = repositories.map((repository) => changesOf(repository, seed));
  const next = streams.map((stream) => stream.next().value);
  for (;;) {
    const first = next.reduce(
      (best, { arrivesAtMs }, at) => (arrivesAtMs < next[best]!.arrivesAtMs ? at : best),
      0,
    );
    yield next[first]!;
    next[first] = streams[first]!.next().value;
  }
}

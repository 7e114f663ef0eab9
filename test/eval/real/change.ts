// Pull requests and what is unfinished in them. Every push of a pull request may fail some of the tests near its change: always,
// with a race of its own, or until a person approves it. Agents push up to fifty times a day.

import { hourMs } from '#base/duration.ts';
import { drawGeometric, drawWhole, type Random } from '../random.ts';
import type { Catalog } from './catalog.ts';
import { createOccasion, drawExponential, drawMessage } from './draw.ts';
import type { Phenomenon, Profile } from './profile.ts';
import type { Cause } from './truth.ts';

const wipShare = 0.32;
const agentWipShare = 0.55;
const raceShare = 0.05;
const approvalShare = 0.04;
const closeShare = 0.25;
const agentShare = 0.15;
const agentPushes = 50;

export type Unfinished = {
  readonly test: number;
  readonly cause: Cause;
  readonly chance: number;
  /** From then on it passes. */
  readonly until: number;
  readonly message: string;
};

export type Push = {
  readonly head: string;
  readonly prNumber: number;
  readonly isAgent: boolean;
  readonly unfinished: readonly Unfinished[];
};

type PullRequest = {
  readonly prNumber: number;
  readonly isAgent: boolean;
  readonly focus: number;
  pushes: number;
  /** Its own race, which it keeps. */
  readonly race: readonly Unfinished[];
};

type Source = {
  readonly seed: number;
  readonly profile: Profile;
  readonly isOn: (phenomenon: Phenomenon) => boolean;
};

/** Forty digits, as a commit has. */
export const commitName = (kind: string, number: number): string =>
  createOccasion(number, kind)()
    .toString(16)
    .slice(2, 10)
    .padEnd(8, '0')
    .concat(number.toString(16).padStart(32, '0'));

export function createPullRequests(source: Source, catalog: Catalog) {
  const { seed, profile, isOn } = source;
  const random = createOccasion(seed, `pull-requests/${profile.name}`);
  const open: PullRequest[] = [];
  let opened = 0;
  let pushed = 0;
  let agent: PullRequest | null = null;

  const openOne = (isAgent: boolean): PullRequest => {
    const focus = drawWhole(random, profile.tests);
    const draw = random();
    const race = draw < raceShare ? nearby(random, focus, 1).map((test) => drawRace(random, test)) : [];
    return { prNumber: ++opened, isAgent, focus, pushes: 0, race };
  };

  /** "Spread wider": half of what fails is anywhere in the suite. */
  const nearby = (own: Random, focus: number, count: number): number[] =>
    Array.from({ length: count }, () =>
      own() < 0.5 ? (focus + drawWhole(own, 60)) % profile.tests : drawWhole(own, profile.tests),
    ).filter((number) => !catalog.tests[number]!.isVolatile);

  const choose = (): PullRequest => {
    if (isOn('agents') && random() < agentShare) {
      if (agent === null || agent.pushes >= agentPushes) agent = openOne(true);
      return agent;
    }
    const isNew = open.length === 0 || random() < 1 - open.length / (2 * profile.openPullRequests);
    if (isNew) open.push(openOne(false));
    const place = isNew ? open.length - 1 : drawWhole(random, open.length);
    const chosen = open[place]!;
    if (random() < closeShare) open.splice(place, 1);
    return chosen;
  };

  return {
    push: (at: number): Push => {
      const chosen = choose();
      chosen.pushes++;
      const head = commitName(`head/${seed}`, ++pushed);
      const own = createOccasion(seed, `wip/${profile.name}/${pushed}`);
      const { prNumber, isAgent, focus, race } = chosen;
      if (!isOn('wip')) return { head, prNumber, isAgent, unfinished: [] };
      const isFailing = own() < (isAgent ? agentWipShare : wipShare);
      const tests = isFailing ? nearby(own, focus, drawGeometric(own, 0.3)) : [];
      return { head, prNumber, isAgent, unfinished: [...race, ...drawUnfinished(own, tests, at)] };
    },
  };
}

const drawRace = (random: Random, test: number): Unfinished => ({
  test,
  cause: 'race',
  chance: 0.2 + 0.6 * random(),
  until: Infinity,
  message: drawMessage(random),
});

function drawUnfinished(random: Random, tests: readonly number[], at: number): readonly Unfinished[] {
  const shared = random() < 0.5 ? drawMessage(random) : null;
  const isApproval = random() < approvalShare;
  const until = isApproval ? at + drawExponential(random, 3 * hourMs) : Infinity;
  return tests.map((test) => ({
    test,
    cause: isApproval ? 'approval' : 'wip',
    chance: 1,
    until,
    message: shared ?? drawMessage(random),
  }));
}

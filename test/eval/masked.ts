// A flaky test is quarantined, and then something really breaks it. Would anybody see?
//
// Each flaky test of the data runs for two weeks, with as many ways to flake as it showed types of exception, the first
// the commonest (by 1, 1/2, 1/3 …). Where our rules quarantine it, it breaks: from then on every run of the default
// branch fails, and every other one is run again. What the breakage says is new, or, with the chance that is assumed,
// just what the test says when it flakes: nothing public tells how often that is, so it is shown for several chances.
// The one that is quoted, 10 %, is the product of two guesses: four in ten breakages throw what the flake throws, and one
// in four of those at the same assertion.
//
//   at first      the first failure is excused: the change lands
//   after 3 runs  the third run of the default branch is excused as well: nobody looks
//
// Without the fingerprint rule every failure of a quarantined test is excused; that it fails in a row ends the quarantine
// in both cases.

import { emptyHistory, flakeFingerprints, type TestCaseHistory, record } from '#core/health/history.ts';
import type { RunFact } from '#core/health/recent-run.ts';
import { evaluate } from '#core/health/monitor/monitor.ts';
import { isExcused, shouldQuarantine } from '#core/health/quarantine/quarantine.ts';
import type { MonitorId } from '#core/health/monitor/monitors.ts';
import { days } from './generate.ts';
import { instantOf, replaySettings, sourceOf } from './ours.ts';
import type { Project } from './project.ts';
import { createRandom, type Random } from './random.ts';

export const collisions: readonly number[] = [0, 0.02, 0.05, 0.1, 0.2, 0.5];
export const quotedCollision = 0.1;

export type Masked = {
  readonly project: string;
  readonly test: number;
  readonly rate: number;
  /** For each of the first runs after the breakage: is every failure excused? Without and with the rule, by collision. */
  readonly without: readonly boolean[];
  readonly withRule: readonly (readonly boolean[])[];
};

const runsDaily = 84;
const defaultEvery = 3.5;
const breakageRuns = 10;

type Course = { history: TestCaseHistory; active: readonly MonitorId[]; source: number };

/** `null`: passed. */
function tell(course: Course, at: number, isDefault: boolean, says: string | null, tests: number): void {
  const fact: RunFact = {
    at: instantOf(at),
    source: sourceOf(course.source),
    branchClass: isDefault ? 'default' : 'pull_request',
    prNumber: isDefault ? null : course.source,
    outcome: says === null ? 'passed' : 'failed',
    isSuspect: false,
    fingerprint: says,
    failing: 1,
    tests,
  };
  course.history = record(course.history, fact);
}

function isQuarantined(course: Course, at: number): boolean {
  const before = { mutes: [], manualStatus: null, wasActive: course.active };
  const { monitors, status, mayAutoQuarantine } = evaluate(
    course.history,
    replaySettings,
    before,
    instantOf(at),
  );
  course.active = monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor);
  const facts = { settings: replaySettings, setting: 'AUTO_QUARANTINE', expiresAt: null } as const;
  return shouldQuarantine({ ...facts, status: status.value, mayAutoQuarantine }, instantOf(at));
}

function drawSignature(random: Random, types: number): string {
  let total = 0;
  for (let type = 1; type <= types; type++) total += 1 / type;
  let left = random() * total;
  for (let type = 1; type < types; type++) {
    left -= 1 / type;
    if (left < 0) return `flake ${type}`;
  }
  return `flake ${types}`;
}

/** Two weeks of flaking; null: it is not quarantined when they are over. */
function flake(random: Random, rate: number, types: number, tests: number): Course | null {
  const course: Course = { history: emptyHistory, active: [], source: 0 };
  const draw = (): string | null => (random() < rate ? drawSignature(random, types) : null);
  let isIn = false;
  for (let run = 0; run < days * runsDaily; run++) {
    const at = run / runsDaily;
    const isDefault = Math.floor(run / defaultEvery) !== Math.floor((run - 1) / defaultEvery);
    course.source = run;
    const says = draw();
    tell(course, at, isDefault, says, tests);
    if (says === null) continue;
    if (!isDefault || random() < 0.5) tell(course, at + 0.003, isDefault, draw(), tests);
    isIn = isQuarantined(course, at + 0.003);
  }
  isIn &&= isQuarantined(course, days);
  return isIn ? course : null;
}

function breakIt(
  random: Random,
  begun: Course,
  says: string,
  tests: number,
): { excused: boolean[]; rule: boolean[] } {
  const course = { ...begun };
  const excused: boolean[] = [];
  const rule: boolean[] = [];
  for (let run = 0; run < breakageRuns; run++) {
    course.source++;
    const at = days + (run * defaultEvery) / runsDaily;
    const known = flakeFingerprints(course.history);
    const isIn = isQuarantined(course, at);
    const setting = 'AUTO_QUARANTINE' as const;
    excused.push(isIn);
    rule.push(isExcused({ isQuarantined: isIn, setting, fingerprints: [says], known }));
    tell(course, at, true, says, tests);
    if (random() < 0.5) tell(course, at + 0.003, true, says, tests);
  }
  return { excused, rule };
}

export function maskRegressions(project: Project, seed: number): Masked[] {
  const { rates, exceptionTypes, name } = project;
  const found: Masked[] = [];
  for (const [test, rate] of rates.entries()) {
    if (rate === 0) continue;
    const random = createRandom(seed, `masked/${name}/${test}`);
    const types = Math.max(1, exceptionTypes[test]!);
    const course = flake(random, rate, types, rates.length);
    if (course === null) continue;
    const luck = random();
    const alike = drawSignature(random, types);
    const courses = collisions.map((chance) =>
      breakIt(random, course, luck < chance ? alike : 'breakage', rates.length),
    );
    found.push({
      project: name,
      test,
      rate,
      without: courses[0]!.excused,
      withRule: courses.map(({ rule }) => rule),
    });
  }
  return found;
}

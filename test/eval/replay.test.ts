import { describe, expect, it } from 'vitest';
import { emptyHistory, type TestCaseHistory, record } from '#core/health/history.ts';
import { evaluate } from '#core/health/monitor/monitor.ts';
import type { MonitorId } from '#core/health/monitor/monitors.ts';
import { tryChangepoint } from './changepoint-trial.ts';
import { markSuspects, references } from './detector.ts';
import { ours, runExperiment } from './experiment.ts';
import { generate, quotedSeeds, type Replay, type Upload } from './generate.ts';
import { generateHeldOut } from './generate-held-out.ts';
import { maskRegressions } from './masked.ts';
import { emptyTally, scoresOf, tallyReplay } from './metric.ts';
import { instantOf, classifyReplay, replaySettings, sourceOf } from './ours.ts';
import { type Project, readProjects } from './project.ts';

const projects = readProjects();
const named = (name: string): Project => projects.find((project) => project.name === name)!;
const small = named('orbit-orbit');

const upload = (at: number, source: number, failed: readonly number[]): Upload => ({
  at,
  source,
  branchClass: 'pull_request',
  pullRequest: source,
  failed: Int32Array.from(failed),
  flaky: new Int32Array(0),
});

/** Test 0 flakes on the first two of five commits, test 1 is met by an outage once, test 2 never fails. */
const tiny: Replay = {
  project: { name: 'tiny', rates: Float64Array.of(0.4, 0, 0), exceptionTypes: Uint8Array.of(1, 0, 0) },
  uploads: [
    upload(0, 0, [0]),
    upload(0.1, 0, []),
    upload(1, 1, [0, 1]),
    upload(1.1, 1, []),
    upload(2, 2, []),
    upload(3, 3, []),
    upload(4, 4, []),
  ],
  flakyFailures: Float64Array.of(2, 0, 0),
  flakyFailuresAt: [[0, 1], [], []],
};

describe('the data', () => {
  it('are 811 flaky tests among 22,097 that pass at times, in 24 projects', () => {
    expect(projects).toHaveLength(24);
    expect(projects.reduce((sum, { rates }) => sum + rates.length, 0)).toBe(22_097);
    const flaky = projects
      .flatMap(({ rates }) => [...rates].filter((rate) => rate > 0))
      .sort((a, b) => a - b);
    expect(flaky).toHaveLength(811);
    expect(flaky[405]).toBeCloseTo(0.0071, 4);
  });
});

describe('a replay', () => {
  it('is the same for the same seed, and another for another', () => {
    const shape = ({ uploads }: Replay): number =>
      uploads.reduce((sum, { failed }) => sum + failed.length, 0);
    expect(quotedSeeds).toEqual([1, 2, 3, 4, 5]);
    expect(shape(generate('hard', small, 1))).toBe(shape(generate('hard', small, 1)));
    expect(shape(generate('hard', small, 1))).not.toBe(shape(generate('hard', small, 2)));
    expect(shape(generateHeldOut(small, 1))).not.toBe(shape(generateHeldOut(small, 2)));
  });

  it('holds 84 commits a day', () => {
    const { uploads } = generate('easy', small, 1);
    expect(new Set(uploads.map(({ source }) => source)).size).toBe(84 * 14);
    expect(uploads.filter(({ branchClass }) => branchClass === 'default').length).toBeGreaterThanOrEqual(
      24 * 14,
    );
  });
});

describe('the rules of others', () => {
  const flagged = (name: string): number[] => {
    const reference = references.find((one) => one.name === name)!;
    return [...reference.detect(tiny).keys()].toSorted((a, b) => a - b);
  };

  it('are those that they publish', () => {
    expect(flagged('one event')).toEqual([0, 1]);
    expect(flagged('any failure, 30 passes')).toEqual([0, 1]);
    expect(flagged('LUCI, with every upload')).toEqual([0]);
    expect(flagged('LUCI, from 100 commits on')).toEqual([]);
    expect(flagged('two and guard')).toEqual([0]);
    expect(flagged('transition rate')).toEqual([]);
  });
});

describe('the metrics', () => {
  it('count as they say', () => {
    const tally = emptyTally();
    tallyReplay(
      tally,
      tiny,
      new Map([
        [0, [[0.5, 2]]],
        [1, [[1.1, Infinity]]],
      ]),
    );
    expect(scoresOf(tally)).toEqual({
      precision: 0.5,
      testRecall: 1,
      massRecall: 1,
      massCovered: 0.5,
      falseVerdicts: 1,
      daysToDetect: { median: 0.5, p90: 0.5 },
      runsToDetect: { median: 1, p90: 1 },
      flaps: (1 / 14) * 100,
    });
  });
});

describe('our classification on a replay', () => {
  it('is that of one fact after the other', () => {
    const replay = generate('hard', small, 1);
    expect(classifyReplay(replay).flaky).toEqual(classifyOneByOne(replay));
  });

  it('finds what it finds', () => {
    const { tallies } = runExperiment('hard', 1, [small.name, 'tootallnate-java-websocket']);
    const { precision, massRecall } = scoresOf(tallies[ours]!);
    expect(precision).toBe(1);
    expect(massRecall).toBeGreaterThan(0.98);
    const single = scoresOf(tallies['one event']!);
    expect(single.precision).toBeLessThan(0.7);
  });
});

describe('the trials', () => {
  it('call a test broken soon, and have the culprit in the range', () => {
    const found = Array.from({ length: 40 }, (_, trial) => tryChangepoint(1, trial));
    expect(found.filter(({ isInside }) => isInside).length).toBeGreaterThanOrEqual(39);
    const clean = found.filter(({ isFlaky, isWhole }) => !isFlaky && isWhole);
    expect(Math.max(...clean.map(({ runs }) => runs))).toBeLessThanOrEqual(3);
  });

  it('hide nothing that says something new', () => {
    const found = maskRegressions(small, 1);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ without }) => without[0])).toBe(true);
    expect(found.every(({ withRule }) => withRule[0]!.every((isHidden) => !isHidden))).toBe(true);
  });
});

/** Every test is watched from the beginning. */
function classifyOneByOne(replay: Replay): Map<number, [number, number][]> {
  const suspects = markSuspects(replay);
  const tests = replay.project.rates.length;
  const verdicts = new Map<number, [number, number][]>();
  for (let test = 0; test < tests; test++) {
    let history: TestCaseHistory = emptyHistory;
    let wasActive: readonly MonitorId[] = [];
    const spans: [number, number][] = [];
    for (const one of replay.uploads) {
      history = record(history, {
        at: instantOf(one.at),
        source: sourceOf(one.source),
        branchClass: one.branchClass,
        prNumber: one.pullRequest,
        outcome: one.failed.includes(test) ? 'failed' : 'passed',
        isSuspect: suspects.has(one),
        fingerprint: null,
        failing: one.failed.length,
        tests,
      });
      const before = { mutes: [], manualStatus: null, wasActive };
      const { monitors } = evaluate(history, replaySettings, before, instantOf(one.at));
      wasActive = monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor);
      const isOpen = spans.at(-1)?.[1] === Infinity;
      const isFlaky = wasActive.includes('pass_on_retry');
      if (isFlaky && !isOpen) spans.push([one.at, Infinity]);
      if (!isFlaky && isOpen) spans[spans.length - 1]![1] = one.at;
    }
    if (spans.length > 0) verdicts.set(test, spans);
  }
  return verdicts;
}

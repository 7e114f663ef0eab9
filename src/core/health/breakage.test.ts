import { describe, expect, it } from 'vitest';
import { excusableFingerprints } from './explained.ts';
import { emptyHistory, record, type TestCaseHistory } from './history.ts';
import { decodeHistory, encodeHistory } from './history-bytes.ts';
import { hashText, type RunFact } from './recent-run.ts';

const begunAt = Date.UTC(2026, 10, 2, 8);
const minute = 60_000;

const fact = (minutes: number, source: string, fingerprint: string | null): RunFact => ({
  at: begunAt + minutes * minute,
  source: source.padEnd(40, '0'),
  branchClass: 'default',
  prNumber: null,
  outcome: fingerprint === null ? 'passed' : 'failed',
  isSuspect: false,
  fingerprint,
  failing: 1,
  tests: 1_000,
  job: 'test',
});

const onPullRequest = (minutes: number, fingerprint: string | null): RunFact => ({
  ...fact(minutes, 'f', fingerprint),
  branchClass: 'pull_request',
  prNumber: 7,
});

const play = (facts: readonly RunFact[], from = emptyHistory): TestCaseHistory => facts.reduce(record, from);

/** A commit of main a minute: p passed, f failed with `sum`. The name of a commit is its minute. */
const onMain = (course: string, from = 0): readonly RunFact[] =>
  Array.from(course, (mark, at) => fact(from + at, `a${from + at}b`, mark === 'f' ? 'sum' : null));

const breakage = (from: number, to: number) => ({
  cause: hashText('sum'),
  job: hashText('test'),
  from: begunAt + from * minute,
  to: begunAt + to * minute,
  isPartial: true,
});

/** Main is tested so often that nothing of the breakage is left in the ring. */
const broken = `${'p'.repeat(20)}fffffpffff${'p'.repeat(80)}`;

describe('a breakage of the default branch', () => {
  it('is remembered for longer than its runs, from its first to its last failure', () => {
    const history = play(onMain(broken));
    expect(history.onDefault.every(({ outcome }) => outcome === 'passed')).toBe(true);
    expect(history.breakages).toEqual([breakage(20, 29)]);
    expect(decodeHistory(encodeHistory(history))).toEqual(history);
  });

  it('explains a pull request that failed meanwhile and passes once the ring has forgotten it', () => {
    const facts = [...onMain(broken), onPullRequest(25, 'sum')].sort((a, b) => a.at - b.at);
    const { contradictions } = play([...facts, onPullRequest(120, null)]);
    expect(contradictions.map(({ isExplained }) => isExplained)).toEqual([true]);
  });

  it('is not excused by quarantine when an old commit is run again within a week after the repair', () => {
    const rerun = [fact(1_500, 'a28b', 'sum'), fact(1_510, 'a28b', null), fact(1_520, 'c', null)];
    expect(excusableFingerprints(play([...onMain(broken), ...rerun]))).toEqual([]);
    expect(excusableFingerprints(play(rerun))).toEqual(['sum']);
    const late = fact(29 + 7 * 24 * 60, 'd', null);
    expect(excusableFingerprints(play([...onMain(broken), ...rerun, late]))).toEqual([]);
    expect(excusableFingerprints(play([...onMain(broken), ...rerun, { ...late, at: late.at + 1 }]))).toEqual([
      'sum',
    ]);
  });

  it('explains a pull request up to two hours before and after it', () => {
    const isExplained = (minutes: number) => {
      const main = onMain(broken, 200);
      const facts = [fact(0, 'b', null), ...main, onPullRequest(minutes, 'sum')].sort((a, b) => a.at - b.at);
      return play([...facts, fact(400, 'c', null), onPullRequest(500, null)]).contradictions[0]!.isExplained;
    };
    expect([99, 100, 349, 350].map(isExplained)).toEqual([false, true, true, false]);
  });

  it('is the same in whatever order its runs arrive', () => {
    const facts = onMain(`${'p'.repeat(20)}fffffpffffpppppp`);
    expect(play(facts.toReversed()).breakages).toEqual(play(facts).breakages);
    expect(play(facts).breakages).toEqual([breakage(20, 29)]);
  });

  it('is not a test that fails every other time, nor a few commits', () => {
    expect(play(onMain(`${'p'.repeat(20)}${'fpffp'.repeat(8)}`)).breakages).toEqual([]);
    expect(play(onMain(`${'p'.repeat(20)}${'f'.repeat(7)}${'p'.repeat(20)}`)).breakages).toEqual([]);
    expect(play(onMain('fffpffppfffpffpffffff'.repeat(2))).breakages).toEqual([]);
  });

  it('is forgotten where it turns out that the test passes more often than not', () => {
    const begun = play(onMain(`${'p'.repeat(20)}ffffffff`));
    expect(begun.breakages).toHaveLength(1);
    expect(play(onMain('ppppf'.repeat(6), 28), begun).breakages).toEqual([]);
  });

  it('that came back is how the test flakes: for the second time if it passed now and then, else for the third', () => {
    const excused = (course: string, count: number) => {
      const times = Array.from({ length: count }, (_, at) => 200 + at * 200);
      const flake = [onPullRequest(1, 'sum'), onPullRequest(2, null)];
      const facts = [...flake, ...times.flatMap((at) => onMain(course, at))];
      return excusableFingerprints(play(facts.sort((a, b) => a.at - b.at)));
    };
    expect(excused(broken, 0)).toEqual(['sum']);
    expect(excused(broken, 1)).toEqual([]);
    expect(excused(broken, 2)).toEqual(['sum']);
    const always = broken.replace('fffffpffff', 'ffffffffff');
    expect(excused(always, 2)).toEqual([]);
    expect(excused(always, 3)).toEqual(['sum']);
  });

  it('is none if it lasts for more than two days in which the test passes now and then', () => {
    const lasting = (hours: number) => {
      const course = `${'p'.repeat(20)}${'fffffpfff'.repeat(hours)}`;
      const main = onMain(course).map((run, at) => ({ ...run, at: begunAt + (at * 60 * minute) / 9 }));
      const late = 60 * hours;
      const pullRequest = [onPullRequest(late, 'sum'), onPullRequest(late + 1, null)];
      return play([...main, ...pullRequest]).contradictions.map(({ isExplained }) => isExplained);
    };
    expect(lasting(40)).toEqual([true]);
    expect(lasting(60)).toEqual([false]);
  });
});

import { describe, expect, it } from 'vitest';
import { excusableFingerprints } from './explained.ts';
import { emptyHistory, record, type TestCaseHistory } from './history.ts';
import { decodeHistory, encodeHistory } from './history-bytes.ts';
import type { RunFact } from './recent-run.ts';

const begunAt = Date.UTC(2026, 10, 2, 8);
const hour = 3_600_000;

const fact = (hours: number, source: string, more: Partial<RunFact>): RunFact => ({
  at: begunAt + hours * hour,
  source: source.repeat(40),
  branchClass: 'default',
  prNumber: null,
  outcome: 'passed',
  isSuspect: false,
  fingerprint: null,
  failing: 1,
  tests: 1_000,
  job: 'test',
  ...more,
});

const onMain = (hours: number, source: string, fingerprint: string | null = null): RunFact =>
  fact(hours, source, { outcome: fingerprint === null ? 'passed' : 'failed', fingerprint });

const onPullRequest = (hours: number, fingerprint: string | null, more: Partial<RunFact> = {}): RunFact =>
  fact(hours, 'f', {
    branchClass: 'pull_request',
    prNumber: 7,
    outcome: fingerprint === null ? 'passed' : 'failed',
    fingerprint,
    ...more,
  });

const play = (facts: readonly RunFact[]): TestCaseHistory => facts.reduce(record, emptyHistory);
const explained = (facts: readonly RunFact[]) =>
  play(facts).contradictions.map(({ isExplained }) => isExplained);

describe('what the default branch explains', () => {
  it('is a failure of a pull request while the default branch fails in the same way', () => {
    const facts = [onMain(0, 'a'), onMain(2, 'b', 'sum')];
    const rerun = [onPullRequest(3, 'sum'), onMain(4, 'c'), onPullRequest(5, null)];
    expect(explained([...facts, ...rerun])).toEqual([true]);
    expect(explained([...rerun, ...facts])).toEqual([true]);
  });

  it('is not a failure of another kind, of another job or of a commit that passed when it was run again', () => {
    const facts = [onMain(0, 'a'), onMain(2, 'b', 'sum'), onMain(4, 'c')];
    const pass = onPullRequest(5, null);
    expect(explained([...facts, onPullRequest(3, 'time-out'), pass])).toEqual([false]);
    const elsewhere = { job: 'windows' };
    expect(
      explained([...facts, onPullRequest(3, 'sum', elsewhere), onPullRequest(5, null, elsewhere)]),
    ).toEqual([false]);
    expect(explained([...facts, onMain(2.5, 'b'), onPullRequest(3, 'sum'), pass])).toEqual([false, false]);
  });

  it('is a failure of a new kind until the default branch was tested again', () => {
    const facts = [onMain(0, 'a'), onPullRequest(3, 'sum'), onPullRequest(5, null)];
    expect(explained(facts)).toEqual([true]);
    expect(explained([...facts, onMain(6, 'b')])).toEqual([false]);
    expect(explained([...facts, onMain(6, 'b', 'sum')])).toEqual([true]);
  });

  it('is a failure on top of a default branch of some days ago that was broken', () => {
    const broken = [onMain(0, 'a', 'sum'), onMain(1, 'b', 'sum'), onMain(2, 'c'), onMain(60, 'd')];
    const late = [onPullRequest(50, 'sum'), onPullRequest(70, null)];
    expect(explained([...broken, ...late])).toEqual([true]);
  });

  it('is nothing once the failure came back on the default branch three times, between more passes', () => {
    const often = [1, 2, 3].flatMap((hours) => [
      onMain(hours, `${hours}`, 'sum'),
      onMain(hours + 0.3, `${hours + 3}`),
      onMain(hours + 0.6, `${hours + 6}`),
    ]);
    const facts = [onPullRequest(3.2, 'sum'), onPullRequest(4, null)];
    expect(explained([...often.slice(3), ...facts])).toEqual([true]);
    expect(explained([...often, ...facts])).toEqual([false]);
    const mostly = often.filter((_, index) => index % 3 !== 2);
    expect(explained([...mostly, ...facts])).toEqual([true]);
  });

  it('is one pass of a branch that fails on three commits in a row', () => {
    const broken = [onMain(0, 'a'), onMain(1, 'b', 'sum'), onMain(2, 'c', 'sum'), onMain(3, 'd', 'sum')];
    expect(explained([...broken, onMain(4, 'e', 'sum'), onMain(5, 'e')])).toEqual([true]);
  });
});

describe('a contradiction', () => {
  it('needs both outcomes in one job', () => {
    const linux = { job: 'linux' };
    const windows = { job: 'windows' };
    const apart = [onPullRequest(1, 'sum', windows), onPullRequest(1.1, null, linux)];
    expect(play(apart).contradictions).toEqual([]);
    expect(play([...apart, onPullRequest(2, null, windows)]).contradictions).toHaveLength(1);
  });
});

describe('what a quarantine excuses', () => {
  const flake = [onMain(0, 'a'), onPullRequest(3, 'time-out'), onPullRequest(4, null), onMain(5, 'b')];

  it('is a flake that was seen before the last pass of the default branch', () => {
    expect(excusableFingerprints(play(flake))).toEqual(['time-out']);
    expect(excusableFingerprints(play(flake.slice(0, 3)))).toEqual([]);
  });

  it('is not what the default branch fails with at present', () => {
    const failing = play([...flake, onMain(6, 'c', 'time-out')]);
    expect(excusableFingerprints(failing)).toEqual([]);
    expect(excusableFingerprints(record(failing, onMain(7, 'd')))).toEqual(['time-out']);
  });

  it('does not depend on a job that no longer runs', () => {
    const renamed = [fact(24, 'c', { job: 'test (new name)' }), fact(48, 'd', { job: 'test (new name)' })];
    const failing = play([...flake, onMain(6, 'c', 'time-out'), ...renamed]);
    expect(excusableFingerprints(failing)).toEqual([]);
    const later = record(failing, fact(80, 'e', { job: 'test (new name)' }));
    expect(excusableFingerprints(later)).toEqual(['time-out']);
  });

  it('is not what only an explained contradiction shows', () => {
    const facts = [onMain(0, 'a'), onMain(2, 'b', 'sum'), onPullRequest(3, 'sum'), onMain(4, 'c')];
    expect(excusableFingerprints(play([...facts, onPullRequest(5, null), onMain(6, 'd')]))).toEqual([]);
  });

  it('is any known flake if nothing is uploaded for the default branch', () => {
    expect(excusableFingerprints(play([onPullRequest(3, 'time-out'), onPullRequest(4, null)]))).toEqual([
      'time-out',
    ]);
  });
});

describe('the bytes of a history', () => {
  /** A pass of main, and a pull request that failed and passed: written by the release before. */
  const earlier =
    '01018087aadf993402dc8805010001000202010101018087aadf99340429ffffffffffffffffffffffffffffffffffffffff0801e807010480f0' +
    '96da99344dbc83eb29aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02128087aadf9934e5e37e7808010500ff01e8070280dddb01e5e37e78' +
    '010500ff8087aadf9934';
  const facts = [onMain(0, 'a'), onPullRequest(3, '00ff', { suite: 9_000 }), onPullRequest(4, null)];

  it('begin with what the release before reads', () => {
    const history = play(facts);
    const bytes = encodeHistory(history);
    expect(decodeHistory(bytes)).toEqual(history);
    expect(Buffer.from(bytes).toString('hex').startsWith(earlier)).toBe(true);
  });

  it('are read as the release before wrote them: jobs are not known', () => {
    const { contradictions, flakes, onDefault } = decodeHistory(Buffer.from(earlier, 'hex'));
    expect(contradictions).toMatchObject([{ prNumber: 7, job: 0, cause: null, isExplained: false }]);
    expect(flakes).toEqual([
      { fingerprint: '00ff', firstAt: begunAt + 3 * hour, lastAt: begunAt + 3 * hour },
    ]);
    expect(onDefault).toMatchObject([{ outcome: 'passed', job: 0 }]);
  });
});

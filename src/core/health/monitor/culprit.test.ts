import { describe, expect, it } from 'vitest';
import {
  attributeCommits,
  chainLandings,
  type CommitCandidate,
  type LandedCommit,
  rankCandidates,
  revertCommand,
} from './culprit.ts';

const landed = (
  prNumber: number,
  sha: string,
  before: string,
  more: Partial<LandedCommit> = {},
): LandedCommit => ({
  sha,
  prNumber,
  title: `Change ${prNumber}`,
  url: '',
  queueId: 'queue',
  method: 'squash',
  before,
  landedAt: prNumber * 100,
  ...more,
});

const named = (candidates: readonly CommitCandidate[]): readonly (number | string)[] =>
  candidates.map(({ sha, landed: own }) => own?.prNumber ?? sha);

const bySha = (commits: readonly LandedCommit[]) => new Map(commits.map((commit) => [commit.sha, commit]));

const nothing = { failures: [], changedFile: new Set<string>(), passedAt: null };

describe('the commits between the last pass and the first failure', () => {
  it('are pull requests of the queue, and commits that came another way', () => {
    const known = bySha([landed(1, 'b', 'a'), landed(2, 'd', 'c')]);
    expect(named(attributeCommits(['d', 'c', 'b'], known))).toEqual([1, 'c', 2]);
  });

  it('are one candidate if they belong to one rebased pull request', () => {
    const known = bySha([landed(1, 'b', 'a'), landed(2, 'e', 'b', { method: 'rebase' })]);
    expect(named(attributeCommits(['e', 'd', 'c', 'b'], known))).toEqual([1, 2]);
    // Of a squashed one only the commit itself is ours.
    const squashed = bySha([landed(2, 'e', 'b')]);
    expect(named(attributeCommits(['e', 'd', 'c', 'b'], squashed))).toEqual(['b', 'c', 'd', 2]);
  });

  it('are known from the landings alone if each follows the one before', () => {
    const landings = [landed(1, 'b', 'a'), landed(2, 'c', 'b'), landed(3, 'd', 'c'), landed(4, 'e', 'd')];
    const { candidates, isComplete } = chainLandings(landings, 'b', 'd');
    expect(named(candidates)).toEqual([2, 3]);
    expect(isComplete).toBe(true);
  });

  it('are incomplete if the branch moved between two landings, before the first or after the last', () => {
    const between = chainLandings([landed(1, 'b', 'a'), landed(2, 'd', 'c')], 'a', 'd');
    expect(named(between.candidates)).toEqual([1, 'c', 2]);
    expect(between.isComplete).toBe(false);
    const atTheEnds = chainLandings([landed(1, 'c', 'b')], 'a', 'd');
    expect(named(atTheEnds.candidates)).toEqual(['b', 1, 'd']);
    expect(atTheEnds.isComplete).toBe(false);
  });
});

describe('the likeliest pull request', () => {
  const one = landed(1, 'b', 'a');
  const two = landed(2, 'c', 'b');
  const candidates = (...commits: readonly (LandedCommit | string)[]): readonly CommitCandidate[] =>
    commits.map((commit) =>
      typeof commit === 'string' ? { sha: commit, landed: null } : { sha: commit.sha, landed: commit },
    );
  const range = { candidates: candidates(one, two), isComplete: true };
  const before = { at: 50, prNumbers: [2] };

  it('is the only one that landed', () => {
    const { culprit } = rankCandidates({ candidates: candidates(one), isComplete: true }, nothing);
    expect(culprit).toEqual({ landed: one, reason: 'only' });
  });

  it('is not named if further commits may be in between, or if it is not ours', () => {
    expect(rankCandidates({ candidates: candidates(one), isComplete: false }, nothing).culprit).toBeNull();
    expect(rankCandidates({ candidates: candidates('f'), isComplete: true }, nothing).culprit).toBeNull();
    expect(rankCandidates({ candidates: [], isComplete: true }, nothing).culprit).toBeNull();
  });

  it('is not named if two are equally likely', () => {
    expect(rankCandidates(range, nothing).culprit).toBeNull();
    expect(named(rankCandidates(range, nothing).candidates)).toEqual([2, 1]);
    const both = { ...nothing, changedFile: new Set(['b', 'c']) };
    expect(rankCandidates(range, both).culprit).toBeNull();
  });

  it('is the one with which the test failed before', () => {
    const { culprit, candidates: ranked } = rankCandidates(range, { ...nothing, failures: [before] });
    expect(culprit).toEqual({ landed: two, reason: 'failed_before' });
    expect(ranked.map(({ failedBefore }) => failedBefore)).toEqual([true, false]);
  });

  it('is the one that changed the file of the test, which counts less than a failure', () => {
    const changed = { ...nothing, changedFile: new Set(['b']) };
    expect(rankCandidates(range, changed).culprit).toEqual({ landed: one, reason: 'changed_file' });
    expect(rankCandidates(range, { ...changed, failures: [before] }).culprit?.landed).toBe(two);
  });

  it('is not blamed for failures from the time when another candidate had landed', () => {
    // #1 landed at 100: what #2 fails with afterwards may be the fault of #1.
    expect(rankCandidates(range, { ...nothing, failures: [{ at: 150, prNumbers: [2] }] }).culprit).toBeNull();
  });

  it('is not blamed for a run that tested another candidate with it', () => {
    const together = { at: 50, prNumbers: [1, 2] };
    expect(rankCandidates(range, { ...nothing, failures: [together] }).culprit).toBeNull();
    const withOthers = { at: 50, prNumbers: [2, 9] };
    expect(rankCandidates(range, { ...nothing, failures: [withOthers] }).culprit?.landed).toBe(two);
  });

  it('is, beside a commit of others, blamed only for failures before the last pass', () => {
    const mixed = { candidates: candidates('f', two), isComplete: true };
    const failures = [{ at: 50, prNumbers: [2] }];
    expect(rankCandidates(mixed, { ...nothing, failures }).culprit).toBeNull();
    expect(rankCandidates(mixed, { ...nothing, failures, passedAt: 40 }).culprit).toBeNull();
    expect(rankCandidates(mixed, { ...nothing, failures, passedAt: 60 }).culprit?.landed).toBe(two);
  });

  it('can be reverted with one command, however it was merged', () => {
    expect(revertCommand(one)).toBe('git revert b');
    expect(revertCommand({ ...one, method: 'merge_commit' })).toBe('git revert -m 1 b');
    expect(revertCommand({ ...one, method: 'rebase' })).toBe('git revert a..b');
  });
});

import { describe, expect, it } from 'vitest';
import { type Check, verdictOf } from './check.ts';

const status = (name: string, state: 'pending' | 'success' | 'failure' | 'error'): Check => ({
  kind: 'status',
  name,
  state,
  url: '',
  at: 0,
});

/** A run of a suite; without a conclusion it is under way. */
const run = (suite: string, name: string, conclusion: string | null): Check => ({
  kind: 'check',
  suite,
  name,
  status: conclusion === null ? 'in_progress' : 'completed',
  conclusion,
  url: '',
  at: 0,
});

const open = (running: string[], missing: string[] = [], begun = true) => ({
  kind: 'open',
  running,
  missing,
  begun,
});

describe('the verdict on a commit', () => {
  it('passes once every required check has, and says what is missing until then', () => {
    expect(verdictOf(['a', 'b'], [])).toEqual(open([], ['a', 'b'], false));
    expect(verdictOf(['a', 'b'], [status('a', 'success')])).toEqual(open([], ['b']));
    expect(verdictOf(['a', 'b'], [status('a', 'success'), status('b', 'pending')])).toEqual(open(['b']));
    expect(verdictOf(['a', 'b'], [status('a', 'success'), status('b', 'success')])).toEqual({
      kind: 'passed',
    });
    expect(verdictOf([], [])).toEqual({ kind: 'passed' });
  });

  it('passes what was skipped or is neutral, and fails every other conclusion', () => {
    for (const conclusion of ['success', 'neutral', 'skipped'])
      expect(verdictOf(['a'], [run('s', 'a', conclusion)])).toEqual({ kind: 'passed' });
    for (const conclusion of ['failure', 'cancelled', 'timed_out', 'action_required', 'stale'])
      expect(verdictOf(['a'], [run('s', 'a', conclusion)])).toEqual({ kind: 'failed', by: ['a'] });
  });

  it('fails by a red status at once: it belongs to no attempt', () => {
    expect(verdictOf(['a', 'b'], [status('a', 'failure'), status('b', 'pending')])).toEqual({
      kind: 'failed',
      by: ['a'],
    });
    expect(verdictOf(['a'], [status('a', 'error')])).toEqual({ kind: 'failed', by: ['a'] });
  });

  it('waits for the attempt of a red check to end, since its suite may run it again', () => {
    const red = run('s', 'a', 'failure');
    expect(verdictOf(['a'], [red, run('s', 'lint', null)])).toEqual(open(['a']));
    expect(verdictOf(['a'], [red, run('s', 'lint', 'success')])).toEqual({ kind: 'failed', by: ['a'] });
    expect(verdictOf(['a'], [run('s', 'a', 'success'), run('s', 'lint', null)])).toEqual({ kind: 'passed' });
  });

  it('does not wait for other suites', () => {
    const checks = [run('s', 'a', 'failure'), run('t', 'b', null)];
    expect(verdictOf(['a', 'b'], checks)).toEqual({ kind: 'failed', by: ['a'] });
  });

  it('is open again while a check that was red or green runs anew', () => {
    expect(verdictOf(['a'], [run('s', 'a', null)])).toEqual(open(['a']));
    expect(verdictOf(['a'], [run('s', 'a', 'failure'), run('t', 'a', null)])).toEqual({
      kind: 'failed',
      by: ['a'],
    });
    expect(verdictOf(['a'], [run('s', 'a', 'success'), run('t', 'a', null)])).toEqual(open(['a']));
  });
});

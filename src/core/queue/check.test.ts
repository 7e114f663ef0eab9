import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canDecide,
  type Check,
  type CheckSource,
  failedChecks,
  type RequiredCheck,
  evaluateChecks,
} from './check.ts';

const states = ['pending', 'success', 'failure', 'error', 'skipped'] as const;

const status = (name: string, state: Extract<Check, { kind: 'status' }>['state']): Check => ({
  kind: 'status',
  name,
  state,
  url: '',
  at: 0,
});

/** A run of a suite; without a conclusion it is under way. */
const run = (suite: string, name: string, conclusion: string | null, app?: string): Check => ({
  kind: 'check',
  suite,
  name,
  status: conclusion === null ? 'in_progress' : 'completed',
  conclusion,
  url: '',
  at: 0,
  ...(app !== undefined && { app }),
});

const open = (running: string[], missing: string[] = [], begun = true) => ({
  kind: 'open',
  running,
  missing,
  begun,
});

const need = (name: string, source: CheckSource | null = null): RequiredCheck => ({ name, source });
const passed = { kind: 'passed' };
const failed = (by: string[], skipped: string[] = []) => ({ kind: 'failed', by, skipped });
const infrastructure = (...by: [name: string, conclusion: string][]) => ({
  kind: 'infrastructure',
  by: by.map(([name, conclusion]) => ({ name, conclusion })),
});

/** Names alone are required from any source. */
const verdict = (
  required: readonly (string | RequiredCheck)[],
  checks: readonly Check[],
  skippable: readonly string[] = [],
) =>
  evaluateChecks(
    required.map((each) => (typeof each === 'string' ? need(each) : each)),
    checks,
    skippable,
  );

describe('the verdict on a commit', () => {
  it('passes once every required check has, and says what is missing until then', () => {
    expect(verdict(['a', 'b'], [])).toEqual(open([], ['a', 'b'], false));
    expect(verdict(['a', 'b'], [status('a', 'success')])).toEqual(open([], ['b']));
    expect(verdict(['a', 'b'], [status('a', 'success'), status('b', 'pending')])).toEqual(open(['b']));
    expect(verdict(['a', 'b'], [status('a', 'success'), status('b', 'success')])).toEqual(passed);
    expect(verdict([], [])).toEqual(passed);
  });

  it('passes success and neutral, and fails a failure and a conclusion that is not known', () => {
    for (const conclusion of ['success', 'neutral'])
      expect(verdict(['a'], [run('s', 'a', conclusion)])).toEqual(passed);
    for (const conclusion of ['failure', 'splendid'])
      expect(verdict(['a'], [run('s', 'a', conclusion)])).toEqual(failed(['a']));
  });

  it('fails by a red status at once: it belongs to no attempt', () => {
    expect(verdict(['a', 'b'], [status('a', 'failure'), status('b', 'pending')])).toEqual(failed(['a']));
    expect(verdict(['a'], [status('a', 'error')])).toEqual(failed(['a']));
  });

  it('waits for the attempt of a red check to end, since its suite may run it again', () => {
    const red = run('s', 'a', 'failure');
    expect(verdict(['a'], [red, run('s', 'lint', null)])).toEqual(open(['a']));
    expect(verdict(['a'], [red, run('s', 'lint', 'success')])).toEqual(failed(['a']));
    expect(verdict(['a'], [run('s', 'a', 'success'), run('s', 'lint', null)])).toEqual(passed);
  });

  it('does not wait for other suites', () => {
    expect(verdict(['a', 'b'], [run('s', 'a', 'failure'), run('t', 'b', null)])).toEqual(failed(['a']));
  });

  it('is open again while a check that was red or green runs a second time', () => {
    expect(verdict(['a'], [run('s', 'a', null)])).toEqual(open(['a']));
    expect(verdict(['a'], [run('s', 'a', 'failure'), run('t', 'a', null)])).toEqual(failed(['a']));
    expect(verdict(['a'], [run('s', 'a', 'success'), run('t', 'a', null)])).toEqual(open(['a']));
  });
});

describe('a required check that CI skipped', () => {
  const skipped = run('s', 'a', 'skipped');

  it('did not pass, and is named apart from those that failed', () => {
    expect(verdict(['a'], [skipped])).toEqual(failed([], ['a']));
    expect(verdict(['a'], [status('a', 'skipped')])).toEqual(failed([], ['a']));
    expect(verdict(['a', 'b'], [skipped, run('s', 'b', 'failure')])).toEqual(failed(['b'], ['a']));
    expect(failedChecks([need('a'), need('b')], [skipped, run('s', 'b', 'failure')], [])).toEqual([
      { name: 'a', url: '', outcome: 'skipped' },
      { name: 'b', url: '', outcome: 'failed' },
    ]);
  });

  it('passes only where the queue lists its name', () => {
    expect(verdict(['a'], [skipped], ['a'])).toEqual(passed);
    expect(verdict(['a'], [skipped], ['A', 'b'])).toEqual(failed([], ['a']));
  });

  it('takes nothing from a run of the same name that passed, and waits for one that is under way', () => {
    expect(verdict(['a'], [skipped, run('t', 'a', 'success')])).toEqual(passed);
    expect(verdict(['a'], [skipped, run('t', 'a', null)])).toEqual(open(['a']));
    expect(verdict(['a'], [skipped, run('t', 'a', 'failure')])).toEqual(failed(['a']));
  });

  it('because a job of its suite was cancelled is an infrastructure failure', () => {
    expect(verdict(['a'], [skipped, run('s', 'build', 'cancelled')])).toEqual(
      infrastructure(['a', 'skipped']),
    );
    expect(verdict(['a'], [skipped, run('t', 'build', 'cancelled')])).toEqual(failed([], ['a']));
    const both = [skipped, run('s', 'build', 'cancelled'), run('s', 'test', 'failure')];
    expect(verdict(['a'], both)).toEqual(failed([], ['a']));
  });
});

describe('an infrastructure failure', () => {
  it.each(['cancelled', 'stale', 'startup_failure', 'action_required', 'timed_out'])(
    'is %s: it says nothing about the change',
    (conclusion) => {
      expect(verdict(['a', 'b'], [run('s', 'a', conclusion)])).toEqual(infrastructure(['a', conclusion]));
      expect(verdict(['a', 'b'], [run('s', 'a', conclusion), run('t', 'b', 'failure')])).toEqual(
        failed(['b']),
      );
      expect(verdict(['a'], [run('s', 'a', conclusion), run('t', 'a', 'success')])).toEqual(passed);
      expect(verdict(['a'], [run('s', 'a', conclusion), run('s', 'b', null)])).toEqual(open(['a']));
    },
  );
});

describe('the source of a required check', () => {
  it('is the app that the rule names, and no other', () => {
    const required = [need('build', 'app:15368')];
    expect(verdict(required, [run('s', 'build', 'success', '15368')])).toEqual(passed);
    expect(verdict(required, [run('s', 'build', 'success', '7')])).toEqual(open([], ['build']));
    expect(verdict(required, [run('s', 'build', 'success')])).toEqual(open([], ['build']));
    expect(verdict(required, [status('build', 'success')])).toEqual(open([], ['build']));
    expect(verdict(required, [run('s', 'build', 'failure', '7')])).toEqual(open([], ['build']));
  });

  it('may be two apps, of which each must report it', () => {
    const required = [need('build', 'app:1'), need('build', 'app:2')];
    expect(verdict(required, [run('s', 'build', 'success', '1')])).toEqual(open([], ['build']));
    const both = [run('s', 'build', 'success', '1'), run('t', 'build', 'success', '2')];
    expect(verdict(required, both)).toEqual(passed);
  });

  it('is a check run: a commit status of that name never satisfies it', () => {
    expect(verdict([need('build', 'check_run')], [status('build', 'success')])).toEqual(open([], ['build']));
    // No source is known, and the check run of this very commit shows what reports it.
    const forged = [status('build', 'success'), run('s', 'build', null, '15368')];
    expect(verdict(['build'], forged)).toEqual(open(['build']));
    expect(verdict(['build'], [status('build', 'success'), run('s', 'build', 'failure')])).toEqual(
      failed(['build']),
    );
  });

  it('is a commit status where one reports it on the branch, until a check run of that name does', () => {
    const required = [need('build', 'commit_status')];
    expect(verdict(required, [status('build', 'success')])).toEqual(passed);
    expect(verdict(required, [status('build', 'success'), run('s', 'build', null)])).toEqual(open(['build']));
    expect(verdict(required, [run('s', 'build', 'success')])).toEqual(passed);
    expect(verdict(required, [status('build', 'success'), run('s', 'build', 'failure')])).toEqual(
      failed(['build']),
    );
  });
});

describe('a result that is under way', () => {
  const anyCheck = fc.oneof(
    fc
      .record({ name: fc.constantFrom('a', 'b'), state: fc.constantFrom(...states) })
      .map(({ name, state }) => status(name, state)),
    fc
      .record({
        // A check suite belongs to one app (GitHub REST docs, "Check suites"); a host without apps names none.
        source: fc.constantFrom(
          { suite: '1', app: '7' },
          { suite: '2', app: '7' },
          { suite: '3', app: undefined },
        ),
        name: fc.constantFrom('a', 'b', 'c'),
        conclusion: fc.constantFrom(null, 'success', 'failure', 'cancelled', 'skipped'),
      })
      .map(({ source: { suite, app }, name, conclusion }) => run(suite, name, conclusion, app)),
  );
  const required = [need('a'), need('b', 'app:7')];
  const isSame = (one: Check, other: Check): boolean =>
    one.kind === other.kind &&
    one.name === other.name &&
    (one.kind === 'status' || other.kind === 'status' || one.suite === other.suite);

  it('leaves every open verdict open', () => {
    fc.assert(
      fc.property(fc.array(anyCheck), anyCheck, fc.constantFrom([], ['a']), (checks, update, skippable) => {
        fc.pre(!canDecide(update));
        fc.pre(evaluateChecks(required, checks, skippable).kind === 'open');
        const after = [...checks.filter((check) => !isSame(check, update)), update];
        expect(evaluateChecks(required, after, skippable).kind).toBe('open');
      }),
    );
  });
});

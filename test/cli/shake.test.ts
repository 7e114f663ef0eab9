// `signalbox test --shake-new`: the real process, against a stand-in for the service, with a script in place of a runner.
// test/health/new-test.test.ts has the service, and `npm run e2e:shards` both with real test runners.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ListNewTestsRequest } from '#contract/health/new-test.ts';
import { classified, openStandIn, place, type StandIn } from './ci-stand-in.ts';

const passed = { ...classified, passed: 2, failed: 0, failures: [] };

describe('signalbox test --shake-new', () => {
  let standIn: StandIn;

  beforeEach(async () => {
    standIn = await openStandIn();
    standIn.answers.upload = passed;
    standIn.answers.newTests = { new_tests: [1], is_branch_known: true };
    mkdirSync(join(standIn.cwd, 'tmp'));
  });
  afterEach(() => standIn.close());

  /** A Jest whose test `removes` fails in the runs with these numbers, from 1. A line of `runs` has the arguments of a run. */
  const writeRunner = (failing: readonly number[], more = '') => {
    const file = join(standIn.cwd, 'jest');
    const cases = failing.map((run) => `${run}) bad='<failure message="no"/>'; code=1;;`).join(' ');
    writeFileSync(
      file,
      `#!/bin/sh
echo "$@" >> runs
run=$(wc -l < runs | tr -d ' ')
bad=''; code=0
case "$run" in ${cases} *) ;; esac
${more}
echo "<testsuites><testsuite name=\\"cart\\"><testcase name=\\"cart adds\\" classname=\\"cart adds\\"/>
<testcase name=\\"cart removes\\" classname=\\"cart removes\\">$bad</testcase><!-- run $run --></testsuite></testsuites>" > junit.xml
exit $code
`,
    );
    chmodSync(file, 0o755);
  };

  const run = (...options: readonly string[]) =>
    standIn.finish(
      standIn.start(['test', ...place, ...options, '--', './jest', '--ci'], undefined, {
        TMPDIR: join(standIn.cwd, 'tmp'),
      }),
    );
  const runs = () => readFileSync(join(standIn.cwd, 'runs'), 'utf8').trimEnd().split('\n');
  const requestsTo = (path: string) => standIn.requests.filter((request) => request.path === path);
  const report = () => readFileSync(join(standIn.cwd, 'junit.xml'), 'utf8');

  const narrowed = '--testNamePattern=^cart\\s+removes$ --passWithNoTests --ci';

  it('repeats the new tests alone, and finds none that is flaky', async () => {
    writeRunner([]);
    const { code, stderr } = await run('--shake-new', 'enforce');
    expect(code).toBe(0);
    expect(runs()).toEqual(['--ci', ...Array.from({ length: 20 }, () => narrowed)]);
    expect(stderr).toContain('Signalbox: repeats 1 new test for 10.0 s: cart › cart removes.');
    expect(stderr).toMatch(
      /Signalbox: 1 test that the default branch has never seen ran 20 more times, in \d+\.\d s of 10\.0 s\. None of them both passed and failed\./,
    );
    const [request] = requestsTo('/v1/flaky-tests/list-new-tests');
    expect(ListNewTestsRequest.parse(JSON.parse(String(request?.body))).tests).toEqual([
      { name: 'cart adds', classname: 'cart adds', parent: 'cart', file: '', variant: '' },
      { name: 'cart removes', classname: 'cart removes', parent: 'cart', file: '', variant: '' },
    ]);
  });

  it.each([
    ['report', 0],
    ['enforce', 1],
  ])('with %s, exits with %i if a new test both passed and failed', async (mode, expected) => {
    writeRunner([3]);
    const { code, stderr } = await run('--shake-new', mode);
    expect(code).toBe(expected);
    expect(stderr).toContain('1 test both passed and failed: fix it before this merges.');
    expect(stderr).toContain('  FLAKY    cart › cart removes: failed 1 of 3 times.');
    expect(stderr.includes('the exit code is now 1')).toBe(mode === 'enforce');
    // It is known to be flaky by then.
    expect(runs()).toHaveLength(3);
  });

  it('uploads the repeats with the suite, as one run, and puts the report of the suite back', async () => {
    writeRunner([3]);
    await run('--shake-new', 'report');
    expect(requestsTo('/v1/flaky-tests/upload')).toEqual([]);
    const [bundle] = requestsTo('/uploads/1');
    const text = String(zstdDecompressSync(bundle!.body));
    expect(text.match(/<!-- run \d+ -->/g)).toEqual(['<!-- run 1 -->', '<!-- run 2 -->', '<!-- run 3 -->']);
    expect(report()).toContain('<!-- run 1 -->');
    expect(readdirSync(join(standIn.cwd, 'tmp')).filter((name) => name.startsWith('signalbox'))).toEqual([]);
  });

  it('does not excuse a failure of the suite because a repeat passed', async () => {
    writeRunner([1]);
    const { code, stderr } = await run('--shake-new', 'report');
    expect(code).toBe(1);
    expect(stderr).toContain('the exit code stays 1: A failed test passed when it was repeated.');
  });

  it('keeps the exit code of a suite in which a new test fails every time', async () => {
    writeRunner(Array.from({ length: 21 }, (_, index) => index + 1));
    standIn.answers.upload = 403;
    const { code, stderr } = await run('--shake-new', 'enforce');
    expect(code).toBe(1);
    expect(stderr).toContain('None of them both passed and failed.');
  });

  it('stays within its budget', async () => {
    writeRunner([], 'sleep 0.4');
    const { stderr } = await run('--shake-new', 'report', '--budget', '2s');
    expect(runs().length).toBeGreaterThan(2);
    expect(runs().length).toBeLessThan(6);
    expect(stderr).toMatch(/in [01]\.\d s of 2\.0 s/);
  });

  it('terminates a repeat that takes longer than the budget, and counts nothing of it', async () => {
    writeRunner([2], '[ "$run" = 1 ] || exec sleep 20');
    const { code, stderr } = await run('--shake-new', 'enforce', '--budget', '1s');
    expect(code).toBe(0);
    expect(runs()).toHaveLength(2);
    expect(stderr).toContain('repeats no test. One repeat takes longer than the budget. Raise --budget.');
    expect(report()).toContain('<!-- run 1 -->');
  });

  it.each([
    [
      'all tests are known',
      { new_tests: [], is_branch_known: true },
      'the default branch has seen all of them',
    ],
    ['the default branch has no reports', { new_tests: [], is_branch_known: false }, 'has no reports yet'],
    ['the service refuses', 403, 'The service answered 403: Not today.'],
    ['the service is older', 404, 'The service answered 404'],
  ])('repeats nothing if %s', async (_why, answer, message) => {
    standIn.answers.newTests = answer;
    writeRunner([2]);
    const { code, stderr } = await run('--shake-new', 'enforce');
    expect(code).toBe(0);
    expect(runs()).toEqual(['--ci']);
    expect(stderr).toContain('Signalbox: repeats no test');
    expect(stderr).toContain(message);
  });

  it('repeats nothing after a crash, nor while the queue looks for a culprit', async () => {
    writeRunner([], 'exit 2');
    expect((await run('--shake-new', 'enforce')).code).toBe(2);
    standIn.answers.selection = {
      tests: [{ name: 'cart adds', classname: 'cart adds', parent: '', file: '' }],
    };
    writeRunner([]);
    expect((await run('--shake-new', 'enforce')).code).toBe(0);
    expect(runs()).toHaveLength(2);
    expect(requestsTo('/v1/flaky-tests/list-new-tests')).toEqual([]);
  });

  it('says that a command cannot run single tests', async () => {
    writeFileSync(join(standIn.cwd, 'other'), '#!/bin/sh\necho "$PAYLOAD" > junit.xml\n');
    chmodSync(join(standIn.cwd, 'other'), 0o755);
    const child = standIn.start(['test', ...place, '--shake-new', 'enforce', '--', './other']);
    const { code, stderr } = await standIn.finish(child);
    expect(code).toBe(0);
    expect(stderr).toContain('Signalbox: repeats no test. The command cannot run single tests.');
  });

  it.each([
    [['--shake-new', 'always'], 'always is not a valid --shake-new. Use report or enforce.'],
    [['--shake-new', 'report', '--budget', '10'], '10 is not a valid --budget.'],
    [['--shake-new', 'report', '--budget', '0%'], '0% is not a valid --budget.'],
    [['--budget', '10%'], '--budget needs --shake-new report or enforce.'],
  ])('refuses %j', async (options, message) => {
    const { code, stderr } = await run(...options);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

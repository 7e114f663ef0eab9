// `signalbox test` with a selection of tests: the real process, against a stand-in for the service, with a script
// in place of a runner. `npm run e2e:selection` has the runners.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestSelectionRequest } from '#contract/health/test-selection.ts';
import { classified, openStandIn, place, type StandIn } from './ci-stand-in.ts';

const selected = { name: 'cart removes', classname: 'cart removes', parent: 'cart', file: '' };

describe('signalbox test, while the queue looks for the change that broke tests,', () => {
  let standIn: StandIn;

  beforeEach(async () => {
    standIn = await openStandIn();
    standIn.answers.selection = { tests: [selected] };
    writeRunner('jest', 'echo "$PAYLOAD" > junit.xml; exit 1');
  });

  afterEach(() => standIn.close());

  /** A runner that appends its arguments to `runs`, a line for each run. */
  const writeRunner = (name: string, script: string) => {
    const file = join(standIn.cwd, name);
    writeFileSync(file, `#!/bin/sh\necho "$@" >> runs\n${script}\n`);
    chmodSync(file, 0o755);
  };

  const run = (command: readonly string[], ...options: readonly string[]) =>
    standIn.finish(standIn.start(['test', ...place, ...options, '--', ...command]));

  const runs = () => readFileSync(join(standIn.cwd, 'runs'), 'utf8').trimEnd().split('\n');
  const requestsTo = (path: string) => standIn.requests.filter((request) => request.path === path);
  const selectionRequests = () => requestsTo('/v1/flaky-tests/get-test-selection');

  const narrowed = '--testNamePattern=^cart\\s+removes$ --passWithNoTests --ci';

  it('runs only the tests that failed', async () => {
    const { code, stderr } = await run(['./jest', '--ci']);
    expect(runs()).toEqual([narrowed]);
    expect(stderr).toContain(
      'Signalbox: runs only the 1 test that failed before, to find the change that broke it. See --all-tests.',
    );
    expect(code).toBe(0);
    const [request] = selectionRequests();
    expect(request?.token).toBe('secret-token');
    expect(TestSelectionRequest.parse(JSON.parse(String(request?.body)))).toEqual({
      repo: { host: 'git.example', owner: 'acme', name: 'widgets' },
      sha: 'a'.repeat(40),
      job: 'unit',
    });
  });

  it('accepts that the other tests are missing when only a quarantined test failed', async () => {
    standIn.answers.upload = { ...classified, usual_tests: 140, missing_tests: 138 };
    expect((await run(['./jest', '--ci'])).code).toBe(0);
    standIn.answers.selection = { tests: null };
    expect((await run(['./jest', '--ci'])).code).toBe(1);
  });

  it('gives pytest a plugin, and removes it afterwards', async () => {
    writeRunner('pytest', 'echo "$PYTHONPATH" > folder; cat "${PYTHONPATH%%:*}/signalbox_selection.py"');
    standIn.answers.selection = { tests: [{ ...selected, classname: 'tests.test_cart' }] };
    const child = standIn.start(['test', ...place, '--', './pytest', '-q'], undefined, {
      PYTHONPATH: '/mine',
    });
    const { stdout } = await standIn.finish(child);
    expect(runs()).toEqual(['-p signalbox_selection -q']);
    expect(stdout).toContain('def pytest_collection_modifyitems');
    const [folder = '', mine] = readFileSync(join(standIn.cwd, 'folder'), 'utf8').trimEnd().split(':');
    expect(mine).toBe('/mine');
    expect(() => readFileSync(join(folder, 'signalbox_selection.py'))).toThrow('ENOENT');
  });

  it.each([
    ['needs all tests', { tests: null }],
    ['is older than selections', 404],
  ])('runs everything without a word if the service %s', async (_name, answer) => {
    standIn.answers.selection = answer;
    const { stderr } = await run(['./jest', '--ci']);
    expect(runs()).toEqual(['--ci']);
    expect(selectionRequests()).toHaveLength(1);
    expect(stderr).not.toMatch(/runs (?:only|all)/);
  });

  it.each([
    ['refuses', 403, 'The service answered 403: Not today.'],
    ['is down', 503, 'The service answered 503: Not today.'],
    ['does not answer', null, 'no answer in 5 s'],
    ['answers nonsense', { tests: 'all' }, 'The answer is not from Signalbox. Check the URL.'],
    ['names too many tests', { tests: Array.from({ length: 101 }, () => selected) }, 'not from Signalbox'],
  ])('runs everything, after one try, if the service %s', async (_name, answer, why) => {
    standIn.answers.selection = answer;
    const { stderr } = await run(['./jest', '--ci']);
    expect(runs()).toEqual(['--ci']);
    expect(selectionRequests()).toHaveLength(1);
    expect(stderr).toContain('Signalbox: runs all tests, because it is not known which ones are enough.');
    expect(stderr).toContain(why);
  });

  it('runs everything if one of the tests cannot be selected', async () => {
    standIn.answers.selection = { tests: [selected, { ...selected, name: '' }] };
    const { stderr } = await run(['./jest', '--ci']);
    expect(runs()).toEqual(['--ci']);
    expect(stderr).toContain(
      'Signalbox: runs all tests, because the command cannot run only the 2 tests that failed before.',
    );
  });

  it('runs everything after all if the narrowed command fails without a failed test', async () => {
    writeRunner('jest', 'case "$*" in *NamePattern*) exit 3;; esac; echo "$PAYLOAD" > junit.xml; exit 1');
    const { code, stderr } = await run(['./jest', '--ci']);
    expect(runs()).toEqual([narrowed, '--ci']);
    expect(stderr).toContain('Signalbox: exit code 3, and no report shows a failed test. Now all tests run.');
    expect(code).toBe(0);
  });

  it('passes if none of the tests exists in this commit', async () => {
    writeRunner('jest', 'exit 0');
    const { code, stderr } = await run(['./jest', '--ci']);
    expect(runs()).toEqual([narrowed]);
    expect(code).toBe(0);
    expect(stderr).not.toContain('wrote no test report');
  });

  it('runs no test if those that failed before are of other jobs', async () => {
    standIn.answers.selection = { tests: [] };
    const { code, stderr } = await run(['./jest', '--ci']);
    expect(runs).toThrow('ENOENT');
    expect(code).toBe(0);
    expect(stderr).toContain('Signalbox: runs no test: those that failed before are of other jobs.');
  });

  it('asks nothing with --all-tests, or for a command that it does not know', async () => {
    await run(['./jest', '--ci'], '--all-tests');
    writeRunner('other', 'echo "$PAYLOAD" > junit.xml; exit 1');
    await run(['./other', '--ci']);
    expect(runs()).toEqual(['--ci', '--ci']);
    expect(selectionRequests()).toEqual([]);
    const uploads = requestsTo('/v1/flaky-tests/upload');
    expect(uploads.map(({ query }) => query.get('can_select_tests'))).toEqual([null, null]);
  });

  it('reports to the service with each upload that the job can run selected tests', async () => {
    standIn.answers.selection = { tests: null };
    await run(['./jest', '--ci']);
    writeRunner('jest', 'echo "$PAYLOAD" > junit-1.xml; echo "$PAYLOAD" > junit-2.xml; exit 1');
    await run(['./jest', '--ci']);
    const [upload] = requestsTo('/v1/flaky-tests/upload');
    expect(upload?.query.get('can_select_tests')).toBe('true');
    const [bundle] = requestsTo('/uploads/1');
    expect(String(zstdDecompressSync(bundle!.body))).toContain('"can_select_tests":true');
  });

  describe('on a run that verifies a fix,', () => {
    const passes =
      '<testsuite name="cart"><testcase name="cart removes" classname="cart removes"/></testsuite>';
    const fails = passes.replace('/></', '><failure message="no"/></testcase></');
    /** Its test fails in the run with this number, from 1; 0: never. */
    const writeCountedRunner = (failing: number) =>
      writeRunner(
        'jest',
        `run=$(wc -l < runs | tr -d ' ')
         if [ "$run" = ${failing} ]; then echo '${fails}' > junit.xml; exit 1; fi
         echo '${passes}' > junit.xml`,
      );
    const passed = { ...classified, passed: 2, failed: 0, quarantined: 0, failures: [] };
    const bundle = () => String(zstdDecompressSync(requestsTo('/uploads/1')[0]!.body));

    beforeEach(() => {
      standIn.answers.selection = { tests: [selected], repeats: 4 };
      standIn.answers.upload = passed;
    });

    it('repeats the test as often as it is asked, and sends all reports as one upload with their number', async () => {
      writeCountedRunner(0);
      const { code, stderr } = await run(['./jest', '--ci']);
      expect(runs()).toEqual([narrowed, narrowed, narrowed, narrowed]);
      expect(code).toBe(0);
      expect(stderr).toContain('runs only the 1 test that failed before, up to 4 times, to verify its fix.');
      expect(stderr).toContain('Signalbox: 1 test ran 4 times to verify a fix.');
      expect(bundle()).toContain('"repeats":4');
      expect(bundle().split('<testcase ')).toHaveLength(5);
    });

    it('stops at the first failure, which fails the job', async () => {
      writeCountedRunner(3);
      const { code, stderr } = await run(['./jest', '--ci']);
      expect(runs()).toHaveLength(3);
      expect(code).toBe(1);
      expect(stderr).toContain('Signalbox: 1 test ran 3 times to verify a fix. The last time failed.');
      expect(bundle()).toContain('"repeats":3');
      expect(bundle()).toContain('<failure');
    });

    it('repeats nothing if the first time fails', async () => {
      standIn.answers.upload = classified;
      writeCountedRunner(1);
      await run(['./jest', '--ci']);
      expect(runs()).toEqual([narrowed]);
      expect(requestsTo('/uploads/1')).toEqual([]);
    });

    it('runs all tests once if the command cannot run only this one', async () => {
      standIn.answers.selection = { tests: [{ ...selected, name: '' }], repeats: 4 };
      writeCountedRunner(0);
      await run(['./jest', '--ci']);
      expect(runs()).toEqual(['--ci']);
    });
  });
});

// `signalbox split`: the real process, against a stand-in for the service. test/health/split.test.ts has the service, and
// `npm run e2e:shards` both with real test runners.
import { mkdirSync, openSync, closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileDurationsRequest } from '#contract/health/test-split.ts';
import { openStandIn, place, type StandIn } from './ci-stand-in.ts';

const files = ['a.test.ts', 'b.test.ts', 'c.test.ts', 'd.test.ts', 'e.test.ts'];

describe('signalbox split', () => {
  let standIn: StandIn;
  beforeEach(async () => {
    standIn = await openStandIn();
    standIn.answers.durations = { durations_ms: [60_000, 30_000, 20_000, 10_000, null] };
  });
  afterEach(() => standIn.close());

  const where = place.slice(0, 4);
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}, lines?: string) => {
    const input = join(standIn.cwd, 'list');
    if (lines !== undefined) writeFileSync(input, lines);
    const handle = lines === undefined ? ('ignore' as const) : openSync(input, 'r');
    const finished = await standIn.finish(
      standIn.start(['split', ...where, ...args], undefined, env, handle),
    );
    if (handle !== 'ignore') closeSync(handle);
    return { ...finished, files: finished.stdout.split('\n').filter((line) => line !== '') };
  };
  const shard = (number: number, shards: number, ...more: readonly string[]) =>
    run([`--shards=${shards}`, `--shard=${number}`, ...more]);

  it('prints the files of the shard, and what the division saves', async () => {
    const first = await shard(1, 2, ...files);
    const second = await shard(2, 2, ...files);
    expect([first.files, second.files]).toEqual([
      ['a.test.ts', 'd.test.ts'],
      ['b.test.ts', 'c.test.ts', 'e.test.ts'],
    ]);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(
      /^Signalbox: shard 1 of 2 has 2 of 5 files, about 1 min 10 s of tests\. The longest shard takes about 1 min 10 s; an even division by count takes 1 min 40 s, so this saves 30 s\. 1 file without a duration counts as 20 s, the median\. Division [0-9a-f]{8}\.\n$/,
    );
    const plan = (text: string) => /Division (\w+)/.exec(text)?.[1];
    expect(plan(second.stderr)).toBe(plan(first.stderr));
  });

  it('asks with the commit, the files and the variant', async () => {
    await shard(1, 2, '--variant', 'linux', ...files);
    const [request] = standIn.requests;
    expect(request?.token).toBe('secret-token');
    expect(FileDurationsRequest.parse(JSON.parse(String(request?.body)))).toEqual({
      repo: { host: 'git.example', owner: 'acme', name: 'widgets' },
      sha: 'a'.repeat(40),
      files,
      variant: 'linux',
    });
  });

  it('reads the files from standard input, each once, and prints them as they were listed', async () => {
    standIn.answers.durations = { durations_ms: [5, 5] };
    const { files: printed } = await run(['--shards=1', '--shard=1'], {}, './a b.py\r\n\n./c.py\na b.py\n');
    expect(printed).toEqual(['a b.py', './c.py']);
  });

  it('expands globs, without other projects', async () => {
    for (const folder of ['tests/deep', 'node_modules/x'])
      mkdirSync(join(standIn.cwd, folder), { recursive: true });
    for (const name of [
      'tests/test_a.py',
      'tests/deep/test_b.py',
      'tests/other.py',
      'node_modules/x/test_c.py',
    ])
      writeFileSync(join(standIn.cwd, name), '');
    standIn.answers.durations = { durations_ms: [5, 5] };
    const { files: printed } = await shard(1, 1, '**/test_*.py');
    expect(printed.toSorted()).toEqual(['tests/deep/test_b.py', 'tests/test_a.py']);
  });

  it('takes the shard from CI', async () => {
    const gitlab = await run(files, { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '2' });
    const circle = await run(files, { CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '2' });
    const buildkite = await run(['--shards=2', ...files], {
      BUILDKITE_PARALLEL_JOB: '1',
      BUILDKITE_PARALLEL_JOB_COUNT: '2',
    });
    for (const { files: printed } of [gitlab, circle, buildkite])
      expect(printed).toEqual(['b.test.ts', 'c.test.ts', 'e.test.ts']);
  });

  it.each([
    ['refuses', 403, 'The service answered 403: Not today.'],
    ['answers about other files', { durations_ms: [1] }, 'The answer has another number of files.'],
    ['answers nonsense', { durations_ms: 'many' }, 'The answer is not from Signalbox.'],
  ])('divides by count, each file once, if the service %s', async (_what, answer, why) => {
    standIn.answers.durations = answer;
    const both = [await shard(1, 2, ...files), await shard(2, 2, ...files)];
    expect(both.map(({ files: printed }) => printed)).toEqual([
      ['a.test.ts', 'c.test.ts', 'e.test.ts'],
      ['b.test.ts', 'd.test.ts'],
    ]);
    for (const { code, stderr } of both) {
      expect(code).toBe(0);
      expect(stderr).toContain(
        'Signalbox: divides the files by count, because it is not known how long they take.',
      );
      expect(stderr).toContain(why);
      expect(stderr).toContain('a file can then run in no shard: see --strict.');
    }
  });

  it('divides by count without a service at all', async () => {
    standIn.stop();
    const { files: printed, code, stderr } = await shard(2, 2, ...files);
    expect(code).toBe(0);
    expect(printed).toEqual(['b.test.ts', 'd.test.ts']);
    expect(stderr).toContain('Signalbox is unreachable (ECONNREFUSED)');
  });

  it('fails with --strict if the service does not answer', async () => {
    standIn.answers.durations = 403;
    const { files: printed, code, stderr } = await shard(1, 2, '--strict', ...files);
    expect(printed).toEqual([]);
    expect(code).toBe(7);
    expect(stderr).toContain('The service answered 403: Not today.');
  });

  it('says that a shard has no file', async () => {
    standIn.answers.durations = { durations_ms: [5] };
    const { files: printed, stderr, code } = await shard(2, 2, 'a.py');
    expect({ printed, code }).toEqual({ printed: [], code: 0 });
    expect(stderr).toContain('shard 2 of 2 has 0 of 1 file');
    expect(stderr).toContain('Run no test: many runners run everything without a file.');
  });

  it.each([
    ['no files', ['--shards=2', '--shard=1'], 'There are no files to divide.'],
    ['a glob without a file', ['--shards=2', '--shard=1', '*.nothing'], 'No file matches *.nothing.'],
    ['no number of shards', ['--shard=1', 'a.py'], '--shards is missing.'],
    ['no shard', ['--shards=2', 'a.py'], '--shard is missing.'],
    [
      'a shard that does not exist',
      ['--shards=2', '--shard=3', 'a.py'],
      '3 is not a valid --shard. Use a number from 1 to 2.',
    ],
    ['a shard 0', ['--shards=2', '--shard=0', 'a.py'], '0 is not a valid --shard.'],
    ['too many shards', ['--shards=1001', '--shard=1', 'a.py'], '1001 is not a valid --shards.'],
  ])('refuses %s', async (_what, args, message) => {
    const { code, stderr, stdout } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
  });
});

import { describe, expect, it } from 'vitest';
import { readLines } from './line.ts';
import { createEventReader, readEvents } from './read-events.ts';
import type { ReplayUpload } from './upload.ts';
import { createEventWriter } from './write-events.ts';

async function* chunksOf(...chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}

const uploadFields = {
  at: '2026-01-05T08:00:00Z',
  repository: 'acme/shop',
  job: 'test',
  branch: 'main',
  head: 'a'.repeat(40),
};

const read = (...lines: readonly unknown[]): readonly (ReplayUpload | null)[] => {
  const reader = createEventReader();
  return lines.map((line, index) =>
    reader({ number: index + 1, text: typeof line === 'string' ? line : JSON.stringify(line) }),
  );
};

describe('reading uploads from JSON lines', () => {
  it('reads a plain list of tests, in which a name alone is a test that passed', () => {
    const failed = { name: 'adds', file: 'sum.test.ts', outcome: 'failed', message: 'expected 1' };
    const [upload] = read({ ...uploadFields, pullRequest: 7, tests: ['multiplies', failed] });
    expect(upload).toMatchObject({ branchClass: 'pull_request', prNumber: 7, isComplete: true, suite: null });
    expect(upload?.results).toEqual([
      { test: { file: '', classname: '', parent: '', name: 'multiplies' }, outcome: 'passed', failures: [] },
      {
        test: { file: 'sum.test.ts', classname: '', parent: '', name: 'adds' },
        outcome: 'failed',
        failures: [{ type: '', message: 'expected 1', body: '' }],
      },
    ]);
  });

  it('combines the attempts of a test', () => {
    const attempts = [{ outcome: 'failed', message: 'timeout' }, { outcome: 'passed' }];
    const [upload] = read({ ...uploadFields, tests: [{ name: 'adds', attempts }] });
    expect(upload?.results[0]).toMatchObject({ outcome: 'flaky', failures: [{ message: 'timeout' }] });
    expect(upload?.branchClass).toBe('default');
  });

  it('finds the suite that an earlier line defines', () => {
    const [none, upload] = read(
      { suite: 'unit', tests: ['adds', 'multiplies'] },
      { ...uploadFields, suite: 'unit', missing: ['adds'], complete: false },
    );
    expect(none).toBeNull();
    expect(upload?.suite?.tests.map(({ name }) => name)).toEqual(['adds', 'multiplies']);
    expect(upload).toMatchObject({ isComplete: false, missing: [{ name: 'adds' }] });
  });

  it.each([
    ['{"at":', 'Line 1: not valid JSON. Write one JSON object on each line.'],
    ['[]', 'Line 1: not a JSON object. Write one JSON object on each line.'],
    [
      { ...uploadFields, at: 'soon' },
      'Line 1: `at` is not an instant. Write one such as "2026-01-05T08:00:00Z".',
    ],
    [
      { ...uploadFields, job: '' },
      'Line 1: `job` is missing. Give the name of the CI job, without its shard.',
    ],
    [
      { ...uploadFields, branchClass: 'trunk' },
      'Line 1: `branchClass` is `trunk`. Use one of default, queue, pull_request, other.',
    ],
    [
      { ...uploadFields, suite: 'e2e' },
      'Line 1: `suite` names `e2e`, which no earlier line defines. Define it first.',
    ],
    [{ ...uploadFields, tests: [{}] }, 'Line 1: `tests` contains a test without a `name`. Name every test.'],
    [
      { ...uploadFields, tests: [{ name: 'adds', outcome: 'red' }] },
      'Line 1: `outcome` of `adds` is not one of passed, failed, skipped.',
    ],
    [{ ...uploadFields, complete: 'yes' }, 'Line 1: `complete` is neither true nor false.'],
  ])('names the line and what to do: %j', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });

  it('refuses uploads that are not sorted by time', () => {
    expect(() => read(uploadFields, { ...uploadFields, at: '2026-01-04T08:00:00Z' })).toThrow(
      'Line 2: `at` is earlier than the line before. Sort the uploads by time.',
    );
  });

  it('refuses a line that is too long before all of it is in memory', async () => {
    const lines = readLines(chunksOf('short\n', 'x'.repeat(20), 'y'.repeat(20)), 30);
    expect((await lines.next()).value).toEqual({ number: 1, text: 'short' });
    await expect(lines.next()).rejects.toThrow(
      'Line 2: longer than 30 characters. Write one upload on each line.',
    );
  });

  it('reads what it writes, whatever the chunks', async () => {
    const name = { file: '', classname: '', parent: '', name: 'adds' };
    const suite = { id: 'unit', tests: [name] };
    const [plain] = read({
      ...uploadFields,
      variant: 'windows',
      shard: '1/2',
      tests: [{ name: 'adds', outcome: 'failed', message: 'no' }],
    });
    const written: string[] = [];
    const write = createEventWriter((line) => written.push(`${line}\n`));
    write({ ...plain!, suite });
    write({ ...plain!, suite });
    const text = written.join('');
    const found: ReplayUpload[] = [];
    for await (const upload of readEvents(chunksOf(text.slice(0, 11), text.slice(11, 90), text.slice(90))))
      found.push(upload);
    expect(found).toEqual([
      { ...plain!, suite },
      { ...plain!, suite },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { failure, reports, upload } from '../../../test/fixture/ci-upload.ts';
import { decisionLine, summarise } from './summary.ts';

type Failure = typeof failure;

const classified = (...failures: readonly Partial<Failure>[]) => {
  const listed = failures.map((one) => ({ ...failure, ...one }));
  const failed = listed.filter(({ outcome }) => outcome === 'failed').length;
  const whole = { ...upload, failures: listed, failed, flaky: listed.length - failed };
  return summarise(reports, { kind: 'classified', upload: whole }).map(({ text }) => text);
};

describe('the summary', () => {
  it('separates new, flaky, broken and unknown failures', () => {
    expect(
      classified(
        {},
        {
          name: 'session ends',
          verdict: 'flaky',
          status: 'flaky',
          quarantined: true,
          is_excused: true,
          status_reason: 'Passed and failed on 3 sources.',
        },
        { name: 'logs in', verdict: 'broken', status: 'broken', summary: '' },
        { name: 'logs out', verdict: 'unknown', summary: '' },
      ),
    ).toEqual([
      'Signalbox: 142 tests in 1 report: 138 passed, 4 failed.',
      '  NEW      cart.test.ts › cart › adds two items',
      '           expected 3 to be 2',
      '           It passed before and never failed like this. Check your change first.',
      '  FLAKY    cart.test.ts › cart › session ends (quarantined)',
      '           expected 3 to be 2',
      '           Passed and failed on 3 sources. Most likely not caused by your change.',
      '  BROKEN   cart.test.ts › cart › logs in',
      '           Already broken on the default branch. Not caused by your change.',
      '  FIRST    cart.test.ts › cart › logs out',
      '           This test has no history yet. If your change adds it, check the test itself.',
    ]);
  });

  it('warns of a flaky test that fails in another way', () => {
    expect(classified({ verdict: 'flaky', quarantined: true }).at(-1)).toContain(
      'your change may have caused it',
    );
  });

  it('lists tests that passed on retry after those that failed', () => {
    expect(classified({ outcome: 'flaky', name: 'retried' })).toEqual([
      'Signalbox: 139 tests in 1 report: 138 passed, 1 passed on retry.',
      '  RETRIED  cart.test.ts › cart › retried',
    ]);
  });

  it('does not repeat a part of the name', () => {
    expect(classified({ file: 'cart.test.ts', parent: 'cart.test.ts', summary: '' })[1]).toBe(
      '  NEW      cart.test.ts › adds two items',
    );
  });

  it('shows nothing of a report that a terminal or CI would execute', () => {
    const evil = '\u001b[2J##vso[task.complete result=Succeeded]\n::error::x';
    const text = classified({ name: evil, file: evil, parent: evil, summary: evil }).join('\n');
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('##vso[');
    expect(text).not.toMatch(/^\s*::/m);
    expect(text.split('\n')).toHaveLength(4);
  });

  it('has the page of each failed test, if the service names it', () => {
    expect(classified({ html_url: 'https://signalbox.example/app/tests/1' }).at(-1)).toBe(
      '           https://signalbox.example/app/tests/1',
    );
  });

  it('names fifty failures, and counts the rest', () => {
    const lines = classified(
      ...Array.from({ length: 120 }, (_, at) => ({ name: `test ${at}`, summary: '' })),
    );
    expect(lines.at(-1)).toBe('  … and 70 more');
  });

  it('has the names without the service too, and says why there is no more', () => {
    const lines = summarise(reports, {
      kind: 'absent',
      why: 'Signalbox is unreachable (ECONNREFUSED). Check the URL and your connection.',
    });
    expect(lines.map(({ text }) => text)).toEqual([
      'Signalbox: 140 tests in 1 report: 138 passed, 2 failed.',
      '  FAILED   cart.test.ts › cart › adds two items',
      '  FAILED   cart › red',
      'Signalbox: Signalbox is unreachable (ECONNREFUSED). Check the URL and your connection.',
    ]);
  });

  it('says which reports were not read, and what the service says of an upload', () => {
    const unread = [{ file: 'junit.xml', why: 'It ends in the middle.' }];
    const problems = [{ file: 'junit/0', code: 'TRUNCATED', message: 'It ends in the middle.', count: 1 }];
    const whole: typeof upload = { ...upload, is_suspect: true, trust: 'untrusted', problems };
    const text = summarise({ ...reports, unread }, { kind: 'classified', upload: whole })
      .map((line) => line.text)
      .join('\n');
    expect(text).toContain('Not read completely: junit.xml: It ends in the middle.');
    expect(text).toContain('junit/0: It ends in the middle.');
    expect(text).toContain('far more tests failed');
    expect(text).toContain('only the scope upload');
  });

  it('falls back to the reports when the service could use nothing of them', () => {
    const lines = summarise(reports, {
      kind: 'classified',
      upload: { ...upload, state: 'failed', failed: 0 },
    });
    expect(lines.map(({ text }) => text)).toContain('  FAILED   cart.test.ts › cart › adds two items');
    expect(lines.at(-1)?.text).toContain('no usable result');
  });
});

describe('the last line', () => {
  it('says why the exit code is another, or stays', () => {
    expect(decisionLine({ exitCode: 0, isChanged: true, why: 'Because.' })?.text).toBe(
      'Signalbox: the exit code is now 0: Because.',
    );
    expect(decisionLine({ exitCode: 3, isChanged: false, why: 'Because.' })?.text).toBe(
      'Signalbox: the exit code stays 3: Because.',
    );
  });

  it('is none after a success', () => {
    expect(decisionLine({ exitCode: 0, isChanged: false, why: '' })).toBeNull();
  });
});

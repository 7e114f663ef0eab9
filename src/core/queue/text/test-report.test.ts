import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Classification,
  explainVerdict,
  isSuspicious,
  type ReportedTest,
  testReport,
  testReportHeadline,
} from './test-report.ts';

const newFailure: Classification = { verdict: 'new', isQuarantined: false, isExcused: false, reason: '' };
const aTest = (
  change: Partial<Classification> | null = {},
  rest: Partial<ReportedTest> = {},
): ReportedTest => ({
  name: 'cart › adds',
  place: 'cart.test.ts:12',
  message: ['expected 3 to be 2'],
  pageUrl: 'https://signalbox.example/app/tests/1?repo=git.example%2Facme%2Fwidgets',
  classification: change === null ? null : { ...newFailure, ...change },
  ...rest,
});
const excused = { isQuarantined: true, isExcused: true };
const reportOf = (...tests: readonly ReportedTest[]) => ({
  failed: tests.length,
  tests,
  flakyNew: [],
  notes: [],
});
const headlineOf = (...tests: readonly ReportedTest[]) => testReportHeadline(reportOf(...tests));

describe('the headline of a report of failed tests', () => {
  it('counts the failures by what they mean, those that are excused last', () => {
    expect(headlineOf(aTest({ verdict: 'flaky', ...excused }), aTest({ verdict: 'broken' }), aTest())).toBe(
      '3 tests failed: 1 new failure, 1 already broken on the default branch, 1 flaky and excused',
    );
    expect(
      headlineOf(
        aTest(),
        aTest(),
        aTest({ verdict: 'unknown' }),
        aTest({ verdict: 'flaky' }),
        aTest({ verdict: 'flaky', isQuarantined: true }),
        aTest({ verdict: 'broken', ...excused }),
      ),
    ).toBe(
      '6 tests failed: 2 new failures, 1 never seen before, 1 flaky, but not in this way, 1 flaky, 1 quarantined and excused',
    );
  });

  it('has only the number if nothing was classified, and counts what was not', () => {
    expect(headlineOf(aTest(null))).toBe('1 test failed');
    expect(testReportHeadline({ ...reportOf(aTest()), failed: 3 })).toBe(
      '3 tests failed: 1 new failure, 2 not classified',
    );
  });

  it('names new tests that are flaky', () => {
    const flakyNew = [{ name: 'new one', failed: 1, runs: 3 }];
    expect(testReportHeadline({ ...reportOf(), flakyNew })).toBe('1 new test both passed and failed');
    expect(testReportHeadline({ ...reportOf(aTest()), flakyNew })).toBe(
      '1 test failed: 1 new failure; 1 new test both passed and failed',
    );
  });
});

describe('a report of failed tests', () => {
  it('lists each with its verdict, its place, what to do, its message and its page', () => {
    expect(testReport({ ...reportOf(aTest()), notes: ['140 tests ran.'] })).toBe(
      [
        '### 1 test failed: 1 new failure',
        '140 tests ran.',
        '- **NEW** [`cart › adds`](https://signalbox.example/app/tests/1?repo=git.example%2Facme%2Fwidgets) (`cart.test.ts:12`): It passed before and never failed like this. Check your change first.<br>`expected 3 to be 2`',
      ].join('\n\n'),
    );
  });

  it('lists fifty, and counts the rest', () => {
    const text = testReport({ ...reportOf(...Array.from({ length: 60 }, () => aTest())), failed: 70 });
    expect(text.match(/^- \*\*NEW/gm)).toHaveLength(50);
    expect(text).toContain('\n- and 20 more');
  });

  it('says of a new test that is flaky how often it failed', () => {
    const flakyNew = [{ name: 'new `one`', failed: 1, runs: 3 }];
    expect(testReport({ ...reportOf(), flakyNew })).toContain(
      '- **FLAKY** `new one`: it is new, and failed 1 of 3 times on the same commit. Fix it before this merges.',
    );
  });

  it('shows texts of others as code, whatever they contain', () => {
    const hostile = fc.array(
      fc.constantFrom(
        '`',
        '``',
        '\\',
        '@ada',
        '[x](http://y)',
        '<img src=x>',
        '<!--',
        '#1',
        '**',
        '~~',
        '| ',
        'a',
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(hostile, (parts) => {
        const text = parts.join('');
        const report = testReport(
          reportOf(aTest({}, { name: text, place: text, message: [text], pageUrl: `javascript:${text}` })),
        );
        const outside = report.replaceAll(/`[^`]+`/g, '');
        expect(outside).not.toMatch(/@|http|javascript|<(?!br>)|\[|#1|~/);
      }),
    );
    const reason = 'It [failed](http://x) @ada <b>.';
    expect(testReport(reportOf(aTest({ verdict: 'flaky', reason })))).not.toMatch(
      /@ada|\(http:\/\/|[^\\]<b>/,
    );
  });
});

describe('the explanation of a verdict', () => {
  it.each([
    [{}, 'It passed before and never failed like this. Check your change first.'],
    [excused, 'It passed before and never failed like this. Its quarantine excuses every failure.'],
    [{ verdict: 'unknown' }, 'This test has no history yet. If your change adds it, check the test itself.'],
    [{ verdict: 'broken' }, 'Already broken on the default branch. Not caused by your change.'],
    [{ verdict: 'broken', reason: 'It fails since May.' }, 'It fails since May. Not caused by your change.'],
    [
      { verdict: 'flaky' },
      'It failed like this on a commit on which it also passed. Most likely not caused by your change. Run the job again.',
    ],
    [
      { verdict: 'flaky', isQuarantined: true, reason: 'It failed twice.' },
      'It failed twice. But it was never flaky in this way, so your change may have caused it.',
    ],
    [
      { verdict: 'flaky', ...excused, reason: 'It failed twice.' },
      'It failed twice. Most likely not caused by your change.',
    ],
  ] satisfies [Partial<Classification>, string][])('says what to do next (%#)', (change, sentence) => {
    expect(explainVerdict({ ...newFailure, ...change })).toBe(sentence);
  });

  it.each([
    [null, true],
    [{}, true],
    [{ verdict: 'unknown' }, true],
    [{ verdict: 'flaky', isQuarantined: true }, true],
    [{ verdict: 'flaky' }, false],
    [{ verdict: 'broken', isQuarantined: true }, false],
    [{ verdict: 'new', ...excused }, false],
  ] satisfies [Partial<Classification> | null, boolean][])(
    'is a suspicion of the change only where nothing else explains the failure (%#)',
    (change, expected) => expect(isSuspicious(aTest(change))).toBe(expected),
  );
});

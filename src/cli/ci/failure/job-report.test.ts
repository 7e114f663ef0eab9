import { describe, expect, it } from 'vitest';
import { failure, reports, upload } from '../../../../test/fixture/ci-upload.ts';
import { describeFailures, type JobReport, mayBeCausedByChange } from './job-report.ts';
import type { Submission } from '../submit.ts';

type Failure = typeof failure;

const classified = (...failures: readonly Partial<Failure>[]) => ({
  kind: 'classified' as const,
  upload: {
    ...upload,
    failed: failures.length,
    failures: failures.map((one) => ({ ...failure, ...one })),
  },
});
const reportOf = (...failures: readonly Partial<Failure>[]): JobReport =>
  describeFailures({ reports, submission: classified(...failures) })!;

describe('the report of a job', () => {
  it('is absent if nothing failed', () => {
    const decision = { exitCode: 2, isChanged: false, why: 'It crashed.' };
    expect(describeFailures({ reports, submission: classified(), decision })).toBeNull();
  });

  it('has each failed test with its verdict, and what the report of the test says', () => {
    expect(reportOf({ html_url: 'https://signalbox.example/app/tests/1' })).toEqual({
      failed: 1,
      flakyNew: [],
      notes: ['Signalbox: 139 tests in 1 report: 138 passed, 1 failed.'],
      tests: [
        {
          name: 'cart.test.ts › cart › adds two items',
          file: 'cart.test.ts',
          line: 12,
          place: 'cart.test.ts:12',
          message: ['expected 3 to be 2', 'in the total'],
          pageUrl: 'https://signalbox.example/app/tests/1',
          classification: { verdict: 'new', isQuarantined: false, isExcused: false, reason: '' },
        },
      ],
    });
  });

  it('has the summary of the service for a test that the reports name otherwise', () => {
    const { tests } = reportOf({ name: 'other', html_url: undefined });
    expect(tests[0]).toMatchObject({ line: null, place: '', message: ['expected 3 to be 2'], pageUrl: '' });
  });

  it('explains a status only by a reason that is about this failure', () => {
    const reasonOf = (change: Partial<Failure>) => reportOf(change).tests[0]?.classification?.reason;
    expect(reasonOf({ verdict: 'flaky', status: 'flaky', status_reason: 'Flaky.' })).toBe('Flaky.');
    expect(reasonOf({ verdict: 'new', status: 'flaky', status_reason: 'Flaky.' })).toBe('');
  });

  it('says how the run ended, and which new tests are flaky', () => {
    const decision = { exitCode: 0, isChanged: true, why: '1 failed test, known to be flaky.' };
    const test = { file: '', parent: '', classname: 'cart', name: 'new', variant: '', ownId: null };
    const shaken = {
      tests: [
        { test: { ...test, outcome: 'passed' as const }, passed: 2, failed: 1 },
        { test: { ...test, outcome: 'passed' as const }, passed: 3, failed: 0 },
      ],
      leftOut: 0,
      repeats: 2,
      spentMs: 1,
      budgetMs: 2,
    };
    const report = describeFailures({ reports, submission: classified(), decision, shaken })!;
    expect(report.flakyNew).toEqual([{ name: 'cart › new', failed: 1, runs: 3 }]);
    expect(report.notes[1]).toBe('Signalbox: the exit code is now 0: 1 failed test, known to be flaky.');
    expect(mayBeCausedByChange(report)).toBe(true);
  });

  it('suspects the change unless every failure has another explanation', () => {
    expect(mayBeCausedByChange(reportOf({}))).toBe(true);
    expect(
      mayBeCausedByChange(
        reportOf({ verdict: 'flaky', quarantined: true, is_excused: true }, { verdict: 'broken' }),
      ),
    ).toBe(false);
    const { tests } = reportOf({ verdict: 'broken' });
    expect(mayBeCausedByChange({ tests, failed: 2, flakyNew: [], notes: [] })).toBe(true);
  });

  it('shows a test that failed and then passed, if one of the reports still fails', () => {
    const passedLater = classified({ outcome: 'flaky', verdict: 'new' });
    const failing = { ...reports, outcomes: { ...reports.outcomes, failed: 1 } };
    const sound = { ...reports, outcomes: { ...reports.outcomes, failed: 0 } };
    const submission = {
      ...passedLater,
      upload: { ...passedLater.upload, failed: 0, flaky: 1 },
    } as Submission;
    expect(describeFailures({ reports: failing, submission })?.tests).toHaveLength(1);
    expect(describeFailures({ reports: sound, submission })).toBeNull();
  });

  it('has the tests of the reports if the service did not classify them', () => {
    const report = describeFailures({ reports, submission: { kind: 'absent', why: 'away' } })!;
    expect(report.tests).toMatchObject([
      { name: 'cart.test.ts › cart › adds two items', place: 'cart.test.ts:12', classification: null },
      { name: 'cart › red', place: '', classification: null },
    ]);
    expect(mayBeCausedByChange(report)).toBe(true);
  });
});

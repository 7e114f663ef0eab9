import { describe, expect, it } from 'vitest';
import { explainFailedTests, type FailedTest, failedTestLabel } from './failed-test.ts';

const aTest = (name: string, verdict: FailedTest['verdict'], isQuarantined = false): FailedTest => ({
  testCaseId: '01940000-0000-5000-8000-000000000061',
  name,
  verdict,
  isQuarantined,
});

describe('the failing tests of a run', () => {
  it('are named with what is known of each', () => {
    const first = [aTest('parses dates', 'new'), aTest('adds', 'flaky', true), aTest('sorts', 'broken')];
    expect(explainFailedTests({ count: 3, first })).toBe(
      'Failing: parses dates (new with this change), adds (known to be flaky, quarantined), sorts (already broken on the branch).',
    );
  });

  it('are three in a sentence, and the others are counted', () => {
    const first = ['a', 'b', 'c', 'd'].map((name) => aTest(name, 'new'));
    expect(explainFailedTests({ count: 40, first })).toMatch(/c \(new with this change\) and 37 more\.$/);
  });

  it('that no report names are not mentioned', () => {
    expect(explainFailedTests({ count: 0, first: [] })).toBeNull();
  });

  it('with long names are cut', () => {
    const sentence = explainFailedTests({ count: 1, first: [aTest('x'.repeat(5_000), 'unknown')] });
    expect(sentence!.length).toBeLessThan(200);
    expect(failedTestLabel(aTest('x', 'unknown'))).toBe('never seen before');
  });
});

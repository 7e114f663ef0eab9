// What the repeats of new tests show, counted over the suite and all repeats: a test that passed and failed is flaky, whatever
// the suite said. One that failed every time is no flake, and is left to the summary of the suite.

import { countText } from '#base/number-text.ts';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import type { ReportedCase, RunOutcome } from '#core/health/reported-case.ts';
import type { SummaryLine } from '../summary.ts';
import { formatTestName } from '../test-name.ts';

export type CaseFields = SelectedTest & Pick<ReportedCase, 'variant' | 'ownId' | 'outcome'>;

export type ShakenTest = { readonly test: CaseFields; readonly passed: number; readonly failed: number };

export type ShakeResult = {
  /** The tests that were repeated. */
  readonly tests: readonly ShakenTest[];
  /** How many new tests were left out, because there are too many. */
  readonly leftOut: number;
  readonly repeats: number;
  readonly spentMs: number;
  readonly budgetMs: number;
};

/** The same test in the report of the suite and in that of a repeat. */
const formatCaseKey = ({ file, classname, parent, name, variant }: CaseFields): string =>
  JSON.stringify([file, classname, parent, name, variant]);

const passes: Readonly<Record<RunOutcome, number>> = { passed: 1, failed: 0, flaky: 1, skipped: 0 };
const failures: Readonly<Record<RunOutcome, number>> = { passed: 0, failed: 1, flaky: 1, skipped: 0 };

/** Counts the outcomes of the tests in the reports. */
export function countOutcomes(
  tests: readonly CaseFields[],
  cases: readonly CaseFields[],
): readonly ShakenTest[] {
  const outcomes = Map.groupBy(cases, formatCaseKey);
  return tests.map((test) => {
    const found = outcomes.get(formatCaseKey(test)) ?? [];
    return {
      test,
      passed: found.reduce((sum, { outcome }) => sum + passes[outcome], 0),
      failed: found.reduce((sum, { outcome }) => sum + failures[outcome], 0),
    };
  });
}

export const isFlaky = ({ passed, failed }: ShakenTest): boolean => passed > 0 && failed > 0;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export function shakeLines(result: ShakeResult): readonly SummaryLine[] {
  const { tests, leftOut, repeats, spentMs, budgetMs } = result;
  const flaky = tests.filter(isFlaky);
  const ran = `${countText(tests.length, 'test')} that the default branch has never seen ran ${countText(repeats, 'more time')}`;
  const more = leftOut > 0 ? ` ${countText(leftOut, 'more new test')} ran only once.` : '';
  const verdict =
    flaky.length === 0
      ? 'None of them both passed and failed.'
      : `${countText(flaky.length, 'test')} both passed and failed: fix ${flaky.length === 1 ? 'it' : 'them'} before this merges.`;
  return [
    {
      tone: flaky.length === 0 ? 'good' : 'bad',
      text: `Signalbox: ${ran}, in ${seconds(spentMs)} of ${seconds(budgetMs)}. ${verdict}${more}`,
    },
    ...flaky.map((shaken): SummaryLine => ({
      tone: 'bad',
      text: `  FLAKY    ${formatTestName(shaken.test)}: failed ${shaken.failed} of ${countText(shaken.passed + shaken.failed, 'time')}.`,
    })),
  ];
}

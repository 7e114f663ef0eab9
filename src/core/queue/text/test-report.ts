// The failed tests of a CI run, each with its verdict and what to do next: in one line, and in Markdown. Texts of others come as
// single lines; in Markdown they are code, so that nothing in them is markup, HTML, a link or a mention.
//
//   3 tests failed: 1 new failure, 1 already broken on the default branch, 1 flaky and excused

import { countText } from '#base/number-text.ts';
import type { FailedTest } from '../rule/failed-test.ts';
import { code, linked, quoted, unmarked } from './markup.ts';

export type Classification = Pick<FailedTest, 'verdict' | 'isQuarantined'> & {
  /** Quarantined, and the quarantine covers a failure like this. */
  readonly isExcused: boolean;
  /** Why the test has its status, as a sentence; empty: the status is not about this failure. */
  readonly reason: string;
};

export type ReportedTest = {
  readonly name: string;
  /** File and line, such as `cart.test.ts:12`; empty: not known, or part of the name. */
  readonly place: string;
  /** The first lines of its failure. */
  readonly message: readonly string[];
  /** Its page on the dashboard; empty: not known. */
  readonly pageUrl: string;
  /** Null: the service did not classify the failure. */
  readonly classification: Classification | null;
};

/** A test that the default branch has never seen, and that passed and failed when it was repeated. */
type FlakyNewTest = { readonly name: string; readonly failed: number; readonly runs: number };

export type TestReport = {
  /** How many tests failed; at least as many as are listed. */
  readonly failed: number;
  readonly tests: readonly ReportedTest[];
  readonly flakyNew: readonly FlakyNewTest[];
  /** Sentences about the run as a whole. */
  readonly notes: readonly string[];
};

const listedMax = 50;

export const verdictMarks: { readonly [Verdict in Classification['verdict']]: string } = {
  flaky: 'FLAKY',
  broken: 'BROKEN',
  new: 'NEW',
  unknown: 'FIRST',
};

/** The change may have caused the failure. */
export const isSuspicious = ({ classification: it }: Pick<ReportedTest, 'classification'>): boolean =>
  it === null ||
  (!it.isExcused &&
    (it.verdict === 'new' || it.verdict === 'unknown' || (it.verdict === 'flaky' && it.isQuarantined)));

/** What is known about a failure, and what to do next. */
export function explainVerdict({ verdict, isQuarantined, isExcused, reason }: Classification): string {
  switch (verdict) {
    case 'flaky':
      return `${reason === '' ? 'It failed like this on a commit on which it also passed.' : reason} ${
        isExcused
          ? 'Most likely not caused by your change.'
          : isQuarantined
            ? 'But it was never flaky in this way, so your change may have caused it.'
            : 'Most likely not caused by your change. Run the job again.'
      }`;
    case 'broken':
      return `${reason === '' ? 'Already broken on the default branch.' : reason} Not caused by your change.`;
    case 'new':
      return `It passed before and never failed like this. ${isExcused ? excusedText : 'Check your change first.'}`;
    case 'unknown':
      return `This test has no history yet. ${isExcused ? excusedText : 'If your change adds it, check the test itself.'}`;
  }
}

const excusedText = 'Its quarantine excuses every failure.';

type VerdictGroup = readonly [belongs: (it: Classification) => boolean, text: (count: number) => string];

/** Each failure counts in the first group that it belongs to. */
const groups: readonly VerdictGroup[] = [
  [({ isExcused, verdict }) => isExcused && verdict === 'flaky', (count) => `${count} flaky and excused`],
  [({ isExcused }) => isExcused, (count) => `${count} quarantined and excused`],
  [({ verdict }) => verdict === 'new', (count) => countText(count, 'new failure')],
  [({ verdict }) => verdict === 'unknown', (count) => `${count} never seen before`],
  [({ verdict }) => verdict === 'broken', (count) => `${count} already broken on the default branch`],
  [({ isQuarantined }) => isQuarantined, (count) => `${count} flaky, but not in this way`],
  [() => true, (count) => `${count} flaky`],
];

/** What was excused comes last. */
const shownGroups = [...groups.slice(2), ...groups.slice(0, 2)];

/** One line, without markup. */
export function testReportHeadline({ failed, tests, flakyNew }: TestReport): string {
  const classified = tests.flatMap(({ classification }) => classification ?? []);
  const members = Map.groupBy(classified, (it) => groups.find(([belongs]) => belongs(it)));
  const parts = shownGroups.flatMap((group) => {
    const count = members.get(group)?.length ?? 0;
    return count === 0 ? [] : [group[1](count)];
  });
  const left = failed - classified.length;
  if (parts.length > 0 && left > 0) parts.push(`${left} not classified`);
  const failures =
    failed === 0
      ? []
      : [`${countText(failed, 'test')} failed${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`];
  const flaky =
    flakyNew.length === 0 ? [] : [`${countText(flakyNew.length, 'new test')} both passed and failed`];
  return [...failures, ...flaky].join('; ');
}

export function testReport(report: TestReport): string {
  const { failed, tests, flakyNew, notes } = report;
  const listed = tests.slice(0, listedMax).map(describeTest);
  const left = failed - listed.length;
  return [
    `### ${unmarked(testReportHeadline(report))}`,
    ...notes.map(unmarked),
    [...listed, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n'),
    flakyNew.slice(0, listedMax).map(describeFlakyNew).join('\n'),
  ]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

function describeTest({ name, place, message, pageUrl, classification }: ReportedTest): string {
  const where = place === '' ? '' : ` (${code(place)})`;
  const said = message.map((line) => `<br>${quoted(line)}`).join('');
  if (classification === null) return `- ${linked(name, pageUrl)}${where}${said}`;
  const mark = `**${verdictMarks[classification.verdict]}**`;
  return `- ${mark} ${linked(name, pageUrl)}${where}: ${unmarked(explainVerdict(classification))}${said}`;
}

const describeFlakyNew = ({ name, failed, runs }: FlakyNewTest): string =>
  `- **FLAKY** ${code(name)}: it is new, and failed ${failed} of ${countText(runs, 'time')} on the same commit. Fix it before this merges.`;

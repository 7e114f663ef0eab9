// Tests and their health, as the command line shows them.

import { countText } from '#base/number-text.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { fixText } from '#contract/text/fix-text.ts';
import { heldBackText } from '#contract/text/held-back-text.ts';
import type { Breakage, TestCase, TestCaseDetails } from '#contract/test-health.ts';
import { breakageText, culpritText, recoveryText } from '#contract/text/prospect-text.ts';
import { formerNameText, presentNameText } from '#contract/text/rename-text.ts';
import type { TestHistoryResponse } from '#contract/health/test-history.ts';
import {
  agoText,
  type TableCell,
  clockText,
  getTerminalWidth,
  type Pen,
  tableLines,
  wrapText,
} from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';

type QuarantinedTestsAnswer = ResponseOf<'listQuarantinedTests'>;
type TestStatusValue = TestCase['status']['value'];

const tones = { healthy: 'good', flaky: 'warning', broken: 'bad' } as const;
const statusCell = (status: TestStatusValue): TableCell => ({ text: status, tone: tones[status] });

export function unhealthyLines(tests: readonly TestCase[], total: number, pen: Pen): readonly string[] {
  if (tests.length === 0) return ['No test is flaky or broken.'];
  const rows = tests.map((test): readonly TableCell[] => [
    statusCell(test.status.value),
    String(test.pull_requests_impacted_last_7d),
    test.quarantined ? 'yes' : '',
    test.id,
    test.file_path === undefined ? test.name : `${test.name} (${test.file_path})`,
  ]);
  const head = ['status', 'PRs hit in 7 days', 'quarantined', 'id', 'test'];
  const left = total - tests.length;
  return [
    ...tableLines(head, rows, pen),
    ...(left > 0 ? [pen('quiet', `… and ${left} more: filter with --search or --owner`)] : []),
  ];
}

export function quarantinedLines(answer: QuarantinedTestsAnswer, pen: Pen, now: Date): readonly string[] {
  const { quarantined_tests: tests, page } = answer;
  if (tests.length === 0) return ['No test is quarantined.'];
  const rows = tests.map((test): readonly TableCell[] => [
    statusCell(test.status.toLowerCase() as TestStatusValue),
    test.quarantine_setting === 'ALWAYS_QUARANTINE' ? 'manually' : 'automatically',
    test.quarantine_expires_at === null ? '' : clockText(test.quarantine_expires_at, now),
    test.quarantine_owners.join(', '),
    String(test.pull_requests_spared_last_30d),
    test.test_case_id,
    test.name,
  ]);
  const head = ['status', 'quarantined', 'until', 'owner', 'PRs unblocked in 30 days', 'id', 'test'];
  const left = page.total_rows - tests.length;
  return [...tableLines(head, rows, pen), ...(left > 0 ? [pen('quiet', `… and ${left} more`)] : [])];
}

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

function quarantineText(test: TestCaseDetails, now: Date): string {
  if (test.quarantine_held_back !== null)
    return `not quarantined. ${heldBackText(test.quarantine_held_back)}`;
  if (!test.quarantined)
    return test.quarantine_setting === 'NEVER_QUARANTINE'
      ? 'not quarantined; automatic quarantine is off for this test'
      : 'not quarantined';
  const how = test.quarantine_setting === 'ALWAYS_QUARANTINE' ? 'manually' : 'automatically';
  const until =
    test.quarantine_expires_at === null ? '' : `, until ${clockText(test.quarantine_expires_at, now)}`;
  const owners = test.quarantine_owners.join(', ');
  const owner = owners === '' ? '' : `, owner ${owners}`;
  const note = test.quarantine_note === null ? '' : `: ${test.quarantine_note}`;
  return `quarantined ${how}${until}${owner}${note}`;
}

export function testLines(
  { test, breakage, recovery, fix_verification: fix, renamed_from, renamed_to }: ResponseOf<'getTestDetails'>,
  history: TestHistoryResponse,
  pen: Pen,
  now: Date,
): readonly string[] {
  const { value, reason, timestamp } = test.status;
  const where = [test.file_path, test.parent ?? test.classname, test.variant].filter(
    (part) => (part ?? '') !== '',
  );
  const columns = getTerminalWidth(process.stdout);
  return [
    pen('strong', plainLine(test.name, Math.min(200, columns))),
    ...(where.length === 0 ? [] : [pen('quiet', plainLine(where.join(' › ')))]),
    pen('quiet', test.id),
    ...renameLines({ renamed_from, renamed_to }, now, columns),
    '',
    `  ${pen(tones[value], value)} since ${agoText(timestamp, now).replace(' ago', '')}`,
    ...(reason === '' ? [] : wrapText(plainLine(reason, 500), '  ', columns)),
    ...wrapText(plainLine(quarantineText(test, now), 3_000), '  ', columns),
    `  fails in ${percent(test.failure_rate_last_24h)} of its runs in 24 hours, ${percent(test.failure_rate_last_7d)} in 7 days`,
    ...(test.codeowners.length === 0 ? [] : [plainLine(`  owned by ${test.codeowners.join(', ')}`)]),
    ...(recovery === null
      ? []
      : wrapText(
          recoveryText(recovery, (at) => clockText(at, now)),
          '  ',
          columns,
        )),
    ...(fix === null
      ? []
      : wrapText(
          plainLine(
            fixText(fix, (at) => clockText(at, now)),
            1_000,
          ),
          '  ',
          columns,
        )),
    ...breakageLines(breakage, pen, columns),
    ...monitorLines(history, pen, columns),
    ...failureLines(history, pen, now),
    ...hitLines(history, pen, now),
  ];
}

function renameLines(
  { renamed_from: from, renamed_to: to }: Pick<ResponseOf<'getTestDetails'>, 'renamed_from' | 'renamed_to'>,
  now: Date,
  columns: number,
): readonly string[] {
  const formatAt = (at: string) => clockText(at, now);
  const lines = (text: string) => wrapText(plainLine(text, 1_000), '', columns);
  return [
    ...(from === null ? [] : lines(formerNameText(from, formatAt))),
    ...(to === null ? [] : lines(presentNameText(to, formatAt))),
  ];
}

function breakageLines(breakage: Breakage | null, pen: Pen, columns: number): readonly string[] {
  if (breakage === null) return [];
  const left = breakage.candidate_count - Math.min(breakage.candidates.length, shownMax);
  const revert = breakage.culprit?.revert_command ?? null;
  return [
    '',
    pen('strong', 'Which commit broke it'),
    ...wrapText(`${breakageText(breakage)} ${culpritText(breakage)}`.trim(), '  ', columns),
    ...breakage.candidates.slice(0, shownMax).map(({ sha, pull_request: number, title }) => {
      const what = number === null ? 'not landed by a queue' : `#${number}`;
      return `  ${sha.slice(0, 7)}  ${plainLine(`${what}  ${title}`, 100)}`;
    }),
    ...(left > 0 ? [pen('quiet', `  … and ${left} more`)] : []),
    ...(revert === null ? [] : [`  To revert it: ${plainLine(revert, 200)}`]),
  ];
}

function monitorLines({ monitors }: TestHistoryResponse, pen: Pen, columns: number): readonly string[] {
  const active = monitors.filter(({ is_active: isActive }) => isActive);
  if (active.length === 0) return [];
  return [
    '',
    pen('strong', 'Evidence'),
    ...active.flatMap(({ monitor, sees }) => wrapText(plainLine(`${monitor}: ${sees}`, 500), '  ', columns)),
  ];
}

const shownMax = 5;

function failureLines({ failures }: TestHistoryResponse, pen: Pen, now: Date): readonly string[] {
  if (failures.length === 0) return [];
  return [
    '',
    pen('strong', 'Failures'),
    ...failures.slice(0, shownMax).flatMap((failure) => {
      const sort = failure.is_flake ? pen('warning', 'flake') : pen('bad', 'other');
      const often = `${countText(failure.occurrence_count, 'time')}, last ${agoText(failure.last_occurrence, now)}`;
      return [`  ${sort}  ${often}`, `         ${pen('quiet', plainLine(failure.summary, 100))}`];
    }),
  ];
}

function hitLines({ pull_requests: hit }: TestHistoryResponse, pen: Pen, now: Date): readonly string[] {
  if (hit.length === 0) return [];
  const left = hit.length - shownMax;
  return [
    '',
    pen('strong', `Affected pull requests`),
    ...hit
      .slice(0, shownMax)
      .map(({ number, failures, last_failed_at: at, verdict, was_quarantined: spared }) => {
        const excused = spared ? ', quarantined' : '';
        return `  #${number}  ${countText(failures, 'failure')}, last ${agoText(at, now)}, ${verdict}${excused}`;
      }),
    ...(left > 0 ? [pen('quiet', `  … and ${left} more`)] : []),
  ];
}

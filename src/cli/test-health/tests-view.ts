// Tests and their health, as the command line shows them.

import type { ResponseOf } from '#contract/endpoint.ts';
import type { TestCase, TestCaseDetails } from '#contract/test-health.ts';
import type { TestHistoryResponse } from '#contract/test-history.ts';
import {
  agoText,
  type Cell,
  clockText,
  columnsOf,
  countText,
  type Pen,
  tableLines,
  wrapText,
} from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';

type Quarantined = ResponseOf<'listQuarantinedTests'>;
type Status = TestCase['status']['value'];

const tones = { healthy: 'good', flaky: 'warning', broken: 'bad' } as const;
const statusCell = (status: Status): Cell => ({ text: status, tone: tones[status] });

export function unhealthyLines(tests: readonly TestCase[], total: number, pen: Pen): readonly string[] {
  if (tests.length === 0) return ['No test is flaky or broken.'];
  const rows = tests.map((test): readonly Cell[] => [
    statusCell(test.status.value),
    String(test.pull_requests_impacted_last_7d),
    test.quarantined ? 'yes' : '',
    test.id,
    test.file_path === undefined ? test.name : `${test.name} (${test.file_path})`,
  ]);
  const head = ['status', 'hit in 7 days', 'quarantined', 'id', 'test'];
  const left = total - tests.length;
  return [
    ...tableLines(head, rows, pen),
    ...(left > 0 ? [pen('quiet', `… and ${left} more: narrow them down with --search or --owner`)] : []),
  ];
}

export function quarantinedLines(answer: Quarantined, pen: Pen, now: Date): readonly string[] {
  const { quarantined_tests: tests, page } = answer;
  if (tests.length === 0) return ['No test is quarantined.'];
  const rows = tests.map((test): readonly Cell[] => [
    statusCell(test.status.toLowerCase() as Status),
    test.quarantine_setting === 'ALWAYS_QUARANTINE' ? 'by a person' : 'by its health',
    test.quarantine_expires_at === null ? '' : clockText(test.quarantine_expires_at, now),
    test.quarantine_owner ?? '',
    String(test.pull_requests_spared_last_30d),
    test.test_case_id,
    test.name,
  ]);
  const head = ['status', 'quarantined', 'until', 'owner', 'spared in 30 days', 'id', 'test'];
  const left = page.total_rows - tests.length;
  return [...tableLines(head, rows, pen), ...(left > 0 ? [pen('quiet', `… and ${left} more`)] : [])];
}

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

function quarantineText(test: TestCaseDetails, now: Date): string {
  if (!test.quarantined)
    return test.quarantine_setting === 'NEVER_QUARANTINE'
      ? 'not quarantined, and never by itself'
      : 'not quarantined';
  const how = test.quarantine_setting === 'ALWAYS_QUARANTINE' ? 'by a person' : 'by its health';
  const until =
    test.quarantine_expires_at === null ? '' : `, until ${clockText(test.quarantine_expires_at, now)}`;
  const owner = test.quarantine_owner === null ? '' : `, ${test.quarantine_owner} looks after it`;
  const note = test.quarantine_note === null ? '' : `: ${test.quarantine_note}`;
  return `quarantined ${how}${until}${owner}${note}`;
}

export function testLines(
  test: TestCaseDetails,
  history: TestHistoryResponse,
  pen: Pen,
  now: Date,
): readonly string[] {
  const { value, reason, timestamp } = test.status;
  const where = [test.file_path, test.parent ?? test.classname, test.variant].filter(
    (part) => (part ?? '') !== '',
  );
  const columns = columnsOf(process.stdout);
  return [
    pen('strong', plainLine(test.name, Math.min(200, columns))),
    ...(where.length === 0 ? [] : [pen('quiet', plainLine(where.join(' › ')))]),
    pen('quiet', test.id),
    '',
    `  ${pen(tones[value], value)} since ${agoText(timestamp, now).replace(' ago', '')}`,
    ...(reason === '' ? [] : wrapText(plainLine(reason, 500), '  ', columns)),
    ...wrapText(plainLine(quarantineText(test, now), 3_000), '  ', columns),
    `  fails in ${percent(test.failure_rate_last_24h)} of its runs in 24 hours, ${percent(test.failure_rate_last_7d)} in 7 days`,
    ...(test.codeowners.length === 0 ? [] : [plainLine(`  owned by ${test.codeowners.join(', ')}`)]),
    ...monitorLines(history, pen, columns),
    ...failureLines(history, pen, now),
    ...hitLines(history, pen, now),
  ];
}

function monitorLines({ monitors }: TestHistoryResponse, pen: Pen, columns: number): readonly string[] {
  const active = monitors.filter(({ is_active: isActive }) => isActive);
  if (active.length === 0) return [];
  return [
    '',
    pen('strong', 'What says so'),
    ...active.flatMap(({ monitor, sees }) => wrapText(plainLine(`${monitor}: ${sees}`, 500), '  ', columns)),
  ];
}

const shownMax = 5;

function failureLines({ failures }: TestHistoryResponse, pen: Pen, now: Date): readonly string[] {
  if (failures.length === 0) return [];
  return [
    '',
    pen('strong', 'How it fails'),
    ...failures.slice(0, shownMax).flatMap((failure) => {
      const sort = failure.is_flake ? pen('warning', 'flake') : pen('bad', 'fault');
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
    pen('strong', `Pull requests it hit`),
    ...hit
      .slice(0, shownMax)
      .map(({ number, failures, last_failed_at: at, verdict, was_quarantined: spared }) => {
        const excused = spared ? ', quarantined' : '';
        return `  #${number}  ${countText(failures, 'failure')}, last ${agoText(at, now)}, ${verdict}${excused}`;
      }),
    ...(left > 0 ? [pen('quiet', `  … and ${left} more`)] : []),
  ];
}

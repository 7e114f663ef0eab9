// The words and tables of a report. All figures are means over the seeds.

import type { Row, Verdict } from './experiment.ts';
import { type Column, formatNumber, formatTable } from './table.ts';

const number =
  (digits: number, figure: keyof Row['summary']) =>
  ({ summary }: Row) =>
    formatNumber(summary[figure], digits);

const times = (figure: keyof Row['summary']) => (row: Row) => `${number(2, figure)(row)}x`;

const turnaroundColumns: readonly Column<Row>[] = [
  { heading: 'policy', text: ({ policy }) => policy, isText: true },
  { heading: 'P50 min', text: number(0, 'p50Min') },
  { heading: 'P95 min', text: number(0, 'p95Min') },
  { heading: 'P99 min', text: number(0, 'p99Min') },
  { heading: 'P50/oracle', text: times('p50OverOracle') },
  { heading: 'P95/oracle', text: times('p95OverOracle') },
  { heading: 'P99/oracle', text: times('p99OverOracle') },
  { heading: 'decided/h (all PRs)', text: number(1, 'decidedPerHour') },
  { heading: '/oracle', text: times('throughputOverOracle') },
  { heading: 'merged/h', text: number(1, 'mergedPerHour') },
];

const costColumns: readonly Column<Row>[] = [
  { heading: 'policy', text: ({ policy }) => policy, isText: true },
  { heading: 'runs/PR', text: number(2, 'runsPerChange') },
  { heading: 'runs/merged', text: number(2, 'runsPerMerged') },
  { heading: 'CI min/PR', text: number(1, 'ciMinutesPerChange') },
  { heading: 'CI min/merged', text: number(1, 'ciMinutesPerMerged') },
  { heading: 'CI min/oracle', text: times('ciMinutesOverOracle') },
  { heading: 'aborted', text: ({ summary }) => `${formatNumber(summary.abortedShare * 100, 0)}%` },
  { heading: 'false evictions', text: ({ summary }) => `${formatNumber(summary.falseEvictionPercent, 2)}%` },
  { heading: 'bad merges', text: number(1, 'badMerges') },
];

export function formatScenario(heading: string, rows: readonly Row[]): string {
  return [
    `## ${heading}`,
    '',
    formatTable(rows, turnaroundColumns),
    '',
    formatTable(rows, costColumns),
    '',
  ].join('\n');
}

export function formatVerdict({ name, value, goal, isMet }: Verdict): string {
  const remark = isMet === null ? ', not judged' : isMet ? '' : ', missed';
  return `${name}: ${formatNumber(value, 2)} (goal ${goal}${remark})`;
}

// The words and tables of a report. All figures are means over the seeds.

import type { Row, Verdict } from './experiment.ts';
import { goalPolicy } from './goals.ts';
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
  { heading: 'false removals', text: ({ summary }) => `${formatNumber(summary.falseRemovalPercent, 2)}%` },
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

const withInterval =
  (digits: number, figure: keyof Row['summary']) =>
  ({ summary, interval }: Row) =>
    `${formatNumber(summary[figure], digits)} ±${formatNumber(interval[figure], digits)}`;

const goalColumns: readonly Column<Row>[] = [
  { heading: 'workload', text: ({ scenario }) => scenario, isText: true },
  { heading: 'decided/h', text: withInterval(1, 'decidedPerHour') },
  { heading: 'merged/h', text: number(1, 'mergedPerHour') },
  { heading: 'CI min/PR', text: withInterval(1, 'ciMinutesPerChange') },
  { heading: 'runs/PR', text: withInterval(2, 'runsPerChange') },
  { heading: 'false removals %', text: withInterval(2, 'falseRemovalPercent') },
  { heading: 'P50 min', text: number(0, 'p50Min') },
  { heading: 'P95 min', text: number(0, 'p95Min') },
  { heading: 'P99 min', text: number(0, 'p99Min') },
  { heading: 'bad merges', text: number(1, 'badMerges') },
];

const overOracleColumns: readonly Column<Row>[] = [
  { heading: 'workload', text: ({ scenario }) => scenario, isText: true },
  { heading: 'P50/oracle', text: withInterval(2, 'p50OverOracle') },
  { heading: 'P95/oracle', text: withInterval(2, 'p95OverOracle') },
  { heading: 'P99/oracle', text: withInterval(2, 'p99OverOracle') },
  { heading: 'CI min/oracle', text: withInterval(2, 'ciMinutesOverOracle') },
];

/** One row for each workload of the goals; ± is half of the 95 % interval of the mean. */
export function formatGoalRows(heading: string, rows: readonly Row[]): string {
  const planned = rows.filter(({ policy }) => policy === goalPolicy);
  const others = new Set(rows.filter(({ policy }) => policy !== goalPolicy).map(({ scenario }) => scenario));
  const compared = planned.filter(({ scenario }) => others.has(scenario));
  const tables = [formatTable(planned, goalColumns)];
  if (compared.length > 0) tables.push(formatTable(compared, overOracleColumns));
  return [`## ${heading}`, ...tables, ''].join('\n\n');
}

export function formatVerdict({ name, value, goal, isMet }: Verdict): string {
  const remark = isMet === null ? ', not judged' : isMet ? '' : ', missed';
  return `${name}: ${formatNumber(value, 2)} (goal ${goal}${remark})`;
}

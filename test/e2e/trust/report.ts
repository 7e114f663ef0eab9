// The table of all rows, and the figures below it.

import { type Figure, isMissed, lineOf, noneOf } from '../../soak/report.ts';
import type { Row } from './run.ts';

const situationsGoal = 60;
const minutesGoal = 4;

/**
 * `isWhole`: all situations were to run, not only some by name or host. `isTimed`: it fails where it takes too long; else
 * the time is shown, and whether it is more than the goal, and decides nothing.
 */
export function summaryOf(rows: readonly Row[], minutes: number, isWhole: boolean, isTimed: boolean) {
  const sum = (of: (row: Row) => readonly string[]) => rows.reduce((count, row) => count + of(row).length, 0);
  const count = (result: Row['result']) => rows.filter((row) => row.result === result).length;
  const tried = rows.length - count('cannot');
  const figures: readonly Figure[] = [
    noneOf('broken', count('BROKEN')),
    { name: 'cannot be tried', value: count('cannot') },
    { name: 'minutes', value: minutes, goal: `<= ${minutesGoal}`, isMet: minutes <= minutesGoal },
  ];
  const measured: readonly Figure[] = [
    noneOf(
      'untested commits landed',
      sum(({ measured: { untested } }) => untested),
    ),
    noneOf(
      'decisions by people who may not',
      sum(({ measured: { decisions } }) => decisions),
    ),
    noneOf(
      'innocent removed',
      sum(({ measured: { removed } }) => removed),
    ),
  ];
  const situations: Figure = {
    name: 'situations',
    value: tried,
    goal: `>= ${situationsGoal}`,
    isMet: tried >= situationsGoal || !isWhole,
  };
  const all = [...figures, ...measured, situations];
  return {
    figures: all,
    isMet: !all.some((figure) => isMissed(figure) && (isTimed || figure.name !== 'minutes')),
    // The three that are counted must be zero: they are shown without their goal.
    lines: [
      ...figures.map(lineOf),
      ...measured.map(({ name, value }) => `${name}: ${value}`),
      lineOf(situations),
    ],
  };
}

export function printTable(rows: readonly Row[]): void {
  console.log('| situation | host | what must happen | what happened | |');
  console.log('|---|---|---|---|---|');
  for (const { situation, host, must, did, result } of rows)
    console.log(`| ${[situation, host, must, oneLine(did), result].join(' | ')} |`);
}

const shownMax = 300;
const oneLine = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
  return flat.length > shownMax ? `${flat.slice(0, shownMax)} …` : flat;
};

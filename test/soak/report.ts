// Figures, one line each, and what is wrong behind them.

import type { Goal } from '../bench/figure.ts';
import type { Course, Progress } from './drive.ts';
import { figureNames, type Findings } from './verify.ts';

/** Without a goal it only informs. */
export type Figure = Pick<Goal, 'name' | 'value'> & Partial<Pick<Goal, 'goal' | 'isMet'>>;

export const noneOf = (name: string, value: number): Figure => ({
  name,
  value,
  goal: '0',
  isMet: value === 0,
});

export const findingFigures = ({ problems }: Findings): Figure[] =>
  figureNames.map((name) => noneOf(name, problems.get(name)!.length));

export const falseRemovalsOf = ({ falseRemovals }: Course): number =>
  [...falseRemovals.values()].reduce((sum, count) => sum + count, 0);

const shown = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(2));

export const lineOf = ({ name, value, goal }: Figure): string =>
  `${name}: ${shown(value)}${goal === undefined ? '' : ` (goal ${goal})`}`;

export const isMissed = ({ isMet }: Figure): boolean => isMet === false;

const problemsShown = 20;

export function printProblems({ problems }: Findings): void {
  for (const [name, list] of problems) {
    for (const problem of list.slice(0, problemsShown)) console.error(`${name}: ${problem}`);
    if (list.length > problemsShown) console.error(`${name}: and ${list.length - problemsShown} more`);
  }
}

const everyMs = 10_000;
/** Nothing is waited for so long: what has not moved by then will not. */
const stuckMs = 150_000;

/** A line every few seconds while it runs, on standard error; tells when nothing moves any more. */
export function startProgress(
  progress: Progress,
  total: number,
  isQuiet: boolean,
  onStuck: () => void,
): () => void {
  const begunAt = Date.now();
  let last = -1;
  let movedAt = begunAt;
  const timer = setInterval(() => {
    const { submitted, ended, landed, live } = progress;
    const seconds = Math.round((Date.now() - begunAt) / 1_000);
    if (!isQuiet)
      console.error(`${seconds} s: ${submitted} submitted, ${ended} ended, ${landed} landed of ${total}`);
    if (ended !== last) movedAt = Date.now();
    last = ended;
    if (Date.now() - movedAt < stuckMs) return;
    console.error(`Nothing has moved for ${stuckMs / 1_000} s:`);
    for (const [state, list] of Map.groupBy(live, ([, state]) => state))
      console.error(`  ${state}: ${list.map(([pr]) => `#${pr}`).join(' ')}`);
    onStuck();
  }, everyMs);
  return () => clearInterval(timer);
}

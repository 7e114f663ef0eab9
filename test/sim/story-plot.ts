// A story of a few pull requests as a picture: one row for each run, as long as it took.

import type { PastRun } from '#tool/simulate/fit/history.ts';
import { fix, frame, linearScale, linearTicks, text } from './svg.ts';

export type StoryRow = {
  readonly name: string;
  readonly fromMin: number;
  readonly toMin: number;
  readonly outcome: PastRun['outcome'];
  /** What follows from it, at its end. */
  readonly note: string;
};

export type StoryPanel = { readonly title: string; readonly rows: readonly StoryRow[] };

const width = 860;
const left = 190;
const right = 600;
const rowHeight = 26;
const panelHead = 34;

/** Passed, failed, cancelled: distinct also without colour vision. */
const colours: Readonly<Record<PastRun['outcome'], string>> = {
  passed: '#0072b2',
  failed: '#d55e00',
  cancelled: '#b0b7be',
};

const legend = [
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled: a pull request ahead was removed'],
] as const;

export function plotStory(title: string, panels: readonly StoryPanel[]): string {
  const last = Math.max(...panels.flatMap(({ rows }) => rows.map(({ toMin }) => toMin)));
  const ticks = linearTicks(last);
  const x = linearScale(ticks.at(-1)!, left, right);
  const parts: string[] = [];
  let y = 82;
  for (const { title: heading, rows } of panels) {
    parts.push(text(24, y + 10, heading, { anchor: 'start', size: 14 }));
    y += panelHead;
    for (const row of rows) {
      parts.push(rowOf(row, x, y));
      y += rowHeight;
    }
    y += 16;
  }
  const axis = ticks.flatMap((tick) => [
    `<line x1="${fix(x(tick))}" x2="${fix(x(tick))}" y1="70" y2="${y}" stroke="#d8dee4"/>`,
    text(x(tick), y + 18, String(tick)),
  ]);
  const key = legend.map(([outcome, words], at) => {
    const from = 24 + at * 110;
    return `<rect x="${from}" y="44" width="12" height="12" fill="${colours[outcome]}"/>${text(from + 18, 54, words, { anchor: 'start' })}`;
  });
  const minutes = text((left + right) / 2, y + 38, 'minutes');
  return frame(width, y + 52, 24, title, [...axis, ...key, ...parts, minutes]);
}

function rowOf({ name, fromMin, toMin, outcome, note }: StoryRow, x: (value: number) => number, y: number) {
  const bar = `<rect x="${fix(x(fromMin))}" y="${y}" width="${fix(Math.max(2, x(toMin) - x(fromMin)))}" height="16" rx="3" fill="${colours[outcome]}"/>`;
  return (
    text(left - 10, y + 12, name, { anchor: 'end' }) +
    bar +
    text(x(toMin) + 8, y + 12, note, { anchor: 'start' })
  );
}

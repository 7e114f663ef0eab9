// Output for people and scripts: tables, times and colours. Colours are for terminals only, and not with
// NO_COLOR; untrusted text goes through `plainLine` first.

import { styleText } from 'node:util';
import { plainLine } from './plain-text.ts';

export type Tone = 'plain' | 'good' | 'bad' | 'warning' | 'quiet';

export type Pen = (tone: Tone | 'strong' | 'info', text: string) => string;

const styles = {
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  quiet: 'dim',
  strong: 'bold',
  info: 'cyan',
} as const;

export function penFor(stream: NodeJS.WriteStream): Pen {
  return (tone, text) =>
    tone === 'plain' || !stream.isTTY || text === '' ? text : styleText(styles[tone], text, { stream });
}

/** The service's answer, for a program to read. */
export function printJson(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
}

export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

export type TableCell = string | { readonly text: string; readonly tone: Parameters<Pen>[0] };

const plainCellText = (cell: TableCell): string => plainLine(typeof cell === 'string' ? cell : cell.text);

/** Columns of equal width; on a terminal the last one is cut so that a row is a line. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly TableCell[])[],
  pen: Pen,
  columns = getTerminalWidth(process.stdout),
): readonly string[] {
  const all: readonly (readonly TableCell[])[] = [
    head.map((text) => ({ text, tone: 'quiet' as const })),
    ...rows,
  ];
  const widths = head.map((_, at) => Math.max(...all.map((row) => plainCellText(row[at] ?? '').length)));
  const renderRow = (row: readonly TableCell[]): string => {
    let left = columns;
    const parts = row.map((cell, at) => {
      const isLast = at === row.length - 1;
      const whole = plainCellText(cell);
      const cut = isLast && whole.length > left ? `${whole.slice(0, Math.max(0, left - 1))}…` : whole;
      left -= (widths[at] ?? 0) + 2;
      const text = isLast ? cut : cut.padEnd(widths[at] ?? 0);
      return typeof cell === 'string' ? text : pen(cell.tone, text);
    });
    return parts.join('  ').trimEnd();
  };
  return all.map(renderRow);
}

/** The width of the terminal; infinite if the stream is not one. */
export const getTerminalWidth = (stream: NodeJS.WriteStream): number =>
  stream.isTTY ? stream.columns : Infinity;

/** Wraps at blanks, so that no line with its indent is longer than `columns`. */
export function wrapText(text: string, indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + part.length > columns) {
      lines.push(line);
      line = part;
    } else line = line === '' ? part : `${line} ${part}`;
  }
  return [...lines, line].map((wrapped) => `${indent}${wrapped}`);
}

/** 40 s, 12 min, 3 h 5 min, 2 d 4 h. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const [unit, small, size] = minutes < 48 * 60 ? (['h', 'min', 60] as const) : (['d', 'h', 24] as const);
  const whole = minutes < 48 * 60 ? minutes : Math.round(minutes / 60);
  const rest = whole % size;
  return `${Math.floor(whole / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** The local time of day; with the date if it is another day. */
export function clockText(instant: string | Date, now: Date): string {
  const at = new Date(instant);
  const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())} ${time}`;
}

/** 4 min ago (17:20). */
export function agoText(instant: string, now: Date): string {
  return `${spanText(now.getTime() - new Date(instant).getTime())} ago (${clockText(instant, now)})`;
}

// What people and scripts read: tables, times and colours. Colours are for terminals only, and not with NO_COLOR; text
// that others wrote goes through `plainLine` first.

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

export type Cell = string | { readonly text: string; readonly tone: Parameters<Pen>[0] };

const textOf = (cell: Cell): string => plainLine(typeof cell === 'string' ? cell : cell.text);

/** Columns of equal width; on a terminal the last one is cut so that a row is a line. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  pen: Pen,
  columns = columnsOf(process.stdout),
): readonly string[] {
  const all: readonly (readonly Cell[])[] = [head.map((text) => ({ text, tone: 'quiet' as const })), ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => textOf(row[at] ?? '').length)));
  const lineOf = (row: readonly Cell[]): string => {
    let left = columns;
    const parts = row.map((cell, at) => {
      const isLast = at === row.length - 1;
      const whole = textOf(cell);
      const cut = isLast && whole.length > left ? `${whole.slice(0, Math.max(0, left - 1))}…` : whole;
      left -= (widths[at] ?? 0) + 2;
      const text = isLast ? cut : cut.padEnd(widths[at] ?? 0);
      return typeof cell === 'string' ? text : pen(cell.tone, text);
    });
    return parts.join('  ').trimEnd();
  };
  return all.map(lineOf);
}

/** The width of the terminal; what is not one has no end. */
export const columnsOf = (stream: NodeJS.WriteStream): number => (stream.isTTY ? stream.columns : Infinity);

/** At blanks, so that no line is longer than `columns` with its indent. */
export function wrapText(text: string, indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((part) => `${indent}${part}`);
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

/** As a clock on the wall here shows it; with the day where it is another one. */
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

export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

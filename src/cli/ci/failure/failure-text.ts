// What the report of a failed test says about it, for places where people see it beside its verdict: the first lines of its
// failure, and the line of the test's file in which it failed. The failure names that line: `cart.test.ts:12:5`,
// `test_cart.py:12: AssertionError`, `CartTest.cs:line 12`.

import type { ReportedCase } from '#core/health/reported-case.ts';
import { plainLine } from '../../terminal/plain-text.ts';

const messageLinesMax = 3;

/** Lines without text, and the rest of a long failure, are left out. */
export function messageLines({ failures: [failure] }: Pick<ReportedCase, 'failures'>): readonly string[] {
  if (failure === undefined) return [];
  const text = failure.message === '' ? failure.body : failure.message;
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return lines.slice(0, messageLinesMax).map((line) => plainLine(line.trim()));
}

const lineNumber = /^(?::|:line |\()(\d{1,7})(?!\d)/;
const isPartOfName = (character: string): boolean => /[\w.-]/.test(character);

/** Null: the failure does not name its line in the file of the test. */
export function failureLine({
  file,
  failures: [failure],
}: Pick<ReportedCase, 'file' | 'failures'>): number | null {
  if (file === '' || failure === undefined) return null;
  const text = `${failure.message}\n${failure.body}`;
  for (let at = text.indexOf(file); at >= 0; at = text.indexOf(file, at + file.length)) {
    const [, line] = lineNumber.exec(text.slice(at + file.length, at + file.length + 16)) ?? [];
    if (line !== undefined && Number(line) > 0 && (at === 0 || !isPartOfName(text[at - 1]!)))
      return Number(line);
  }
  return null;
}

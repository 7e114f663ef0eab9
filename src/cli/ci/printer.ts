// Prints the lines of a summary. Colours and the line that changes are for terminals only.

import { styleText } from 'node:util';
import type { Tone } from '../terminal/output.ts';
import { createProgress } from '../terminal/progress.ts';
import type { SummaryLine } from './summary.ts';

export type Printer = {
  readonly print: (lines: readonly SummaryLine[]) => void;
  /** Shows the current step, until the next line or `clear`. */
  readonly step: (text: string) => void;
  readonly clear: () => void;
};

const styles: { readonly [Name in Exclude<Tone, 'plain'>]: Parameters<typeof styleText>[0] } = {
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  quiet: 'dim',
};

export function createPrinter(stream: NodeJS.WriteStream): Printer {
  const progress = createProgress(stream);
  const styled = ({ tone, text }: SummaryLine) =>
    tone === 'plain' || !stream.isTTY ? text : styleText(styles[tone], text, { stream });
  return {
    print: (lines) => {
      progress.end();
      stream.write(lines.map((line) => `${styled(line)}\n`).join(''));
    },
    step: progress.step,
    clear: progress.end,
  };
}

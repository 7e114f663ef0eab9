// Asks the person at the terminal.

import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { CliError } from '../exit-codes.ts';

const secretLengthMax = 10_000;

/** Typed characters are not shown. Without a terminal, all of standard input is the answer. */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return (await text(stdin)).trim();
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  let typed = '';
  try {
    for await (const chunk of stdin) {
      for (const key of chunk as string) {
        if (key === '\r' || key === '\n' || key === '\u0004') return typed.trim();
        if (key === '\u0003') throw new CliError('Nothing was stored.', 'interrupted');
        typed = key === '\u007f' || key === '\b' ? typed.slice(0, -1) : typed + key;
      }
      if (typed.length > secretLengthMax)
        throw new CliError('The input is too long for a token. Nothing was stored.', 'usage');
    }
    return typed.trim();
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

/** Without a terminal the question cannot be answered: the user must pass an option instead. */
export async function confirm(question: string): Promise<boolean> {
  const { stdin: input, stderr: output } = process;
  if (!input.isTTY)
    throw new CliError(`${question} There is no terminal to confirm it on. Use --yes.`, 'usage');
  const asked = createInterface({ input, output });
  try {
    return /^y(es)?$/i.test((await asked.question(`${question} [y/N] `)).trim());
  } finally {
    asked.close();
  }
}

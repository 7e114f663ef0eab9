import { pino } from 'pino';
import { expect, it } from 'vitest';
import { standalone } from './log.ts';

it('writes with a function that was taken out of the log', () => {
  const written: string[] = [];
  const { debug, info, warn, error } = standalone(
    pino({ level: 'debug' }, { write: (text) => written.push(text) }),
  );
  for (const [at, line] of [debug, info, warn, error].entries()) line({ at }, 'a message');
  expect(written.map((text) => JSON.parse(text) as object)).toMatchObject([
    { level: 20, at: 0 },
    { level: 30, at: 1 },
    { level: 40, at: 2 },
    { level: 50, at: 3 },
  ]);
});

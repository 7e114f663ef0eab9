import { expect, it, onTestFinished } from 'vitest';
import { openTestCell } from '../../test/support/database.ts';
import { alone } from './alone.ts';
import { openCell } from './cell.ts';

/** A cell as two processes have it. */
async function openTwice() {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const other = openCell({
    name: 'main',
    url: cell.url,
    connections: 2,
    readerConnections: 1,
    onError: () => undefined,
  });
  onTestFinished(other.close);
  return { cell, other };
}

it('work is done by one at a time, in this process and in any other, and is free again when it ended or failed', async () => {
  const { cell, other } = await openTwice();
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const done: string[] = [];
  const note = (label: string) => () => Promise.resolve(void done.push(label));
  const first = alone(cell, 'it', async () => {
    begun.resolve();
    await go.promise;
    done.push('first');
  });
  await begun.promise;
  expect(await alone(cell, 'it', note('same process'))).toBe(false);
  expect(await alone(other, 'it', note('other process'))).toBe(false);
  expect(await alone(other, 'something else', note('something else'))).toBe(true);
  go.resolve();
  expect(await first).toBe(true);
  const failed = alone(other, 'it', () => Promise.reject(new Error('no')));
  await expect(failed).rejects.toThrow('no');
  expect(await alone(cell, 'it', note('after it'))).toBe(true);
  expect(done).toEqual(['something else', 'first', 'after it']);
});

it('work of a process whose connection is gone can be begun by another', async () => {
  const { cell, other } = await openTwice();
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const first = alone(cell, 'it', async () => {
    begun.resolve();
    await go.promise;
  });
  await begun.promise;
  const [session] = (await cell.locks.run('select pg_backend_pid() as pid where $1', [true])) as [
    { pid: number },
  ];
  await other.db.run('select pg_terminate_backend($1, 5000)', [session.pid]);
  expect(await alone(other, 'it', () => Promise.resolve())).toBe(true);
  go.resolve();
  expect(await first).toBe(true);
});

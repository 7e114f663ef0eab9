import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createShare } from './share.ts';

describe('a share of work', () => {
  const held = () => Promise.withResolvers<void>();

  it('lets so much of one owner run, in order, and holds up no other owner', async () => {
    const share = createShare(1, 10);
    const begun: string[] = [];
    const gates = new Map([
      ['a1', held()],
      ['a2', held()],
      ['b1', held()],
    ]);
    const run = (name: string) =>
      share.run(name[0]!, async () => {
        begun.push(name);
        await gates.get(name)!.promise;
        return name;
      });
    const all = Promise.all([run('a1'), run('a2'), run('b1')]);
    await turn();
    expect(begun).toEqual(['a1', 'b1']);
    gates.get('a1')!.resolve();
    await turn();
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    for (const gate of gates.values()) gate.resolve();
    expect(await all).toEqual(['a1', 'a2', 'b1']);
  });

  it('gives its place back when the work fails', async () => {
    const share = createShare(1, 10);
    const failing = share.run('a', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await share.run('a', () => Promise.resolve(1))).toBe(1);
  });

  it(
    'rests between the work of one owner for as long as the work took, if it is to',
    { retry: 2 },
    async () => {
      const share = createShare(1, 10, true);
      const workMs = 150;
      const begunAt = performance.now();
      const work = () => share.run('a', () => sleep(workMs));
      await work();
      expect(performance.now() - begunAt).toBeLessThan(2 * workMs);
      await Promise.all([work(), work(), work()]);
      // Four times the work, and two rests: nothing waited for the first and behind the last.
      expect(performance.now() - begunAt).toBeGreaterThan(6 * workMs - 10);
    },
  );

  it('refuses what would wait behind too many', async () => {
    const share = createShare(1, 1);
    const gate = held();
    const first = share.run('a', () => gate.promise);
    const second = share.run('a', () => Promise.resolve());
    await expect(share.run('a', () => Promise.resolve())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await share.run('b', () => Promise.resolve());
    gate.resolve();
    await Promise.all([first, second]);
  });
});

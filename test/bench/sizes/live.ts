// 10,000 pull requests in one queue, with descriptions of 4 KiB: what a reconcile takes after each thing that happens to a
// queue of that length. All of them are submitted at once, which is the longest reconcile there is.

import { goal, percentile } from '../figure.ts';
import type { Part } from './part.ts';
import { openQueueWorld, type Reconcile } from './queue-world.ts';

const size = { concurrency: 20, bodyBytes: 4_096 };
const count = 10_000;
const rounds = { short: 60, full: 500 };

export const livePart: Part = {
  name: 'live',
  measure: async (cleanup, isFull) => {
    const world = await openQueueWorld(cleanup, size);
    await world.submit(count);
    const first = await world.reconcile();
    const kinds = { submitted: [], passed: [], landed: [], unchanged: [] } as Record<Kind, Reconcile[]>;
    await world.publish();
    for (let round = 0; round < (isFull ? rounds.full : rounds.short); round++) {
      await world.submit(1);
      kinds.submitted.push(await world.reconcile());
      await world.passFirst();
      kinds.passed.push(await world.reconcile());
      await world.land();
      kinds.landed.push(await world.reconcile());
      await world.publish();
      kinds.unchanged.push(await world.reconcile());
    }
    const all = Object.values(kinds).flat();
    const line = (name: string, list: readonly Reconcile[]) => {
      const ms = list.map((reconcile) => reconcile.ms);
      const turn = Math.max(...list.map((reconcile) => reconcile.turnMs));
      return `${name}: p50 ${percentile(ms, 0.5).toFixed(0)}, p99 ${percentile(ms, 0.99).toFixed(0)} ms, longest turn ${turn.toFixed(0)} ms`;
    };
    const ms = all.map((reconcile) => reconcile.ms);
    return {
      lines: [
        `${count} live, bodies of ${size.bodyBytes} bytes, ${size.concurrency} test slots, ${all.length} reconciles`,
        line('all submitted at once', [first]),
        ...Object.entries(kinds).map(([kind, list]) => line(`one ${kind}`, list)),
      ],
      goals: [
        goal(`reconcile of ${count} live, p50 ms`, percentile(ms, 0.5), '<=', 100),
        goal(`reconcile of ${count} live, p99 ms`, percentile(ms, 0.99), '<=', 400),
        goal(`reconcile of ${count} submitted at once, longest turn ms`, first.turnMs, '<=', 200),
      ],
    };
  },
};

type Kind = 'submitted' | 'passed' | 'landed' | 'unchanged';

// 1,000 runs under test in one line: each is about everything ahead of it, so whatever is kept of each member of each run
// is kept 500,500 times.

import { goal, percentile } from '../figure.ts';
import type { Part } from './part.ts';
import { openQueueWorld, type Reconcile } from './queue-world.ts';

const count = 1_000;
const rounds = { short: 15, full: 100 };

export const linePart: Part = {
  name: 'line',
  measure: async (cleanup, isFull) => {
    const world = await openQueueWorld(cleanup, { concurrency: count, bodyBytes: 1_024 });
    await world.submit(count);
    const first = await world.reconcile();
    await world.publish();
    const underTest = await world.value(`select count(*) from queue_entry where state = 'testing'`);
    const rows = await world.value('select count(*) from test_run_member');
    const planBytes = await world.value('select sum(pg_column_size(state)) from queue_plan');
    const runBytes = await world.value(
      `select sum(pg_total_relation_size(c)) from unnest(array['test_run', 'test_run_member']::regclass[]) c`,
    );
    const later: Reconcile[] = [];
    for (let round = 0; round < (isFull ? rounds.full : rounds.short); round++) {
      await world.passFirst();
      later.push(await world.reconcile());
      await world.land();
      await world.submit(1);
      later.push(await world.reconcile());
      await world.publish();
    }
    const ms = later.map((reconcile) => reconcile.ms);
    const turnMs = Math.max(...later.map((reconcile) => reconcile.turnMs));
    const kib = (bytes: number) => (bytes / 1_024).toFixed(0);
    return {
      lines: [
        `${underTest} under test; the first reconcile ${first.ms.toFixed(0)} ms, longest turn ${first.turnMs.toFixed(0)} ms`,
        `${rows} rows of members, ${kib(runBytes)} KiB of runs, ${kib(planBytes)} KiB of plan`,
        `${later.length} reconciles after a pass and after a landing: p50 ${percentile(ms, 0.5).toFixed(0)}, p99 ${percentile(ms, 0.99).toFixed(0)} ms, longest turn ${turnMs.toFixed(0)} ms`,
      ],
      goals: [
        goal('under test in one line', underTest, '>=', count),
        goal('rows of members for each run', rows / count, '<=', 4),
        goal('reconcile with 1,000 under test, p99 ms', percentile(ms, 0.99), '<=', 400),
        goal('first reconcile of 1,000 to test, longest turn ms', first.turnMs, '<=', 200),
      ],
    };
  },
};

// `npm run e2e:trust [-- --only WORDS] [--json]`: every way we know in which something untested could land, or somebody
// could decide who may not, tried on the GitHub-compatible server of the tests, on a real Gitea and at the sandbox. One
// row for each; it exits with 1 if one is broken.

import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import type { LaneJob, LaneReport } from './trust/lane.ts';
import { printTable, summaryOf } from './trust/report.ts';
import { type Row, tasksOf } from './trust/run.ts';
import { situations } from './trust/situations.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    host: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});

/** Processes, and situations that run side by side in each: they wait for git, PostgreSQL and the hosts most of their time. */
const lanes = 3;
const atOnce = 3;

/** One lane starts a Gitea; what runs at the others is dealt out over all. */
function lanesOf(): readonly (readonly number[])[] {
  const isWanted = new Set(
    Object.entries(situations).flatMap(([theme, list]) =>
      list.filter(({ name }) => theme === values.only || name.includes(values.only)),
    ),
  );
  const dealt: number[][] = Array.from({ length: lanes }, () => []);
  let others = 0;
  for (const [index, { situation, kind }] of tasksOf().entries()) {
    if (!isWanted.has(situation) || (values.host !== '' && values.host !== kind)) continue;
    // The lane with the Gitea takes none of the others: real servers are slower.
    if (kind === 'gitea') dealt[0]!.push(index);
    else dealt[1 + (others++ % (lanes - 1))]!.push(index);
  }
  return dealt.filter((list) => list.length > 0);
}

const rows = new Map<number, Row>();

function show({ host, situation, did, result, seconds }: Row): void {
  if (values.json) return;
  console.error(`${result.padEnd(6)} ${host.padEnd(7)} ${situation} (${seconds.toFixed(1)} s)`);
  if (result === 'BROKEN') console.error(`       ${did}`);
}

async function runLane(indexes: readonly number[]): Promise<void> {
  const child = fork(new URL('trust/lane.ts', import.meta.url));
  child.on('message', (message) => {
    const { index, row } = message as LaneReport;
    rows.set(index, row);
    show(row);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () =>
      indexes.every((index) => rows.has(index))
        ? resolve()
        : reject(new Error('a process of the situations ended early')),
    );
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.disconnect());
  child.send({ indexes, atOnce } satisfies LaneJob);
  await ended;
}

const begunAt = performance.now();
await Promise.all(lanesOf().map(runLane));
const inOrder = [...rows].toSorted(([one], [other]) => one - other).map(([, row]) => row);
const summary = summaryOf(inOrder, (performance.now() - begunAt) / 60_000);
if (values.json) console.log(JSON.stringify({ rows: inOrder, figures: summary.figures }, null, 2));
else {
  printTable(inOrder);
  for (const line of summary.lines) console.log(line);
}
process.exitCode = summary.isMet ? 0 : 1;

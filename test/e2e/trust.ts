// `npm run e2e:trust [-- --only WORDS] [--host HOST] [--untimed] [--json]`: every way we know in which something untested
// could land, or a person could decide who may not, tried on the GitHub-compatible server of the tests, on a real Gitea and
// at the sandbox. One row for each; it exits with 1 if one is broken.

import { parseArgs } from 'node:util';
import { dealOut } from './trust/deal.ts';
import { printTable, summaryOf } from './trust/report.ts';
import { type Row, tasksOf } from './trust/run.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    host: { type: 'string', default: '' },
    untimed: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const wanted = tasksOf()
  .map((task, index) => ({ index, task }))
  .filter(({ task: { theme, situation, kind } }) => {
    const isNamed = theme === values.only || situation.name.includes(values.only);
    return isNamed && (values.host === '' || values.host === kind);
  });

const rows = new Map<number, Row>();

function show({ host, situation, did, result, seconds }: Row): void {
  if (values.json) return;
  console.error(`${result.padEnd(6)} ${host.padEnd(7)} ${situation} (${seconds.toFixed(1)} s)`);
  if (result === 'BROKEN') console.error(`       ${did}`);
}

const begunAt = performance.now();
await dealOut(wanted, (index, row) => {
  rows.set(index, row);
  show(row);
});
const lost = wanted.length - rows.size;
if (lost > 0) throw new Error(`${lost} situations were not run: a process of theirs ended early.`);
const inOrder = [...rows].toSorted(([one], [other]) => one - other).map(([, row]) => row);
const isWhole = values.only === '' && values.host === '';
const summary = summaryOf(inOrder, (performance.now() - begunAt) / 60_000, isWhole, !values.untimed);
if (values.json) console.log(JSON.stringify({ rows: inOrder, figures: summary.figures }, null, 2));
else {
  printTable(inOrder);
  for (const line of summary.lines) console.log(line);
}
process.exitCode = summary.isMet ? 0 : 1;

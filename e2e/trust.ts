// `npm run e2e:trust [-- --only WORDS] [--json]`: every way we know in which something untested could land, or somebody
// could decide who may not, tried on the GitHub-compatible server of the tests, on a real Gitea and at the sandbox. One
// row for each; it exits with 1 if one is broken.

import { parseArgs } from 'node:util';
import { createCleanup } from '../bench/fixture.ts';
import { startGitea } from '../test/gitea/server.ts';
import { openGiteaSite } from './trust/gitea.ts';
import { printTable, summaryOf } from './trust/report.ts';
import { type Grounds, runSituations } from './trust/run.ts';
import { situations } from './trust/situations.ts';
import { openBase } from './trust/world.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    host: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const cleanup = createCleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanup.run().then(() => process.exit(1)));

/** Situations wait for git, PostgreSQL and the hosts most of their time. */
const atOnce = 4;

async function openGitea(): Promise<Grounds['gitea']> {
  try {
    const gitea = await startGitea();
    cleanup.add(gitea.stop);
    return await openGiteaSite(gitea);
  } catch (error) {
    return {
      reason: `no Gitea could be started here: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

const begunAt = performance.now();
try {
  const [base, gitea] = await Promise.all([openBase(), openGitea()]);
  cleanup.add(base.stop);
  const wanted = Object.entries(situations)
    .flatMap(([theme, list]) =>
      list.filter(({ name }) => theme === values.only || name.includes(values.only)),
    )
    .map((one) =>
      values.host === ''
        ? one
        : { ...one, hosts: one.hosts.filter((host) => host === values.host), cannot: {} },
    );
  const rows = await runSituations({ base, gitea }, wanted, {
    atOnce,
    onRow: ({ host, situation, did, result, seconds }) => {
      if (values.json) return;
      console.error(`${result.padEnd(6)} ${host.padEnd(7)} ${situation} (${seconds.toFixed(1)} s)`);
      if (result === 'BROKEN') console.error(`       ${did}`);
    },
  });
  const summary = summaryOf(rows, (performance.now() - begunAt) / 60_000);
  if (values.json) console.log(JSON.stringify({ rows, figures: summary.figures }, null, 2));
  else {
    printTable(rows);
    for (const line of summary.lines) console.log(line);
  }
  process.exitCode = summary.isMet ? 0 : 1;
} finally {
  await cleanup.run();
}

// The composition root: `start` (migrate, API and worker in one process), `serve`, `work`, `migrate`, `admin …`.

import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { admin } from '#cli/admin.ts';
import { type Config, parseEnv } from '#config/env.ts';
import { bootstrap } from '#db/bootstrap.ts';
import { type Cell, cellsOf, closeCell, openCell } from '#db/cell.ts';
import { migrateCell } from '#db/migrate.ts';
import { findSandboxPullRequest, insertSandboxPullRequest } from '#db/sandbox-store.ts';
import type { HostFor } from '#host/host.ts';
import { createSandboxHost } from '#host/sandbox/host.ts';
import { createApp } from '#http/app.ts';
import { startWorker } from '#job/worker.ts';

const usage = `Usage: signalbox <command>

  start    migrate the databases, then serve the API and work on jobs, in one process
  serve    serve the API
  work     work on jobs
  migrate  bring the databases to the present schema
  admin    create organizations; create, list and revoke tokens (signalbox admin help)

Configuration comes from the environment: see docs/reference/config.md.`;

type Closer = { readonly name: string; readonly close: () => Promise<void> };

const packageFile = new URL('../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };

function openCells(config: Config, log: Log) {
  return cellsOf(
    config.cells.map(({ name, url }) =>
      openCell({
        name,
        url,
        connections: config.connections,
        readerConnections: config.readerConnections,
        onError: (error) => log.warn({ cell: name, err: error }, 'lost a database connection'),
      }),
    ),
  );
}

function hostsOf(config: Config, cells: readonly Cell[]): HostFor {
  const sandboxes = new Map(
    cells.map((cell) => [
      cell.name,
      createSandboxHost({
        find: (repository, number) => findSandboxPullRequest(cell.reader, repository.id, number),
        insert: (repository, pullRequest) => insertSandboxPullRequest(cell.db, repository.id, pullRequest),
      }),
    ]),
  );
  return (cellName) => (config.sandbox ? (sandboxes.get(cellName) ?? null) : null);
}

async function serve(config: Config, log: Log, cells: ReturnType<typeof cellsOf>): Promise<Closer> {
  const hostFor = hostsOf(config, cells.all);
  const app = await createApp({ cells, hostFor, clock: systemClock, log, config, version });
  const address = await app.server.listen({ host: config.address, port: config.port });
  log.info({ address, cells: cells.all.map((cell) => cell.name) }, 'serving the API');
  if (config.sandbox)
    log.info(
      { sandbox: 'on' },
      'the sandbox host serves every host name that is not configured; set SIGNALBOX_SANDBOX=off to refuse them',
    );
  return {
    name: 'API',
    close: async () => {
      app.drain();
      await app.server.close();
    },
  };
}

async function work(config: Config, log: Log, cells: ReturnType<typeof cellsOf>): Promise<Closer[]> {
  const hostFor = hostsOf(config, cells.all);
  return Promise.all(
    cells.all.map(async (cell) => {
      const { workerConcurrency: concurrency, shutdownMs, historyMonths } = config;
      const worker = await startWorker({
        cell,
        log,
        clock: systemClock,
        hostFor,
        concurrency,
        shutdownMs,
        historyMonths,
      });
      log.info({ cell: cell.name }, 'working on jobs');
      return { name: `worker of ${cell.name}`, close: worker.stop };
    }),
  );
}

async function migrate(log: Log, cells: ReturnType<typeof cellsOf>): Promise<void> {
  for (const cell of cells.all) {
    const applied = await migrateCell(cell, systemClock.now());
    log.info({ cell: cell.name, applied }, 'the database has the present schema');
  }
}

/** Ends on SIGTERM or SIGINT: first what takes requests, then what works on jobs, then the databases. */
function endOnSignal(log: Log, closers: readonly Closer[], config: Config): void {
  let ending = false;
  const end = async (signal: string) => {
    if (ending) return;
    ending = true;
    log.info({ signal }, 'shutting down');
    // Whatever does not end by itself must not keep the process for ever.
    setTimeout(() => process.exit(1), config.shutdownMs + 5_000).unref();
    for (const { name, close } of closers)
      await close().catch((error: unknown) =>
        log.error({ part: name, err: error }, 'could not shut down cleanly'),
      );
    log.info({}, 'shut down');
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void end(signal));
  process.on('SIGINT', (signal) => void end(signal));
}

async function main(args: readonly string[]): Promise<number | undefined> {
  const [command = 'start', ...rest] = args;
  if (!['start', 'serve', 'work', 'migrate', 'admin'].includes(command)) {
    const asked = ['help', '--help', '-h'].includes(command);
    console.log(asked ? usage : `There is no command ${command}.\n\n${usage}`);
    return asked ? 0 : 2;
  }
  const env = parseEnv(process.env);
  if (env.kind === 'invalid') {
    console.error(
      `The configuration is not valid:\n${env.problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    return 2;
  }
  const { config } = env;
  const log = pino({
    level: config.logLevel,
    redact: ['*.password', '*.connectionString', '*.token', '*.secret', 'headers["x-api-token"]'],
  });
  const cells = openCells(config, log);
  const closeDatabases: Closer = {
    name: 'databases',
    close: async () => {
      await Promise.all(cells.all.map(closeCell));
    },
  };
  if (command === 'admin' || command === 'migrate') {
    const code = command === 'admin' ? await admin(cells, rest) : await migrate(log, cells).then(() => 0);
    await closeDatabases.close();
    return code;
  }
  if (command === 'start') await migrate(log, cells);
  if (config.bootstrap !== null && command !== 'work') await bootstrap(cells, config.bootstrap);
  const api = command === 'work' ? [] : [await serve(config, log, cells)];
  const workers = command === 'serve' ? [] : await work(config, log, cells);
  endOnSignal(log, [...api, ...workers, closeDatabases], config);
  return undefined;
}

const code = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});
if (code !== undefined) process.exit(code);

// The composition root: `start` (migrate, API and worker in one process), `serve`, `work`, `migrate`,
// `admin …`, `doctor`. src/signalbox.ts calls it.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { systemClock } from '#base/clock.ts';
import { type Log, standalone } from '#base/log.ts';
import { admin } from '#cli/admin/admin.ts';
import { doctor } from '#cli/admin/doctor.ts';
import { type Config, parseEnv } from '#config/env.ts';
import { bootstrap } from '#db/account/bootstrap.ts';
import { type Cell, type Cells, indexCells, openCell } from '#db/cell.ts';
import { followDatabaseClock } from '#db/database-clock.ts';
import { migrateCell } from '#db/migrate.ts';

import { createApp } from '#http/app.ts';
import { type BlobsOf, openBlobs } from './blobs.ts';
import { type Hosts, openHosts } from './hosts.ts';
import { configureNetwork } from './network.ts';
import { createMirrorReporter } from '#job/mirror-report.ts';
import { createMirrors } from '#job/mirrors.ts';
import { createKeptQueues } from '#db/queue/kept-entries.ts';
import { createTargetCache } from '#db/queue/target-cache.ts';
import { startDeliveries } from '#job/webhook/delivery-loop.ts';
import { startWatchdog, type Watchdog } from '#job/worker/watchdog.ts';
import { startWorker, type WorkerOptions } from '#job/worker/worker.ts';

type Closer = { readonly name: string; readonly close: () => Promise<void> };

const webFolder = fileURLToPath(new URL('../web/dist', import.meta.url));
const packageFile = new URL('../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };

function openCells(config: Config, log: Log) {
  return indexCells(
    config.cells.map(({ name, url }) =>
      openCell({
        name,
        url,
        connections: config.connections,
        readerConnections: config.readerConnections,
        // Not the error itself: the driver attaches the connection to it, with all its options.
        onError: (error) => log.warn({ cell: name, reason: error.message }, 'lost database connection'),
      }),
    ),
  );
}

const hostsFor = (config: Config, log: Log, cells: Cells): Promise<Hosts> =>
  openHosts({ ...config, clock: systemClock, log }, cells.all);

async function serve(config: Config, log: Log, cells: Cells, blobsOf: BlobsOf): Promise<Closer> {
  const { hostFor, isSandboxServing, refresh } = await hostsFor(config, log, cells);
  // The databases of all cells are assumed to agree on the time.
  const clock = followDatabaseClock(cells.first, log);
  const deps = {
    cells,
    hostFor,
    isSandboxServing,
    refreshHosts: refresh,
    clock,
    log,
    blobsOf,
    config,
    version,
    webFolder,
  };
  const app = await createApp(deps);
  const address = await app.server.listen({ host: config.address, port: config.port });
  log.info({ address, cells: cells.all.map((cell) => cell.name) }, 'serving the API');
  return {
    name: 'API',
    close: async () => {
      app.drain();
      await setTimeoutPromise(config.drainMs);
      await app.server.close();
      clock.close();
    },
  };
}

type Environment = Readonly<Record<string, string>>;

/** The worker of each cell. If a database does not answer yet, only the start of its own worker waits. */
async function work(
  config: Config,
  log: Log,
  cells: Cells,
  blobsOf: BlobsOf,
  environment: Environment,
  watchdog: Watchdog,
): Promise<Closer[]> {
  const hosts = await hostsFor(config, log, cells);
  return Promise.all(
    cells.all.map(async (cell, at) => {
      const watch = { begin: watchdog.begin, cell: at };
      const start = () => workOnCell(config, log, cell, blobsOf, hosts, environment, watch);
      if (hosts.isRead(cell.name)) return start();
      let isClosing = false;
      const started = hosts.whenRead(cell.name).then(() => (isClosing ? null : start()));
      // As at the start: if a worker cannot start, the process exits, and its supervisor restarts it.
      started.catch((error: unknown) => {
        log.error({ cell: cell.name, err: error }, 'could not start a worker');
        process.exit(1);
      });
      const close = async () => {
        isClosing = true;
        if (hosts.isRead(cell.name)) await (await started)?.close();
      };
      return { name: `worker of ${cell.name}`, close };
    }),
  );
}

async function workOnCell(
  config: Config,
  log: Log,
  cell: Cell,
  blobsOf: BlobsOf,
  { hostFor, refresh }: Pick<Hosts, 'hostFor' | 'refresh'>,
  environment: Environment,
  watch: NonNullable<WorkerOptions['watch']>,
): Promise<Closer> {
  const { workerConcurrency: concurrency, shutdownMs, sweepMs } = config;
  const { historyMonths, recordMonths, targetDays } = config;
  const reporter = createMirrorReporter(cell, log);
  const mirrors = createMirrors(join(resolve(config.dataDir), 'mirror', cell.name), {
    environment,
    budgetBytes: config.mirrorBytesMax,
    ...(config.isPartialClone ? {} : { isPartial: false }),
    log,
    ...reporter,
  });
  const targets = createTargetCache(cell);
  const { commandNames, committer, publicUrl, isPublicUrlGiven } = config;
  const kept = { historyMonths, recordMonths, targetDays };
  const limits = {
    concurrency,
    shutdownMs,
    ...kept,
    sweepMs,
    commandNames: commandNames,
    committer,
    publicUrl,
    isPublicUrlGiven,
  };
  const clock = followDatabaseClock(cell, log);
  await clock.measured;
  const worker = await startWorker({
    cell,
    log,
    clock,
    hostFor,
    refreshHosts: refresh,
    mirrors,
    targets,
    queues: createKeptQueues(),
    blobs: blobsOf(cell),
    watch,
    ...limits,
  });
  const { secretKey, webhook } = config;
  const deliveries = startDeliveries({
    cell,
    log,
    clock,
    secretKey,
    addresses: config,
    allowed: webhook.allow,
    timeoutMs: webhook.timeoutMs,
  });
  log.info({ cell: cell.name }, 'working on jobs');
  const close = async () => {
    await Promise.all([worker.stop(), deliveries.stop()]);
    clock.close();
    await mirrors.close();
    await reporter.close();
  };
  return { name: `worker of ${cell.name}`, close };
}

async function migrate(log: Log, cells: Cells): Promise<void> {
  for (const cell of cells.all) {
    const applied = await migrateCell(cell, systemClock.now());
    log.info({ cell: cell.name, applied }, 'database schema is current');
  }
}

const createDatabaseCloser = (cells: Cells): Closer => ({
  name: 'databases',
  close: async () => {
    await Promise.all(cells.all.map((cell) => cell.close()));
  },
});

/** On SIGTERM or SIGINT closes the servers and workers together, then the databases. */
function endOnSignal(log: Log, phases: readonly (readonly Closer[])[], config: Config): void {
  let ending = false;
  const end = async (signal: string) => {
    if (ending) return;
    ending = true;
    log.info({ signal }, 'shutting down');
    // Anything that does not end on its own must not keep the process alive for ever.
    setTimeout(() => process.exit(1), config.drainMs + config.shutdownMs + 5_000).unref();
    for (const closers of phases)
      await Promise.all(
        closers.map(({ name, close }) =>
          close().catch((error: unknown) =>
            log.error({ part: name, err: error }, 'could not shut down cleanly'),
          ),
        ),
      );
    log.info({}, 'shut down');
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void end(signal));
  process.on('SIGINT', (signal) => void end(signal));
}

/** Tracing is loaded only if it is configured. */
async function trace(config: Config, log: Log): Promise<Closer[]> {
  if (config.trace === null) return [];
  const { startTracing } = await import('./trace.ts');
  return [{ name: 'traces', close: startTracing(config.trace, version, log) }];
}

/** If a part fails to start, all parts are closed: open connections would keep an idle process alive. */
async function startService(
  command: string | undefined,
  config: Config,
  log: Log,
  cells: Cells,
  environment: Environment,
): Promise<void> {
  const opened: Closer[] = [createDatabaseCloser(cells)];
  const open = (...closers: readonly Closer[]): readonly Closer[] => {
    opened.push(...closers);
    return closers;
  };
  try {
    const tracing = open(...(await trace(config, log)));
    if (command === 'start') await migrate(log, cells);
    if (config.bootstrap !== null && command !== 'work') await bootstrap(cells, config.bootstrap);
    const watchdog = startWatchdog(
      config.cells.map(({ url }) => url),
      config.aliveFile,
    );
    open({ name: 'watchdog', close: watchdog.stop });
    const blobsOf = await openBlobs(config.blob, log);
    const api = command === 'work' ? [] : open(await serve(config, log, cells, blobsOf));
    // Jobs have their own connections: commands that wait for a queue must not starve its planner.
    const workerCells = openCells(config, log);
    const databases = [createDatabaseCloser(cells), ...open(createDatabaseCloser(workerCells))];
    const workers =
      command === 'serve' ? [] : await work(config, log, workerCells, blobsOf, environment, watchdog);
    endOnSignal(
      log,
      [
        [...api, ...workers],
        [...databases, ...tracing],
      ],
      config,
    );
  } catch (error) {
    for (const { close } of opened.toReversed()) await close().catch(() => undefined);
    throw error;
  }
}

async function administer(
  command: 'admin' | 'migrate' | 'doctor',
  config: Config,
  log: Log,
  cells: Cells,
  args: readonly string[],
): Promise<number> {
  switch (command) {
    case 'admin':
      return admin(cells, config, args);
    case 'migrate':
      await migrate(log, cells);
      return 0;
    case 'doctor': {
      const { hostFor, close } = await hostsFor(config, log, cells);
      const code = await doctor(cells, hostFor, config.publicUrl, args);
      close();
      return code;
    }
  }
}

/** Returns the exit code; undefined: the process runs until a signal ends it. */
export async function main(args: readonly string[]): Promise<number | undefined> {
  const [command, ...rest] = args;
  const env = parseEnv(process.env);
  if (env.kind === 'invalid') {
    console.error(
      `The configuration is not valid:\n${env.problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    return 2;
  }
  const { config } = env;
  // Mirrors are private source: no other user of the machine may read them.
  process.umask(0o077);
  const redact = ['*.password', '*.connectionString', '*.token', '*.secret', 'headers["x-api-token"]'];
  const log = standalone(pino({ level: config.logLevel, redact }));
  const environment = configureNetwork(process.env, config.dataDir, log);
  const cells = openCells(config, log);
  const databases = createDatabaseCloser(cells);
  if (command === 'admin' || command === 'migrate' || command === 'doctor')
    try {
      return await administer(command, config, log, cells, rest);
    } finally {
      await databases.close();
    }
  await startService(command, config, log, cells, environment);
  return undefined;
}

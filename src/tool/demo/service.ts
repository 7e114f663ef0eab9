// Signalbox itself, as a separate process: the same command that started the demo, with `start`.

import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, type DemoProcess } from './process.ts';

export type ServiceOptions = {
  /** The file that Node.js runs. */
  readonly entry: string;
  readonly home: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly organization: string;
  readonly token: string;
  /** Aborted when the demo ends. */
  readonly signal: AbortSignal;
};

export type Service = DemoProcess & {
  readonly url: string;
  /** The last lines of its log. */
  readonly lastOutput: () => string;
};

const startMs = 60_000;
/** In the demo's folder. */
export const serviceLog = 'service.log';

export async function startService(options: ServiceOptions): Promise<Service> {
  const { entry, home, port } = options;
  const logFile = join(home, serviceLog);
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [...process.execArgv, entry, 'start'], {
    cwd: home,
    // The caller's own settings are not passed on.
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      DATABASE_URL: options.databaseUrl,
      SIGNALBOX_PORT: String(port),
      SIGNALBOX_DATA_DIR: join(home, 'data'),
      SIGNALBOX_BOOTSTRAP_ORG: options.organization,
      SIGNALBOX_BOOTSTRAP_TOKEN: options.token,
      SIGNALBOX_SANDBOX: 'on',
      SIGNALBOX_LOG_LEVEL: 'warn',
      // The team, its CI and the people who watch share one token.
      SIGNALBOX_RATE_LIMIT: '1000',
      SIGNALBOX_RATE_BURST: '2000',
      SIGNALBOX_SWEEP_SECONDS: '5',
      SIGNALBOX_SHUTDOWN_SECONDS: '1',
    },
    stdio: ['ignore', log, log],
    // A separate process group: Ctrl-C is for the demo, which stops its parts in order.
    detached: true,
  });
  const service = {
    process: child,
    url: `http://localhost:${port}`,
    lastOutput: () => readFileSync(logFile, 'utf8').slice(-2_000),
    stop: () => end(child, 'SIGTERM'),
  };
  try {
    await untilReady(service, options.signal);
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function untilReady(service: Service, signal: AbortSignal): Promise<void> {
  for (const until = Date.now() + startMs; ; await sleep(100, undefined, { signal })) {
    const { exitCode, signalCode } = service.process;
    if (exitCode !== null || signalCode !== null || Date.now() > until)
      throw new Error(`Signalbox did not start:\n${service.lastOutput()}`);
    const answer = await fetch(`${service.url}/readyz`, { signal }).catch(() => null);
    if (answer?.ok === true) return;
  }
}

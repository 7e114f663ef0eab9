// Signalbox beside a host: its database, its processes, and the connection made as an administrator makes it.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Call, callerOf, migrate, startDeployment } from '../bench/deployment.ts';
import { type Cleanup, root, temporaryDir } from '../bench/fixture.ts';
import { startCluster } from '../../script/postgres.ts';
import type { E2eHost } from './host.ts';

export type Connected = {
  readonly call: Call;
  readonly webhook: { readonly url: string; readonly secret: string };
  /** Runs a command of the command line; answers with what it printed and how it ended. */
  readonly command: (
    ...args: readonly string[]
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
};

/** The organization that benchmarks and this have (test/bench/fixture.ts). */
export const organization = 'bench';

export async function connectTo(
  cleanup: Cleanup,
  host: Pick<E2eHost, 'connect'>,
  { sweepSeconds }: { readonly sweepSeconds: number },
): Promise<Connected> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ dataDir: temporaryDir(cleanup, 'signalbox-e2e-pg-'), durable: false });
  cleanup.add(cluster.stop);
  const url = cluster.url('postgres');
  migrate(url);
  const secret = { SIGNALBOX_SECRET_KEY: randomBytes(32).toString('base64') };
  const environment = { ...secret, SIGNALBOX_SANDBOX: 'off', SIGNALBOX_SWEEP_SECONDS: String(sweepSeconds) };
  const deployment = await startDeployment(cleanup, {
    url,
    dataDir: join(folder, 'data'),
    serve: environment,
    work: environment,
  });
  const command: Connected['command'] = async (...args) => {
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: url,
      SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${deployment.port}`,
      SIGNALBOX_LOG_LEVEL: 'error',
      ...secret,
    };
    const run = promisify(execFile)(process.execPath, ['src/signalbox.ts', ...args], { cwd: root, env });
    return run.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  };
  const { code, stdout, stderr } = await command(
    'admin',
    'connect',
    organization,
    ...(await host.connect(folder)),
  );
  if (code !== 0) throw new Error(`signalbox admin connect: ${stderr}`);
  const said = (name: string) => new RegExp(`${name} +(\\S+)`).exec(stdout)![1]!;
  return {
    call: callerOf(deployment),
    webhook: { url: said('webhook URL'), secret: said('secret') },
    command,
  };
}

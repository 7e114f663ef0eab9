// One process with the whole service and the sandbox host, on a database of its own.

import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cleanup, root } from '../bench/fixture.ts';
import { freePort } from '../../script/free-port.ts';
import { startCluster } from '../../script/postgres.ts';

export const serviceToken = 'e2e-token-0123456789';

/** Answers with its URL. The token above is one of the organization `acme`. */
export async function startService(cleanup: Cleanup, folder: string): Promise<string> {
  const cluster = await startCluster();
  cleanup.add(cluster.stop);
  const port = await freePort();
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: cluster.url('postgres'),
    SIGNALBOX_PORT: String(port),
    SIGNALBOX_DATA_DIR: folder,
    SIGNALBOX_BOOTSTRAP_ORG: 'acme',
    SIGNALBOX_BOOTSTRAP_TOKEN: serviceToken,
  };
  const child = spawn(process.execPath, ['src/signalbox.ts', 'start'], { cwd: root, env, stdio: 'ignore' });
  cleanup.add(async () => {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return url;
    if (tries > 300) throw new Error('the service did not start');
    await sleep(200);
  }
}

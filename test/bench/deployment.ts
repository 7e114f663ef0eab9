// `serve` and `work` as processes of their own on one database and one folder, as in production, and a client of them.

import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { freePort } from '../../script/free-port.ts';
import { type Cleanup, root, type Server, startSignalbox, token, withClient } from './fixture.ts';

export type Deployment = {
  readonly port: number;
  /** The processes that run now. */
  readonly pids: { readonly serve: number; readonly work: number };
  /** Ends the server, and starts it anew at the same address after what is to happen meanwhile. */
  readonly restartServer: (meanwhile: () => Promise<void>) => Promise<void>;
  readonly stop: () => Promise<void>;
};

type DeploymentOptions = {
  readonly url: string;
  /** The folder that both share. */
  readonly dataDir: string;
  /** Further variables of one of them. */
  readonly serve?: Readonly<Record<string, string>>;
  readonly work?: Readonly<Record<string, string>>;
  readonly isQuiet?: boolean;
  /** Folders for profiles of the processor's time, made as they end. */
  readonly profileDir?: string | undefined;
};

export function migrate(url: string): void {
  const env = { PATH: process.env['PATH'], DATABASE_URL: url };
  execFileSync(process.execPath, ['src/signalbox.ts', 'migrate'], { cwd: root, env, stdio: 'ignore' });
}

export async function startDeployment(cleanup: Cleanup, options: DeploymentOptions): Promise<Deployment> {
  const { url, dataDir, profileDir } = options;
  const port = await freePort();
  const common = {
    SIGNALBOX_DATA_DIR: dataDir,
    SIGNALBOX_PORT: String(port),
    SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${port}`,
  };
  const start = (command: 'serve' | 'work'): Promise<Server> => {
    const nodeOptions =
      profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}/${command}`];
    return startSignalbox(cleanup, url, command, {
      nodeOptions,
      isQuiet: options.isQuiet,
      environment: { ...common, ...options[command] },
    });
  };
  let serving = await start('serve');
  const working = await start('work');
  const pids = { serve: serving.pid, work: working.pid };
  return {
    port,
    pids,
    restartServer: async (meanwhile) => {
      process.kill(pids.serve, 'SIGTERM');
      await meanwhile();
      serving = await start('serve');
      pids.serve = serving.pid;
    },
    stop: async () => {
      await working.stop();
      await serving.stop();
    },
  };
}

export type Call = <Name extends Operation>(name: Name, body: object) => Promise<ResponseOf<Name>>;

export const callerOf =
  ({ port }: Pick<Deployment, 'port'>): Call =>
  async (name, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${endpoints[name].path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-token': token },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
    return JSON.parse(text) as never;
  };

/** Asks again and again until there is an answer. */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | null>,
  { everyMs = 200, withinMs = 120_000 } = {},
): Promise<Answer> {
  for (const deadline = Date.now() + withinMs; ; await sleep(everyMs)) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${withinMs} ms.`);
  }
}

export type Receiver = { readonly path: string; readonly secret: string };

/** Where the sandbox host sends its webhooks, and what it signs them with; there once it has sent one. */
export const receiverOf = (url: string): Promise<Receiver> =>
  withClient(url, (client) =>
    until('a webhook of the sandbox', async () => {
      const { rows } = await client.query<{ id: string; webhook_secret: string }>(
        'select id, webhook_secret from host_connection',
      );
      const [row] = rows;
      return row === undefined ? null : { path: `/hooks/main_${row.id}`, secret: row.webhook_secret };
    }),
  );

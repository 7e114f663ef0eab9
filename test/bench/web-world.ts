// What test/bench/web.ts looks at: a server and a worker on a durable cluster that remembers when each transaction was
// committed, and a session of the dashboard.

import { join } from 'node:path';
import { type Call, callerOf, type Deployment, migrate, startDeployment } from './deployment.ts';
import { type Cleanup, openCluster, temporaryDir, token, withClient } from './fixture.ts';

export type Target = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
};

export const targetOf = (name: string): Target => ({
  repo: { host: 'sandbox.example', owner: 'bench', name },
  targetBranch: 'main',
});

export const nameOf = ({ repo, targetBranch }: Target): string =>
  `${repo.host}/${repo.owner}/${repo.name}@${targetBranch}`;

/** A pull request came to a state. */
export type Moved = {
  readonly queue: string;
  readonly number: number;
  readonly state: string;
  /** When that was committed, in ms since 1970, by the clock of this machine. */
  readonly at: number;
};

export type WebWorld = {
  readonly url: string;
  readonly databaseUrl: string;
  readonly call: Call;
  /** Name and value. */
  readonly cookie: readonly [name: string, value: string];
  readonly pids: Deployment['pids'];
  readonly restartServer: Deployment['restartServer'];
  readonly movesSince: (since: number) => Promise<readonly Moved[]>;
};

async function signIn(url: string): Promise<WebWorld['cookie']> {
  const answer = await fetch(`${url}/app/api/session`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-signalbox-app': '1',
      'sec-fetch-site': 'same-origin',
    },
    body: JSON.stringify({ token }),
  });
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]!.split('=');
  if (!answer.ok || value === '') throw new Error(`Signing in was answered with ${answer.status}.`);
  return [name, value];
}

export async function openWebWorld(cleanup: Cleanup): Promise<WebWorld> {
  const cluster = await openCluster(cleanup, { track_commit_timestamp: 'on', shared_buffers: '256MB' });
  const databaseUrl = cluster.url('postgres');
  migrate(databaseUrl);
  const dataDir = join(temporaryDir(cleanup, 'signalbox-bench-web-'), 'data');
  const environment = { SIGNALBOX_SWEEP_SECONDS: '5' };
  const deployment = await startDeployment(cleanup, {
    url: databaseUrl,
    dataDir,
    serve: environment,
    work: environment,
  });
  const url = `http://127.0.0.1:${deployment.port}`;
  return {
    url,
    databaseUrl,
    call: callerOf(deployment),
    cookie: await signIn(url),
    pids: deployment.pids,
    restartServer: deployment.restartServer,
    movesSince: (since) => readMoves(databaseUrl, since),
  };
}

type MoveRow = {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
  readonly branch: string;
  readonly pr_number: string;
  readonly state: string;
  readonly at: number;
};

/** In the order in which they were made; of what one transaction did to a pull request, what is left in the end. */
async function readMoves(databaseUrl: string, since: number): Promise<readonly Moved[]> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<MoveRow>(
      `select r.host, r.owner, r.name, q.branch, f.pr_number, f.state,
         extract(epoch from pg_xact_commit_timestamp(f.xmin))::float8 * 1000 as at
       from queue_fact f join queue q on q.id = f.queue_id join repository r on r.id = q.repository_id
       where f.state is not null and f.recorded_at >= to_timestamp($1::float8 / 1000) - interval '1 minute'
       order by f.recorded_at, f.seq`,
      [since],
    ),
  );
  const moves = rows.map(({ host, owner, name, branch, pr_number, state, at }) => ({
    queue: `${host}/${owner}/${name}@${branch}`,
    number: Number(pr_number),
    state,
    at,
  }));
  const last = new Map(moves.map((move) => [`${move.queue}#${move.number} ${move.at}`, move]));
  return [...last.values()].filter(({ at }) => at >= since);
}

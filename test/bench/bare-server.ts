// What the server is measured against: node:http and the driver, the same statements with the same parameters in the
// same order over the same number of connections, and nothing else. No check of the request, no rules, no rendering.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Client, Pool, type PoolClient, types } from 'pg';
import { v7 as newId } from 'uuid';
import { loadEntryStatement, saveEntriesStatement } from '#db/queue/entry-store.ts';
import { sandboxSelectStatement } from '#db/sandbox/sandbox-store.ts';
import { scopeStatement } from '#db/account/scope-view.ts';
import { addReconcileStatement } from '#db/job/job.ts';
import { lockEntryStatement } from '#db/transaction.ts';
import { type Row, submittedRows } from './statement.ts';

export type BareOptions = {
  readonly url: string;
  readonly token: string;
  readonly readers: number;
  readonly connections: number;
};

type Body = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
  readonly pr: { readonly number: number };
};

// As the server reads them, so that the rows it writes are the same.
types.setTypeParser(types.builtins.INT8, Number);

type Query = (values: readonly unknown[]) => { name: string; text: string; values: unknown[] };

const query =
  (name: string, text: string): Query =>
  (values) => ({ name, text, values: [...values] });

const scope = query('scope', scopeStatement);
const sandbox = query('sandbox', sandboxSelectStatement);
const lock = query('lock', lockEntryStatement);
const load = query('load', loadEntryStatement);
const save = query('save', saveEntriesStatement);
const addJob = query('job', addReconcileStatement);

async function serve({ url, token, readers, connections }: BareOptions): Promise<number> {
  const options = { connectionString: url, pipeline: true };
  const clients = Array.from({ length: readers }, () => new Client(options));
  await Promise.all(clients.map((client) => client.connect()));
  const pool = new Pool({ ...options, max: connections });
  const hash = createHash('sha256').update(token).digest();
  let turn = 0;

  const read = async (text: Query, values: readonly unknown[]): Promise<Row> => {
    turn = (turn + 1) % readers;
    const { rows } = await clients[turn]!.query<Row>(text(values));
    return rows[0]!;
  };
  const readScope = ({ repo, targetBranch, pr }: Body) =>
    read(scope, [hash, repo.host, repo.owner, repo.name, targetBranch, pr.number]);

  const submit = async (body: Body): Promise<Row> => {
    const named = await readScope(body);
    const pullRequest = await read(sandbox, [named['repository_id'], body.pr.number]);
    const client = await pool.connect();
    try {
      await write(client, named['queue_id'] as string, pullRequest);
    } finally {
      client.release();
    }
    return readScope(body);
  };

  const server = createServer((request, response) => {
    if (request.url === '/') return answer(response, 200, 'ok');
    const handle = request.url === '/v1/submitPullRequest' ? submit : readScope;
    readBody(request)
      .then(handle)
      .then((row) => answer(response, 200, JSON.stringify(row)))
      .catch((error: unknown) => answer(response, 500, String(error)));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}

/** Sent as the real server sends them: what needs no answer of another goes together with it. */
async function write(client: PoolClient, queueId: string, pullRequest: Row): Promise<void> {
  const { number } = pullRequest;
  const [, , loaded] = await Promise.all([
    client.query('begin'),
    client.query(lock([queueId, `${queueId}#${String(number)}`])),
    client.query<Row>(load([queueId, number])),
  ]);
  const rows = submittedRows({
    queueId,
    id: newId(),
    now: new Date().toISOString(),
    seniority: loaded.rows[0]!['next_seniority'],
    pullRequest,
  });
  await Promise.all([
    client.query(save([JSON.stringify([rows.entry]), '[]', JSON.stringify([rows.fact])])),
    client.query(addJob([queueId, `reconcile:${queueId}`, null])),
    client.query('commit'),
  ]);
}

async function readBody(request: IncomingMessage): Promise<Body> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', reject);
    request.on('end', () => {
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body);
      } catch (error) {
        reject(error);
      }
    });
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

process.on('message', (options: BareOptions) => {
  void serve(options).then((port) => process.send?.({ port }));
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit(0));

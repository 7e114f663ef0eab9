// `npm run dev`: a private PostgreSQL in .data/ and Signalbox on it, with the sandbox host and a token to try it with.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startCluster } from './postgres.ts';
import { Client } from 'pg';

const cluster = await startCluster({ dataDir: join(process.cwd(), '.data', 'postgres'), durable: true });
const client = new Client(cluster.url('postgres'));
await client.connect();
const { rowCount } = await client.query(`select from pg_database where datname = 'signalbox'`);
if (rowCount === 0) await client.query('create database signalbox');
await client.end();

const port = process.env['SIGNALBOX_PORT'] ?? '8080';
const token = process.env['SIGNALBOX_BOOTSTRAP_TOKEN'] ?? 'try-signalbox-token';
const server = spawn(process.execPath, ['src/signalbox.ts', 'start'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    DATABASE_URL: cluster.url('signalbox'),
    SIGNALBOX_PORT: port,
    SIGNALBOX_BOOTSTRAP_ORG: process.env['SIGNALBOX_BOOTSTRAP_ORG'] ?? 'acme',
    SIGNALBOX_BOOTSTRAP_TOKEN: token,
  },
});
console.log(`Signalbox starts on http://localhost:${port} with the API token ${token}. Ctrl-C ends it.`);
// The server ends itself on the same signals; the database goes last.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill('SIGTERM'));
const code = await new Promise<number>((resolve) => server.once('exit', (exit) => resolve(exit ?? 1)));
await cluster.stop();
process.exit(code);

// The real processes: endpoints from the command line, and a worker that is killed while it sends to a receiver that
// fails. `npm run bench:webhooks` is the same with 10,000 events.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runProgram } from '#program.ts';
import { endpoints } from '#contract/endpoint/endpoint.ts';
import { main } from '../support/harness.ts';
import { databaseUrl, openTestCell } from '../support/database.ts';
import { startProcess } from '../support/server-process.ts';
import { startReceiver } from './receiver.ts';
import { secretKey } from './world.ts';

const token = 'a-token-of-the-tests';
const environment = {
  SIGNALBOX_SECRET_KEY: secretKey.toString('base64'),
  SIGNALBOX_WEBHOOK_ALLOW: '127.0.0.1',
  SIGNALBOX_WEBHOOK_TIMEOUT_SECONDS: '1',
  SIGNALBOX_BOOTSTRAP_ORG: 'acme',
  SIGNALBOX_BOOTSTRAP_TOKEN: token,
  SIGNALBOX_RATE_LIMIT: '100000',
  SIGNALBOX_RATE_BURST: '100000',
};

/** The command line in this process: what it wrote, and how it ended. */
async function runCli(url: string, args: readonly string[]) {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    }),
  );
  const errors = vi
    .spyOn(console, 'error')
    .mockImplementation((text) => void (written.stderr += String(text)));
  const never = () => Promise.reject(new Error('not this command'));
  const env = { SIGNALBOX_URL: url, SIGNALBOX_API_TOKEN: token };
  const context = { cwd: '.', env, version: '0', args: ['webhook', ...args], service: never, demo: never };
  try {
    const code = await runProgram(context);
    return { code, ...written };
  } finally {
    for (const spy of [...spies, errors]) spy.mockRestore();
  }
}

async function openProcesses() {
  const { cell, close } = await openTestCell();
  const url = databaseUrl(new URL(cell.url).pathname.slice(1));
  const server = await startProcess('serve', url, environment);
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await receiver.close();
    await server.stop();
    await close();
  });
  const cli = (...args: readonly string[]) => runCli(server.url, args);
  const call = async (
    name: 'createQueue' | 'updateQueue' | 'submitPullRequest' | 'cancelPullRequest',
    body: object,
  ) => {
    const headers = { 'x-api-token': token, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify({ ...main, ...body }) };
    expect((await fetch(`${server.url}${endpoints[name].path}`, sent)).status).toBe(200);
  };
  return { cell, url, receiver, cli, call, startWorker: () => startProcess('work', url, environment) };
}

it('an endpoint of the command line gets every event, though its worker is killed and it fails itself', async () => {
  const { cell, receiver, cli, call, startWorker } = await openProcesses();
  const made = await cli('create', receiver.url, '--name', 'Deploys', '--json');
  expect(made.stderr).toBe('');
  const { signingSecret } = JSON.parse(made.stdout) as { signingSecret: string };
  let worker = await startWorker();
  onTestFinished(async () => void (await worker.stop()));
  expect((await cli('test', 'Deploys')).stdout).toMatch(
    /^The endpoint accepted the test event: 200 after \d+ ms\.$/m,
  );

  const taken = new Set<string>();
  const hook = new Webhook(signingSecret);
  let asked = 0;
  receiver.answer = ({ headers, body }, response) => {
    asked += 1;
    if (asked % 10 === 0) return;
    if (asked % 3 === 0) return void response.writeHead(500).end();
    hook.verify(body, headers as Record<string, string>);
    taken.add(String(headers['webhook-id']));
    response.end();
  };
  await call('createQueue', {});
  await call('updateQueue', { state: 'PAUSED' });
  for (let number = 1; number <= 20; number += 1) {
    await call('submitPullRequest', { pr: { number } });
    await call('cancelPullRequest', { pr: { number } });
    if (number === 10) {
      const exited = once(worker.child, 'exit');
      worker.child.kill('SIGKILL');
      await exited;
      worker = await startWorker();
    }
  }
  for (let tries = 0; tries < 60; tries += 1) {
    // What would take its time: pauses, and what the killed worker had in hand.
    await cell.pool.query(`update webhook_delivery set due_at = now(),
      claimed_until = case when claimed_until > now() + interval '5 seconds' then null else claimed_until end
      where status = 'pending' and created_at < now() - interval '1 second'`);
    const { rows } = await cell.pool.query(`select from webhook_delivery where status <> 'delivered'`);
    if (rows.length === 0) break;
    await sleep(300);
  }
  const { rows } = await cell.pool.query<{ id: string; type: string }>(
    'select id, type from webhook_delivery',
  );
  const events = rows.filter(({ type }) => type !== 'webhook.test');
  expect(events.filter(({ type }) => type === 'pull_request.canceled')).toHaveLength(20);
  expect(events.filter(({ id }) => !taken.has(id))).toEqual([]);

  expect((await cli('list')).stdout).toMatch(/Deploys +webhook +http:.* active +0 +last delivered/);
  expect((await cli('deliveries', 'Deploys', '--take', '2')).stdout.trim().split('\n')).toHaveLength(3);
  expect((await cli('update', 'Deploys', '--disable')).stdout).toMatch(
    /disabled +0 +An admin disabled the endpoint\./,
  );
  expect((await cli('rotate', 'Deploys')).stdout).toMatch(/shown only once: whsec_/);
  expect((await cli('replay', 'Deploys', '--since', '2020-01-01', '--failed')).stdout).toBe(
    '0 deliveries will be sent again.\n',
  );
  expect((await cli('replay', 'Deploys')).code).toBe(2);
  expect((await cli('delete', 'Deploys')).code).toBe(0);
  expect((await cli('test', 'Deploys')).stderr).toMatch(/There is no webhook endpoint Deploys\./);
});

it('a queue that Signalbox stops is in a chat within ten seconds, once, though the worker that stops it is killed', async () => {
  const { cell, receiver, cli, call, startWorker } = await openProcesses();
  await cli('create', receiver.url, '--name', 'Chat', '--kind', 'slack', '--events', 'queue.halted');
  let worker = await startWorker();
  onTestFinished(async () => void (await worker.stop()));
  const stopped = Date.now();
  // The sandbox has no such branch.
  await call('createQueue', { targetBranch: 'release' });
  const isHalted = async () =>
    (await cell.pool.query('select from queue where state_reason is not null')).rows.length > 0;
  while (!(await isHalted())) await sleep(5);
  const exited = once(worker.child, 'exit');
  worker.child.kill('SIGKILL');
  await exited;
  worker = await startWorker();
  while (receiver.received.length === 0 && Date.now() - stopped < 30_000) await sleep(20);
  expect(Date.now() - stopped).toBeLessThan(10_000);
  await sleep(2_000);
  expect(receiver.received.map(({ body }) => JSON.parse(body) as object)).toEqual([
    expect.objectContaining({
      text: expect.stringMatching(/acme\/widgets release.* was stopped by Signalbox/),
    }),
  ]);
});

// Whether an event can be lost: `npm run bench:webhooks`.
//
// Pull requests are submitted and taken out until there are 10,000 events, while they are being sent to a receiver that
// fails 30 times of 100 (errors, connections that are cut, silence) and is killed and started anew, by a worker that is
// killed (kill -9) and started anew. In the end every fact of the database must have its event, and every event must
// have arrived, verified with the reference library. Pauses between attempts are cut short every other second; what a
// killed worker had in hand is waited for as in production.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { freePort } from '../../script/free-port.ts';
import { type Call, callerOf, until } from './deployment.ts';
import { goal, type Goal, printGoals } from './figure.ts';
import {
  branch,
  type Cleanup,
  createCleanup,
  forked,
  openCluster,
  repository,
  startSignalbox,
  temporaryDir,
  withClient,
} from './fixture.ts';
import { positiveWhole } from './option.ts';
import type { ReceiverJob } from './webhook-receiver.ts';

const failing = { error: 0.14, reset: 0.14, silent: 0.02 };
const main = { repo: repository, targetBranch: branch };
/** Commands under way at once. */
const lanes = 8;

type Receiver = { readonly restart: () => Promise<void> };

async function startReceiver(cleanup: Cleanup, job: ReceiverJob): Promise<Receiver> {
  const start = async () => {
    const child = forked<ReceiverJob, object>(cleanup, 'webhook-receiver.ts');
    await child.ask(job);
    return child;
  };
  let running = await start();
  return {
    restart: async () => {
      await running.stop();
      await sleep(1_500);
      running = await start();
    },
  };
}

/** Each pull request is submitted and taken out, twice; in order for one, beside the others. */
async function makeEvents(call: Call, count: number): Promise<void> {
  let next = 1;
  const lane = async () => {
    for (let number = next++; number <= count; number = next++)
      for (let trip = 0; trip < 2; trip += 1) {
        await call('submitPullRequest', { ...main, pr: { number } });
        await call('cancelPullRequest', { ...main, pr: { number } });
      }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const numberOf = async (client: Client, sql: string): Promise<number> =>
  Number((await client.query<{ count: string }>(sql)).rows[0]!.count);

const pendingSql = `select count(*) from webhook_delivery where status <> 'delivered'`;

/** Facts of the kinds that are told, beyond the events there are. */
const factsWithoutEventSql = `select abs((select count(*) from queue_fact where kind = 'submitted' or (kind = 'moved'
    and state in ('pending', 'pending_failure', 'failed', 'cancelled', 'merged')))
  - (select count(*) from webhook_delivery where type like 'pull_request.%')) as count`;

type Arrived = { readonly ids: readonly string[]; readonly unverified: number };

function readArrived(file: string): Arrived {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return {
    ids: lines.map((line) => line.split(' ')[0]!),
    unverified: lines.filter((line) => line.endsWith(' 0')).length,
  };
}

/** First arrivals that came before an earlier one about the same pull request. */
async function countInversions(client: Client, ids: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ id: string; seq: number; subject: string }>(
    'select id, seq, subject from webhook_delivery',
  );
  const known = new Map(rows.map((row) => [row.id, row]));
  const last = new Map<string, number>();
  let inversions = 0;
  for (const id of new Set(ids)) {
    const { subject, seq } = known.get(id)!;
    const before = last.get(subject) ?? 0;
    if (seq < before) inversions += 1;
    last.set(subject, Math.max(seq, before));
  }
  return inversions;
}

type Report = {
  readonly events: number;
  readonly factsWithoutEvent: number;
  readonly lost: number;
  readonly unverified: number;
  readonly repeated: number;
  readonly inversions: number;
  readonly attempts: number;
  readonly seconds: number;
};

async function measure(cleanup: Cleanup, events: number, kills: number): Promise<Report> {
  const cluster = await openCluster(cleanup);
  await withClient(cluster.url('postgres'), (client) => client.query('create database webhooks'));
  const database = cluster.url('webhooks');
  const environment = {
    SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SIGNALBOX_WEBHOOK_ALLOW: '127.0.0.1',
    SIGNALBOX_WEBHOOK_TIMEOUT_SECONDS: '1',
    SIGNALBOX_DATA_DIR: temporaryDir(cleanup, 'signalbox-webhooks-'),
  };
  await (await startSignalbox(cleanup, database, 'start', { environment })).stop();
  const { port } = await startSignalbox(cleanup, database, 'serve', { environment });
  const call = callerOf({ port });
  await call('createQueue', main);
  // Nothing is tested: what is measured is the telling.
  await call('updateQueue', { ...main, state: 'PAUSED' });
  const receiverPort = await freePort();
  const url = `http://127.0.0.1:${receiverPort}/`;
  const { signingSecret: secret } = await call('createWebhookEndpoint', { name: 'bench', url });
  const file = join(environment.SIGNALBOX_DATA_DIR, 'arrived');
  const receiver = await startReceiver(cleanup, { port: receiverPort, secret: secret!, file, failing });
  let worker = await startSignalbox(cleanup, database, 'work', { environment });
  const began = performance.now();
  const made = makeEvents(call, Math.ceil(events / 4));
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(3_000);
    process.kill(worker.pid, 'SIGKILL');
    if (kill % 2 === 1) await receiver.restart();
    worker = await startSignalbox(cleanup, database, 'work', { environment });
  }
  await made;
  return withClient(database, async (client) => {
    const settled = async () => {
      await client.query(
        `update webhook_delivery set due_at = now() where status = 'pending' and due_at > now()`,
      );
      return (await numberOf(client, pendingSql)) === 0 ? true : null;
    };
    await until('the last delivery', settled, { everyMs: 2_000, withinMs: 600_000 });
    const seconds = (performance.now() - began) / 1_000;
    await worker.stop();
    const { ids, unverified } = readArrived(file);
    const told = await numberOf(client, 'select count(*) from webhook_delivery');
    return {
      events: told,
      factsWithoutEvent: await numberOf(client, factsWithoutEventSql),
      lost: told - new Set(ids).size,
      unverified,
      repeated: ids.length - new Set(ids).size,
      inversions: await countInversions(client, ids),
      attempts: await numberOf(client, 'select sum(attempts) as count from webhook_delivery'),
      seconds,
    };
  });
}

function goalsOf(report: Report, wanted: number): readonly Goal[] {
  return [
    goal('events', report.events, '>=', wanted),
    goal('facts without their event', report.factsWithoutEvent, '<=', 0),
    goal('events lost', report.lost, '<=', 0),
    goal('signatures that do not hold', report.unverified, '<=', 0),
    goal('share out of order per pull request', report.inversions / report.events, '<=', 0.01),
    goal('seconds', report.seconds, '<=', 600),
  ];
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '6' },
    json: { type: 'boolean', default: false },
  },
});
const events = positiveWhole(values, 'events');
const cleanup = createCleanup();
try {
  const report = await measure(cleanup, events, positiveWhole(values, 'kills'));
  const goals = goalsOf(report, events);
  if (values.json) console.log(JSON.stringify({ report, goals }));
  else {
    const { attempts, repeated, inversions } = report;
    console.log(`${report.events} events, ${attempts} attempts recorded, ${repeated} arrived more than once`);
    console.log(`${(report.events / report.seconds).toFixed(0)} events/s, ${inversions} out of order`);
    printGoals(goals);
  }
  if (!goals.every(({ isMet }) => isMet)) process.exitCode = 1;
} finally {
  await cleanup.run();
}

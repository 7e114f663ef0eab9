// The load generator of test/bench/events.ts, a process of its own: signed webhooks over keep-alive connections with one
// request in flight each, either one after the other or at a given rate. It shares the cores with what it measures, so
// every request is made and signed before the clock starts.

import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { signatureHeader, signWebhook, webhookBody } from '#host/sandbox/webhook.ts';
import { checkName, checksPerRun, eventAt, repositoryOf } from './event.ts';

export type EventLoadJob =
  | {
      readonly kind: 'prepare';
      readonly port: number;
      readonly path: string;
      readonly secret: string;
      readonly queues: number;
      readonly events: number;
    }
  | {
      readonly kind: 'send';
      readonly connections: number;
      readonly seconds: number;
      /** Events a second; null: as fast as they are answered. */
      readonly rate: number | null;
    };

export type EventLoadResult = {
  readonly answered: number;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The runs all of whose checks have succeeded, by their commit: when the last one was answered. */
  readonly complete: readonly (readonly [sha: string, at: number])[];
  readonly answerP50Ms: number;
  readonly answerP99Ms: number;
  readonly failures: number;
  readonly firstFailure: string | null;
  /** Share of one core. */
  readonly generatorCpu: number;
};

const shaOf = (run: number): string => `${createHash('md5').update(`run ${run}`).digest('hex')}00000000`;

let port = 0;
let requests: Buffer[] = [];
let next = 0;
/** Checks of each run whose success was answered, and when the last was. */
const seen = new Map<number, { count: number; at: number }>();

function prepare(job: Extract<EventLoadJob, { kind: 'prepare' }>): void {
  port = job.port;
  next = 0;
  seen.clear();
  const base = Date.now();
  requests = Array.from({ length: job.events }, (_, index) => {
    const { run, step } = eventAt(index);
    const body = webhookBody({
      kind: 'check-changed',
      repository: repositoryOf(run, job.queues),
      sha: shaOf(run),
      check: {
        kind: 'status',
        name: checkName(step % checksPerRun),
        state: step < checksPerRun ? 'pending' : 'success',
        url: `https://ci.example/run/${run}`,
        at: base + step,
      },
    });
    const head =
      `POST ${job.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
      `${signatureHeader}: ${signWebhook(job.secret, body)}\r\ncontent-length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  });
}

const now = (): number => performance.timeOrigin + performance.now();

type Tally = {
  readonly latencies: number[];
  readonly complete: [string, number][];
  answered: number;
  failures: number;
  firstFailure: string | null;
};

function answeredOne(tally: Tally, index: number, sentAt: number): void {
  const at = now();
  tally.answered++;
  tally.latencies.push(at - sentAt);
  const { run, step } = eventAt(index);
  if (step < checksPerRun) return;
  const known = seen.get(run) ?? { count: 0, at };
  known.count++;
  known.at = Math.max(known.at, at);
  seen.set(run, known);
  if (known.count === checksPerRun) tally.complete.push([shaOf(run), known.at]);
}

/** A connection that sends when it is told to, and says when it is free again. */
function openConnection(tally: Tally, onFree: (send: (index: number) => void) => void): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let current = -1;
    let sentAt = 0;
    let received = '';
    const send = (index: number) => {
      current = index;
      sentAt = now();
      socket.write(requests[index]!);
    };
    socket.on('connect', () => {
      resolve(socket);
      onFree(send);
    });
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      // Every answer is `{}` or an error, and both end with a brace after the head.
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0 || !received.endsWith('}')) return;
      if (received.charAt(9) === '2') answeredOne(tally, current, sentAt);
      else {
        tally.failures++;
        tally.firstFailure ??= received;
      }
      received = '';
      onFree(send);
    });
  });
}

const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function send(job: Extract<EventLoadJob, { kind: 'send' }>): Promise<EventLoadResult> {
  const tally: Tally = { latencies: [], complete: [], answered: 0, failures: 0, firstFailure: null };
  const cpuBefore = process.cpuUsage();
  const startedAt = now();
  const deadline = startedAt + job.seconds * 1000;
  const free: ((index: number) => void)[] = [];
  const first = next;
  const isOver = () => now() >= deadline || next >= requests.length;
  const due = () =>
    job.rate === null ? requests.length : first + Math.floor(((now() - startedAt) / 1000) * job.rate);
  const done = Promise.withResolvers<void>();
  const pump = () => {
    while (free.length > 0 && !isOver() && next < due()) free.pop()!(next++);
    if (isOver() && free.length === job.connections) done.resolve();
  };
  const timer = setInterval(pump, 1);
  const sockets = await Promise.all(
    Array.from({ length: job.connections }, () =>
      openConnection(tally, (sender) => {
        free.push(sender);
        pump();
      }),
    ),
  );
  await done.promise;
  clearInterval(timer);
  for (const socket of sockets) socket.destroy();
  const endedAt = now();
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = Float64Array.from(tally.latencies).toSorted();
  return {
    answered: tally.answered,
    startedAt,
    endedAt,
    complete: tally.complete,
    answerP50Ms: percentile(sorted, 0.5),
    answerP99Ms: percentile(sorted, 0.99),
    failures: tally.failures,
    firstFailure: tally.firstFailure,
    generatorCpu: (user + system) / 1000 / (endedAt - startedAt),
  };
}

process.on('message', (job: EventLoadJob) => {
  if (job.kind === 'prepare') {
    prepare(job);
    process.send?.(null);
  } else void send(job).then((result) => process.send?.(result));
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit(0));

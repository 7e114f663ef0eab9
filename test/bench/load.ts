// The load generator, a process of its own: keep-alive connections with one request in flight each. Written by hand
// because it shares the cores with what it measures: it reads of an answer only its status and length, and keeps every
// latency in fractions of a millisecond.

import { connect, type Socket } from 'node:net';

export type LoadJob = {
  readonly port: number;
  readonly path: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
  /** Everything of the body but the pull request. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Reads take any of the first pull requests; writes take numbers never taken before, from a place in their order. */
  readonly numbers:
    | { readonly kind: 'any-of-first'; readonly count: number }
    | { readonly kind: 'fresh'; readonly from: number };
};

export type LoadResult = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests sent, also those answered after the end. */
  readonly sent: number;
  /** Answers other than 2xx, and connections lost. */
  readonly failures: number;
  readonly firstFailure: string | null;
  /** Share of one core that the generator itself used. */
  readonly generatorCpu: number;
};

/** Fresh numbers: 101 … 1,000,000 in a scattered order without repeats (the factor has no divisor in common). */
export const freshNumbers = { first: 101, count: 999_900, factor: 611_953 } as const;

const freshNumber = (index: number): number =>
  freshNumbers.first + ((index * freshNumbers.factor) % freshNumbers.count);

function requestWriter(job: LoadJob): () => string {
  const head = `POST ${job.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-token: ${job.token}\r\ncontent-type: application/json\r\n`;
  const request = (number: number) => {
    const body = JSON.stringify({ ...job.body, pr: { number } });
    return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const { numbers } = job;
  if (numbers.kind === 'fresh') {
    let index = numbers.from;
    return () => request(freshNumber(index++));
  }
  const all = Array.from({ length: numbers.count }, (_, index) => request(index + 1));
  return () => all[Math.floor(Math.random() * all.length)]!;
}

/** The bytes that the answer at the start of `buffer` has, with its status; null while its head is not complete. */
function answerOf(buffer: Buffer): { readonly bytes: number; readonly ok: boolean } | null {
  const headEnd = buffer.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = buffer.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length === null) throw new Error(`An answer without content-length: ${head}`);
  return { bytes: headEnd + 4 + Number(length[1]), ok: head.charAt(9) === '2' };
}

type Tally = {
  readonly latencies: number[];
  sent: number;
  failures: number;
  firstFailure: string | null;
};

function failed(tally: Tally, what: string): void {
  tally.failures++;
  tally.firstFailure ??= what;
}

/** Sends one request after the other until the deadline; ends when the last is answered. */
function runConnection(job: LoadJob, next: () => string, deadline: number, tally: Tally): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: '127.0.0.1', port: job.port, noDelay: true });
    let received: Buffer | null = null;
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      if (sentAt >= deadline) {
        socket.end();
        resolve();
        return;
      }
      tally.sent++;
      socket.write(next(), 'latin1');
    };
    const lost = (what: string) => {
      if (performance.now() < deadline) failed(tally, what);
      resolve();
    };
    socket.on('connect', send);
    socket.on('error', (error) => lost(error.message));
    socket.on('close', () => lost('the server closed the connection'));
    socket.on('data', (chunk) => {
      received = received === null ? chunk : Buffer.concat([received, chunk]);
      const answer = answerOf(received);
      if (answer === null || received.length < answer.bytes) return;
      const now = performance.now();
      if (!answer.ok) failed(tally, received.toString('utf8'));
      else if (now < deadline) tally.latencies.push(now - sentAt);
      received = null;
      send();
    });
  });
}

const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function run(job: LoadJob): Promise<LoadResult> {
  const tally: Tally = { latencies: [], sent: 0, failures: 0, firstFailure: null };
  const next = requestWriter(job);
  const cpuBefore = process.cpuUsage();
  const deadline = performance.now() + job.seconds * 1000;
  await Promise.all(Array.from({ length: job.connections }, () => runConnection(job, next, deadline, tally)));
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = Float64Array.from(tally.latencies).toSorted();
  return {
    perSecond: sorted.length / job.seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    sent: tally.sent,
    failures: tally.failures,
    firstFailure: tally.firstFailure,
    generatorCpu: (user + system) / 1e6 / job.seconds,
  };
}

process.on('message', (job: LoadJob) => {
  void run(job).then((result) => process.send?.(result));
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit(0));

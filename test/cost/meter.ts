// Counts what an operation costs, in units that do not depend on the machine: statements, round trips and bytes between
// our processes and PostgreSQL, jobs, and requests to a Git host.

import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Client } from 'pg';

export type Cost = {
  readonly statements: number;
  /** How often something was sent on a connection with nothing under way: what is sent together counts once. */
  readonly roundTrips: number;
  /** To PostgreSQL and back, in whole KiB. */
  readonly databaseKiB: number;
  readonly jobs: number;
};

type Counts = { statements: number; roundTrips: number; jobs: number };

const socketOf = (client: Client): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

/** The list of Git hosts is read again every few seconds: how often within an operation depends on the machine. */
const isPeriodic = (query: unknown): boolean =>
  (typeof query === 'string' ? query : ((query as { readonly text?: string }).text ?? '')).includes(
    'union select host_key, null from repository',
  );

/**
 * Counts from now on, in this process, until it is closed. Every statement of ours and of the job library passes through
 * `Client.query` of the driver.
 */
export function openMeter() {
  const counts: Counts = { statements: 0, roundTrips: 0, jobs: 0 };
  const underWay = new WeakMap<Client, number>();
  const sockets = new Map<Socket, number>();
  const bytesOf = (socket: Socket) => socket.bytesRead + socket.bytesWritten;
  // oxlint-disable-next-line unbound-method -- it is called with its own `this` below
  const { query } = Client.prototype;

  Client.prototype.query = function counted(this: Client, ...args: readonly unknown[]) {
    const now = underWay.get(this) ?? 0;
    const socket = socketOf(this);
    if (!sockets.has(socket)) sockets.set(socket, bytesOf(socket));
    if (!isPeriodic(args[0])) {
      counts.statements += 1;
      if (now === 0) counts.roundTrips += 1;
    }
    underWay.set(this, now + 1);
    const end = () => underWay.set(this, underWay.get(this)! - 1);
    // The pool passes a callback, everything else takes the promise.
    const last = args.at(-1);
    if (typeof last !== 'function') {
      const answer = Reflect.apply(query, this, args) as unknown as Promise<unknown>;
      void answer.then(end, end);
      return answer;
    }
    const callback = (...results: readonly unknown[]) => {
      end();
      Reflect.apply(last, undefined, results);
    };
    return Reflect.apply(query, this, [...args.slice(0, -1), callback]) as unknown;
  } as typeof query;

  const costNow = () => ({
    ...counts,
    bytes: [...sockets].reduce((sum, [socket, before]) => sum + bytesOf(socket) - before, 0),
  });
  return {
    onJob: () => {
      counts.jobs += 1;
    },
    /** What the work costs. */
    measure: async (work: () => Promise<unknown>): Promise<Cost> => {
      const before = costNow();
      await work();
      const after = costNow();
      return {
        statements: after.statements - before.statements,
        roundTrips: after.roundTrips - before.roundTrips,
        databaseKiB: Math.ceil((after.bytes - before.bytes) / 1024),
        jobs: after.jobs - before.jobs,
      };
    },
    close: () => {
      Client.prototype.query = query;
    },
  };
}

/** The requests of this process to the API of a Git host while the work is done; what git asks for is left out. */
export async function listRequests(origin: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const requests: string[] = [];
  const listener = (message: unknown) => {
    const { request } = message as {
      readonly request: Readonly<Record<'origin' | 'method' | 'path', string>>;
    };
    if (request.origin === origin && request.path.startsWith('/api/'))
      requests.push(`${request.method} ${request.path}`);
  };
  diagnostics.subscribe('undici:request:create', listener);
  try {
    await work();
  } finally {
    diagnostics.unsubscribe('undici:request:create', listener);
  }
  return requests;
}

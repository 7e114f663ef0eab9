// Time limits of PostgreSQL connections. Every connection has a limit for a statement, for a lock and for an
// idle transaction, enforced by the server, and a limit for silence, enforced here: if the machine of the
// database vanishes, nothing closes its connections, and TCP alone would wait a quarter of an hour for an
// answer.

import type { Socket } from 'node:net';
import type { ClientConfig } from 'pg';

export type ConnectionLimits = {
  /** Longest time of one statement. */
  readonly statementMs: number;
  /** Longest wait for a lock, also an advisory one. */
  readonly lockMs: number;
  /** Longest time that a transaction may wait for its next statement. */
  readonly idleMs: number;
  /** A connection that waits for an answer and is silent for this long is closed; above `statementMs`. */
  readonly silentMs: number;
};

/** Reads that answer a request, and session locks: many share a connection, and wait for each other. */
export const readLimits: ConnectionLimits = {
  statementMs: 10_000,
  lockMs: 5_000,
  idleMs: 10_000,
  silentMs: 15_000,
};

/** Transactions of commands and jobs, and the statements of the job library. */
export const workLimits: ConnectionLimits = {
  statementMs: 20_000,
  lockMs: 15_000,
  idleMs: 30_000,
  silentMs: 25_000,
};

/**
 * Migrations and the daily removal of old rows. They rewrite or scan whole tables, so their statements may
 * take long. Their lock timeout is the same as for others, because everything else would wait behind them.
 */
export const maintenanceLimits: ConnectionLimits = {
  statementMs: 3_600_000,
  lockMs: 15_000,
  idleMs: 60_000,
  silentMs: 3_700_000,
};

/** After this much silence the operating system probes whether the other side is still there. */
const keepAliveAfterMs = 5_000;

export const optionsWithin = ({ statementMs, lockMs, idleMs }: ConnectionLimits) =>
  ({
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  }) satisfies ClientConfig;

/** How often within the limit the connection is checked. */
const looks = 10;

/** Private state of the driver's connection. */
type Inside = {
  readonly connection: { readonly stream: Socket };
  readonly _activeQuery: unknown;
  readonly _sentQueryQueue: readonly unknown[];
  readonly _queryQueue: readonly unknown[];
};

/** Closes a connection that waits for an answer and is silent for too long. Its pending queries fail. */
export function closeWhenSilent(client: object, { silentMs }: ConnectionLimits): void {
  const inside = client as Inside;
  const { stream } = inside.connection;
  const isWaiting = () =>
    Boolean(inside._activeQuery) || inside._sentQueryQueue.length > 0 || inside._queryQueue.length > 0;
  let read = stream.bytesRead;
  let silentSince: number | null = null;
  const timer = setInterval(() => {
    const now = performance.now();
    silentSince = stream.bytesRead === read && isWaiting() ? (silentSince ?? now) : null;
    read = stream.bytesRead;
    if (silentSince === null || now - silentSince < silentMs) return;
    clearInterval(timer);
    stream.destroy(new Error(`Connection terminated: the database sent nothing for ${silentMs} ms.`));
  }, silentMs / looks).unref();
  stream.once('close', () => clearInterval(timer));
}

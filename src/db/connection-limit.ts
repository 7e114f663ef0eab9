// How long PostgreSQL may take. Every connection has a limit for a statement, for a lock and for a transaction that does
// nothing, kept by the server, and a limit for silence, kept here: when the machine of the database vanishes, nothing
// closes its connections, and TCP alone would wait a quarter of an hour for an answer.

import type { Socket } from 'node:net';
import type { ClientConfig } from 'pg';

export type ConnectionLimits = {
  /** Longest time of one statement. */
  readonly statementMs: number;
  /** Longest wait for a lock, also an advisory one. */
  readonly lockMs: number;
  /** Longest time that a transaction may wait for its next statement. */
  readonly idleMs: number;
  /** A connection that was asked and sent nothing for so long is closed; more than a statement may take. */
  readonly silentMs: number;
};

/** Reads that answer a request, and locks of a session: many share a connection, and wait for each other. */
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
 * Migrations and the daily removal of what is old. They rewrite or scan whole tables, which takes as long as it takes;
 * they wait for locks no longer than others do, since everything else would wait behind them.
 */
export const maintenanceLimits: ConnectionLimits = {
  statementMs: 3_600_000,
  lockMs: 15_000,
  idleMs: 60_000,
  silentMs: 3_700_000,
};

/** After this much silence the operating system asks whether the other side is still there. */
const keepAliveAfterMs = 5_000;

export const optionsWithin = ({ statementMs, lockMs, idleMs }: ConnectionLimits) =>
  ({
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  }) satisfies ClientConfig;

/** Part of the limit between two looks. */
const looks = 10;

/** What the driver knows of a connection and does not say. */
type Inside = {
  readonly connection: { readonly stream: Socket };
  readonly _activeQuery: unknown;
  readonly _sentQueryQueue: readonly unknown[];
  readonly _queryQueue: readonly unknown[];
};

/** Closes a connection on which something was asked and nothing came back for too long. What waits on it then fails. */
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

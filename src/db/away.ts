// prettier-ignore
const awayCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT', 'ENOENT',
  // admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections, connection failures
  '57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006',
]);

/** query_canceled, lock_not_available, idle_in_transaction_session_timeout: one of the limits of a connection. */
const limitCodes: ReadonlySet<unknown> = new Set(['57014', '55P03', '25P03']);

/** Whether the database exceeded one of the limits of a connection (connection-limit.ts). */
export const isDatabaseSlow = (error: unknown): boolean =>
  limitCodes.has((error as { readonly code?: unknown }).code);

/** Whether the database is unreachable, or the connection was lost during a query. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'string' && awayCodes.has(code)) return true;
  return (
    typeof message === 'string' &&
    /connection terminated|not currently accepting connections|not queryable|timeout exceeded when trying to connect|connection error/i.test(
      message,
    )
  );
}

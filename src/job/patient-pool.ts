// The connections as graphile-worker is given them. Where it marks a job as done or failed, nobody waits for the answer:
// it tries again on errors with codes that it knows, and any other ends the process. A connection that broke, or a
// server that cannot be reached, is not among them, so such errors carry the code of a server that is starting.

import type { Pool, PoolClient } from 'pg';

/** cannot_connect_now */
const tryAgain = '57P03';

// prettier-ignore
const lostCodes = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT',
  // admin_shutdown, crash_shutdown, too_many_connections, connection failures
  '57P01', '57P02', '53300', '08000', '08001', '08003', '08004', '08006',
]);

function retold(error: unknown): never {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const isLost =
    (typeof code === 'string' && lostCodes.has(code)) ||
    (typeof message === 'string' &&
      /connection terminated|not queryable|timeout exceeded when trying to connect/i.test(message));
  throw isLost ? Object.assign(new Error(String(message), { cause: error }), { code: tryAgain }) : error;
}

/** The object itself, but for one of its methods. */
function withMethod<Target extends object>(target: Target, name: keyof Target, method: unknown): Target {
  return new Proxy(target, {
    get: (_target, key) => {
      if (key === name) return method;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const patientClient = (client: PoolClient): PoolClient =>
  withMethod(client, 'query', (...args: Parameters<PoolClient['query']>) => {
    const answer: unknown = client.query(...args);
    return answer instanceof Promise ? answer.catch(retold) : answer;
  });

export const patientPool = (pool: Pool): Pool =>
  withMethod(pool, 'connect', (callback?: Parameters<Pool['connect']>[0]) =>
    callback === undefined ? pool.connect().then(patientClient, retold) : pool.connect(callback),
  );

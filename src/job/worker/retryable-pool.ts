// The connection pool for graphile-worker. When the library marks a job as done or failed, it retries errors
// with codes that it knows; any other error is unhandled and ends the process. A broken connection and an
// unreachable or slow server are not among those codes, so such errors get the code of a server that is
// starting.

import type { Pool, PoolClient } from 'pg';
import { isDatabaseAway, isDatabaseSlow } from '#db/away.ts';

/** cannot_connect_now */
const tryAgain = '57P03';

function rethrowAsRetryable(error: unknown): never {
  if (!isDatabaseAway(error) && !isDatabaseSlow(error)) throw error;
  const { message } = error as Error;
  throw Object.assign(new Error(message, { cause: error }), { code: tryAgain });
}

/** The object with one of its methods or properties replaced. */
function withOther<Target extends object>(target: Target, name: keyof Target, other: unknown): Target {
  return new Proxy(target, {
    get: (_target, key) => {
      if (key === name) return other;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const patientClient = (client: PoolClient): PoolClient =>
  withOther(client, 'query', (...args: Parameters<PoolClient['query']>) => {
    const answer: unknown = client.query(...args);
    return answer instanceof Promise ? answer.catch(rethrowAsRetryable) : answer;
  });

/** Never settles. Nothing may wait for it. */
const never = <Result>(): Promise<Result> => new Promise(() => undefined);

/**
 * After its end the pool gives no connection and no error. The library still tries to mark a job as done that ended
 * while the server was away, and its error would end the process. The locks of an ended pool are released, and another
 * worker restarts the job.
 *
 * `jobs`: how many run at once. The library warns if that exceeds the connections, but jobs use other
 * connections.
 */
export function retryablePool(pool: Pool, jobs: number): Pool {
  const connect = () =>
    pool.ending ? never<PoolClient>() : pool.connect().then(patientClient, rethrowAsRetryable);
  const patient = withOther(pool, 'connect', (callback?: Parameters<Pool['connect']>[0]) =>
    callback === undefined ? connect() : pool.connect(callback),
  );
  return withOther(patient, 'options', { ...pool.options, max: jobs });
}

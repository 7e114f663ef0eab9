// The connections as graphile-worker is given them. Where it marks a job as done or failed, nobody waits for the answer:
// it tries again on errors with codes that it knows, and any other ends the process. A connection that broke, or a
// server that cannot be reached or takes too long, is not among them, so such errors carry the code of a server that is starting.

import type { Pool, PoolClient } from 'pg';
import { isDatabaseAway, isDatabaseSlow } from '#db/away.ts';

/** cannot_connect_now */
const tryAgain = '57P03';

function retold(error: unknown): never {
  if (!isDatabaseAway(error) && !isDatabaseSlow(error)) throw error;
  const { message } = error as Error;
  throw Object.assign(new Error(message, { cause: error }), { code: tryAgain });
}

/** The object itself, but for one of its methods or properties. */
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
    return answer instanceof Promise ? answer.catch(retold) : answer;
  });

/** `jobs`: how many there are at once. It warns where that is more than connections, but jobs have theirs elsewhere. */
export function patientPool(pool: Pool, jobs: number): Pool {
  const patient = withOther(pool, 'connect', (callback?: Parameters<Pool['connect']>[0]) =>
    callback === undefined ? pool.connect().then(patientClient, retold) : pool.connect(callback),
  );
  return withOther(patient, 'options', { ...pool.options, max: jobs });
}

// One connection that listens, for as long as the process wants to hear. What is said while it is lost is not heard, so
// whoever listens is told whenever it begins anew.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

type ListenOptions = {
  readonly url: string;
  readonly channel: string;
  readonly onNotice: (payload: string) => void;
  /** From now on everything is heard; what was said before may not have been. */
  readonly onBegin: () => void;
  readonly onError: (error: Error) => void;
};

export type Listener = {
  /** Settles when it has begun for the first time. */
  readonly begun: Promise<void>;
  readonly close: () => Promise<void>;
};

/** How soon a lost connection is tried again. */
const againMs = 500;
/** A connection that is dead without knowing it is found out by asking. */
const askEveryMs = 10_000;
const answerMs = 5_000;

export function listen({ url, channel, onNotice, onBegin, onError }: ListenOptions): Listener {
  const begun = Promise.withResolvers<void>();
  const closing = new AbortController();
  let client: Client | undefined;

  const hear = async (): Promise<void> => {
    client = new Client({
      connectionString: url,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
      keepAlive: true,
      application_name: 'signalbox listener',
    });
    const lost = new Promise<void>((resolve) => {
      client!.on('end', resolve);
      client!.on('error', (error) => {
        onError(error);
        resolve();
      });
    });
    client.on('notification', ({ payload }) => onNotice(payload ?? ''));
    await client.connect();
    await client.query(`listen ${channel}`);
    onBegin();
    begun.resolve();
    const asking = setInterval(() => {
      client!.query('select 1').catch(() => void client!.end().catch(() => undefined));
    }, askEveryMs);
    await lost;
    clearInterval(asking);
  };

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await hear().catch(onError);
      await client?.end().catch(() => undefined);
      await sleep(againMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    begun: begun.promise,
    close: async () => {
      closing.abort();
      await client?.end().catch(() => undefined);
      await running;
    },
  };
}

// One connection that listens on a channel until it is closed. Notices sent while the connection is lost do
// not arrive, so `onBegin` is called each time it listens again.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

type ListenOptions = {
  readonly url: string;
  readonly channel: string;
  readonly onNotice: (payload: string) => void;
  /** From now on every notice arrives; earlier ones may have been lost. */
  readonly onBegin: () => void;
  readonly onError: (error: Error) => void;
};

export type Listener = {
  /** Settles when it listens for the first time. */
  readonly begun: Promise<void>;
  readonly close: () => Promise<void>;
};

/** The pause before a lost connection is opened again. */
const againMs = 500;
/** A regular query detects a connection that broke without an error. */
const askEveryMs = 10_000;
const answerMs = 5_000;

export function listen({ url, channel, onNotice, onBegin, onError }: ListenOptions): Listener {
  const begun = Promise.withResolvers<void>();
  const closing = new AbortController();
  let client: Client | undefined;

  const listenUntilLost = async (): Promise<void> => {
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
      await listenUntilLost().catch(onError);
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

// A script that talks to Signalbox and does not give up: what fails because something is away is tried again until the
// time is over.

import { setTimeout as sleep } from 'node:timers/promises';
import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint/endpoint.ts';

export class RefusedError extends Error {
  readonly code: string;
  constructor(operation: string, code: string, message: string) {
    super(`${operation}: ${code}: ${message}`);
    this.code = code;
  }
}

export type Client = {
  readonly call: <Name extends Operation>(name: Name, body: object) => Promise<ResponseOf<Name>>;
  /** How often something was tried again, by status; 0 where there was no answer. */
  readonly retries: ReadonlyMap<number, number>;
};

export type ClientOptions = {
  /** Asked in turn. */
  readonly urls: readonly string[];
  readonly token: string;
  /** When to give up. */
  readonly signal: AbortSignal;
};

/** Longer than anything takes: a request that was given up on could still be carried out. */
const requestMs = 60_000;
const pauseMs = 250;

const isWorthRetrying = (status: number): boolean => status === 429 || status >= 500;

export function createClient({ urls, token, signal }: ClientOptions): Client {
  const retries = new Map<number, number>();
  let turn = 0;

  const attempt = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    try {
      const answer = await fetch(`${urls[turn++ % urls.length]!}${path}`, {
        method: 'POST',
        headers: { 'x-api-token': token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(requestMs),
      });
      return { status: answer.status, text: await answer.text() };
    } catch {
      return { status: 0, text: '' };
    }
  };

  return {
    retries,
    call: async (name, body) => {
      for (;;) {
        signal.throwIfAborted();
        const { status, text } = await attempt(endpoints[name].path, body);
        if (status === 200) return JSON.parse(text) as never;
        if (status !== 0 && !isWorthRetrying(status)) {
          const { code, message } = (JSON.parse(text) as { error: { code: string; message: string } }).error;
          throw new RefusedError(name, code, message);
        }
        retries.set(status, (retries.get(status) ?? 0) + 1);
        await sleep(pauseMs * (0.5 + Math.random()));
      }
    },
  };
}

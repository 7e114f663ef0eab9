// Every operation of the API as a typed call: what goes in and what comes out is the contract's. An answer is handed on
// as it came, so that `--json` shows all of it.

import type { z } from 'zod';
import { isQuestion } from '#contract/calls.ts';
import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint.ts';
import { answerOf, call } from './transport.ts';

/** Those that take JSON and answer with it. */
type CallName = Exclude<Operation, 'getMergeQueueMetrics' | 'uploadReport' | 'uploadClientMetrics'>;

type RequestIn<Name extends CallName> = z.input<(typeof endpoints)[Name]['request']>;

export type Api = {
  /** Without a slash at its end. */
  readonly url: string;
  readonly call: <Name extends CallName>(name: Name, request: RequestIn<Name>) => Promise<ResponseOf<Name>>;
};

export function createApi(url: string, token: string, timeoutMs = 15_000): Api {
  const headers = { 'x-api-token': token, 'content-type': 'application/json' };
  return {
    url,
    call: async (name, request) => {
      const { path, response } = endpoints[name];
      const sent = { method: 'POST', headers, body: JSON.stringify(request) };
      const patience = { timeoutMs, pauseMs: 400, isRepeatable: isQuestion(name) };
      // The table says of each name what it answers, which the compiler does not follow through the index.
      return answerOf(response, await call(`${url}${path}`, sent, patience)) as ResponseOf<typeof name>;
    },
  };
}

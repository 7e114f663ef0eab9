// Every operation of the API as a typed call, with the types of the contract. An answer is returned
// unchanged, so that `--json` shows all of it.

import type { z } from 'zod';
import { isQuestion } from '#contract/endpoint/calls.ts';
import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { parseServiceResponse, call } from './transport.ts';

/** The operations whose request and answer are JSON. */
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
      // The table has the response type of each name, which the compiler does not follow through the index.
      return parseServiceResponse(response, await call(`${url}${path}`, sent, patience)) as ResponseOf<
        typeof name
      >;
    },
  };
}

// POST /app/api/calls: what a page reads, in one request.
//
//   {"told":"7f3a…-12","calls":[{"operation":"getQueue","body":{…}},{"operation":"listPullRequests","body":{…}}]}
//   {"answers":[{"status":200,"body":{…}},{"status":404,"body":{"error":{…}}}]}
//
// Each call is let in, limited, counted and answered as if it had come alone: it goes through its own route. `told` is the
// id of the event because of which the page asks; answers that many pages ask for then are shared (shared-read.ts).

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { appError } from '#base/error.ts';
import { callsMax, isQuestion } from '#contract/calls.ts';
import { endpoints, type Operation } from '#contract/endpoint.ts';
import type { StreamHub } from '#event/stream.ts';
import { sessionOf } from './app-cookie.ts';
import { principalOf } from './app-session.ts';
import type { Caller } from './auth.ts';
import type { EndpointTools } from './endpoint.ts';
import { createSharedReads, heardOf } from './shared-read.ts';
import { parseInput } from './validate.ts';

const questions = (Object.keys(endpoints) as Operation[]).filter(
  (operation) => isQuestion(operation) && endpoints[operation].method === 'POST',
);

const CallsRequest = z.object({
  told: z.string().max(64).optional(),
  calls: z
    .array(z.object({ operation: z.enum(questions), body: z.record(z.string(), z.unknown()) }))
    .min(1)
    .max(callsMax),
});
type Call = z.output<typeof CallsRequest>['calls'][number];

/** What they answer changes only with what streams tell of. */
const shareable: ReadonlySet<Operation> = new Set([
  'getQueue',
  'getQueueGraph',
  'listQueues',
  'listPullRequests',
  'getSubmittedPullRequest',
  'getSubmittedPullRequests',
  'getMergeQueueTestingDetails',
]);

/** Questions of a page: they are read before the session is looked up. */
const callsBytesMax = 256 * 1024;

/** A server that closes takes no more calls of this kind; the page asks again. */
const isClosed = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code === 'FST_ERR_REOPENED_CLOSE_SERVER';
const closing = () =>
  appError('UNAVAILABLE', { public: 'The server is closing. Try again in a moment.', retryAfterSeconds: 1 });

/** As it goes over the wire. */
type Answer = { readonly status: number; readonly text: string };

export function addCallsRoute(
  app: FastifyInstance,
  tools: EndpointTools,
  hubs: ReadonlyMap<string, StreamHub>,
): void {
  const shared = createSharedReads<Answer>(({ status }) => status === 200);

  const callAlone = async (request: FastifyRequest, { operation, body }: Call): Promise<Answer> => {
    const { 'content-length': _length, 'content-encoding': _encoding, ...headers } = request.headers;
    delete headers['transfer-encoding'];
    const { statusCode, payload } = await app
      .inject({
        method: 'POST',
        url: `/app/api/call/${operation}`,
        headers: { ...headers, 'content-type': 'application/json', 'x-request-id': request.id },
        payload: JSON.stringify(body),
      })
      .catch((error: unknown) => {
        throw isClosed(error) ? closing() : error;
      });
    return { status: statusCode, text: payload };
  };

  const callShared = async (
    request: FastifyRequest,
    caller: Caller,
    told: string,
    calls: readonly Call[],
  ): Promise<readonly Answer[]> => {
    const { organizationId } = await principalOf(tools, request, caller, ['read']);
    const toldOf = heardOf(told);
    return Promise.all(
      calls.map((call) => {
        if (toldOf === null || !shareable.has(call.operation)) return callAlone(request, call);
        const key = JSON.stringify([caller.cell.name, organizationId, call.operation, call.body]);
        const heard = hubs.get(caller.cell.name)!.heard();
        return shared.read(key, toldOf, heard, Date.now(), () => callAlone(request, call));
      }),
    );
  };

  app.post('/app/api/calls', { bodyLimit: callsBytesMax }, async (request, reply) => {
    const caller = sessionOf(tools.deps.cells, request);
    const parsed = parseInput(CallsRequest, request.body ?? {});
    if (parsed.kind === 'invalid') {
      // What is wrong with it is told only to somebody who is signed in.
      await principalOf(tools, request, caller);
      throw parsed.error;
    }
    const { told, calls } = parsed.value;
    const answers =
      told === undefined
        ? await Promise.all(calls.map((call) => callAlone(request, call)))
        : await callShared(request, caller, told, calls);
    const text = answers.map(({ status, text: body }) => `{"status":${status},"body":${body}}`).join();
    return reply.type('application/json; charset=utf-8').send(`{"answers":[${text}]}`);
  });
}

// POST /app/api/calls: everything that a page reads, in one request.
//
//   {"lastSeenId":"7f3a…-12","calls":[{"operation":"getQueue","body":{…}},{"operation":"listQueues","body":{…}}]}
//   {"answers":[{"status":200,"body":{…}},{"status":404,"body":{"error":{…}}}]}
//
// Each call is authorized, limited, counted and answered as if it had been sent alone: it goes through its
// own route. `lastSeenId` is the id of the last event that the page received; pages that send the same call after
// an event share its answer (shared-read.ts). Without it, the calls are answered but not shared.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { appError } from '#base/error.ts';
import { callsMax, isQuestion } from '#contract/endpoint/calls.ts';
import { endpoints, type Operation } from '#contract/endpoint/endpoint.ts';
import type { StreamHub } from '#event/stream.ts';
import { readSessionCaller } from './app-cookie.ts';
import { readPrincipal } from './app-session.ts';
import type { Caller } from '../guard/auth.ts';
import type { EndpointTools } from '../endpoint/endpoint.ts';
import { createSharedReads, parseStreamVersion } from '../endpoint/shared-read.ts';
import { parseInput } from '../endpoint/validate.ts';

const questions = (Object.keys(endpoints) as Operation[]).filter(
  (operation) => isQuestion(operation) && endpoints[operation].method === 'POST',
);

const CallsRequest = z.object({
  lastSeenId: z.string().max(64).optional(),
  calls: z
    .array(z.object({ operation: z.enum(questions), body: z.record(z.string(), z.unknown()) }))
    .min(1)
    .max(callsMax),
});
type AppCall = z.output<typeof CallsRequest>['calls'][number];

/** Operations whose answers change only with what streams report. */
const shareable: ReadonlySet<Operation> = new Set([
  'getQueue',
  'getQueueGraph',
  'listQueues',
  'listPullRequests',
  'listPullRequestsToFix',
  'getSubmittedPullRequest',
  'getSubmittedPullRequests',
  'getMergeQueueTestingDetails',
]);

/** The calls of a page: the body is read before the session is looked up. */
const callsBytesMax = 256 * 1024;

/** A closing server takes no more injected calls; the page asks again. */
const isClosed = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code === 'FST_ERR_REOPENED_CLOSE_SERVER';
const closing = () =>
  appError('UNAVAILABLE', {
    public: 'The server is shutting down. Try again in a moment.',
    retryAfterSeconds: 1,
  });

/** The answer as it is sent. */
type AppCallAnswer = { readonly status: number; readonly text: string };

export function addCallsRoute(
  app: FastifyInstance,
  tools: EndpointTools,
  hubs: ReadonlyMap<string, StreamHub>,
): void {
  const shared = createSharedReads<AppCallAnswer>(tools.deps, ({ status }) => status === 200);

  const callAlone = async (request: FastifyRequest, { operation, body }: AppCall): Promise<AppCallAnswer> => {
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
    eventId: string,
    calls: readonly AppCall[],
  ): Promise<readonly AppCallAnswer[]> => {
    const { organizationId } = await readPrincipal(tools, request, caller, ['read']);
    const pagePosition = parseStreamVersion(eventId);
    return Promise.all(
      calls.map((call) => {
        if (pagePosition === null || !shareable.has(call.operation)) return callAlone(request, call);
        const key = JSON.stringify([caller.cell.name, organizationId, call.operation, call.body]);
        const processPosition = hubs.get(caller.cell.name)!.position();
        return shared.read(key, pagePosition, processPosition, () => callAlone(request, call));
      }),
    );
  };

  app.post('/app/api/calls', { bodyLimit: callsBytesMax }, async (request, reply) => {
    const caller = readSessionCaller(tools.deps.cells, request);
    const parsed = parseInput(CallsRequest, request.body ?? {});
    if (parsed.kind === 'invalid') {
      // Only a caller who is signed in learns what is wrong with the request.
      await readPrincipal(tools, request, caller);
      throw parsed.error;
    }
    const { lastSeenId, calls } = parsed.value;
    const answers =
      lastSeenId === undefined
        ? await Promise.all(calls.map((call) => callAlone(request, call)))
        : await callShared(request, caller, lastSeenId, calls);
    const text = answers.map(({ status, text: body }) => `{"status":${status},"body":${body}}`).join();
    return reply.type('application/json; charset=utf-8').send(`{"answers":[${text}]}`);
  });
}

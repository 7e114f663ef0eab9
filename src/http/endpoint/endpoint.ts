// One endpoint as a route: throttle, parse, authorize, handle, answer.
//
// The order of refusals is 401, 403, 429, then an invalid body, then an object that does not exist. The token
// is read in the same statement as the objects that the request names, so it is known only after the body;
// anything that stops a request before that (authorizeFirst) checks the token first, so that an unknown
// caller learns nothing.

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '#base/error.ts';
import type { Endpoint } from '#contract/endpoint/endpoint-type.ts';
import { endpoints, type Operation } from '#contract/endpoint/endpoint.ts';
import type { Cells } from '#db/cell.ts';
import { actorName, authorize, type Caller, readTokenCaller, type Throttle } from '../guard/auth.ts';
import type { BodyBudget } from '../body/body-budget.ts';
import { decodedBody, declaredBytes, largeBodyBytes } from '../body/body.ts';
import type { Context, Handler } from './context.ts';
import type { Deps } from '../deps.ts';
import type { ReadForecast } from './forecast.ts';
import type { ReadQueueGraph } from './queue-graph.ts';
import { extractScopeKey } from '../guard/scope-key.ts';
import type { Share } from '../guard/share.ts';
import type { Strangers } from '../guard/stranger.ts';
import type { UploadAddresses } from '../guard/upload-address.ts';
import { parseInput } from './validate.ts';

/** What is known about a request so far. */
type RequestProgress = { caller?: Caller; wasThrottled?: boolean; organizationId?: string };

export type EndpointTools = {
  readonly deps: Deps;
  readonly throttleFor: (operation: Operation) => Throttle;
  readonly budget: BodyBudget;
  readonly heavyReads: Share;
  readonly strangers: Strangers;
  readonly readForecast: ReadForecast;
  readonly readQueueGraph: ReadQueueGraph;
  readonly addresses: UploadAddresses;
  readonly progress: WeakMap<FastifyRequest, RequestProgress>;
};

/** How a call arrives, and how its caller is identified there. */
export type Entrance = {
  readonly urlOf: (operation: Operation) => string;
  readonly callerOf: (cells: Cells, request: FastifyRequest, endpoint: Endpoint) => Caller;
};

/** Reads that may scan all tests or all pull requests of an organization. */
const heavyOperations: ReadonlySet<Operation> = new Set([
  'searchPullRequests',
  'searchTests',
  'listUnhealthyTests',
  'listQuarantinedTests',
  'listFailingTests',
  'getQuarantineSummary',
  'tryHealthSettings',
  'getTestAccuracy',
  'getQueueHistory',
  'getFailurePredictions',
  'listMergeQueueTestingResults',
]);

const byToken: Entrance = { urlOf: (operation) => endpoints[operation].path, callerOf: readTokenCaller };

export function addEndpoint(
  app: FastifyInstance,
  tools: EndpointTools,
  operation: Operation,
  handler: Handler<Operation>,
  entrance: Entrance = byToken,
): void {
  const endpoint: Endpoint = endpoints[operation];
  const throttle = tools.throttleFor(operation);
  const isHeavy = heavyOperations.has(operation);
  const { deps, progress } = tools;

  app.route({
    method: endpoint.method,
    url: entrance.urlOf(operation),
    config: { operation },
    onRequest: (request, _reply, done) => {
      const caller = entrance.callerOf(deps.cells, request, endpoint);
      const wasThrottled = throttle.early(caller, performance.now());
      progress.set(request, { caller, wasThrottled });
      done();
    },
    preParsing: async (request, reply, payload) => {
      const bytes = declaredBytes(request);
      if (bytes > largeBodyBytes) {
        const organizationId = await authorizeFirst(tools, request, endpoint);
        const release = await tools.budget.acquire(bytes, organizationId);
        reply.raw.once('close', release);
      }
      return decodedBody(request, payload);
    },
    handler: async (request, reply) => {
      const isQuery = endpoint.method === 'GET' || endpoint.body !== undefined;
      const parsed = parseInput(endpoint.request, (isQuery ? request.query : request.body) ?? {});
      if (parsed.kind === 'invalid') throw await refused(tools, request, endpoint, parsed.error);
      const known = progress.get(request)!;
      const caller = known.caller!;
      const authorized = () => authorize(caller, endpoint, extractScopeKey(parsed.value));
      const scope = await (
        known.wasThrottled || known.organizationId !== undefined
          ? authorized()
          : tools.strangers.admit(request.ip, authorized)
      ).catch((error: unknown) => {
        throttle.forget(caller);
        throw error;
      });
      const { organizationId } = scope.principal;
      known.organizationId = organizationId;
      throttle.late(caller, scope.principal, known.wasThrottled ?? false, performance.now());
      const context: Context = {
        deps,
        readForecast: tools.readForecast,
        readQueueGraph: tools.readQueueGraph,
        cell: isHeavy ? { ...caller.cell, reader: caller.cell.heavyReader } : caller.cell,
        caller,
        scope,
        actor: actorName(caller, scope.principal),
        origin: publicOrigin(deps, request),
        addresses: tools.addresses,
        body: request.body instanceof Readable ? request.body : null,
        now: deps.clock.now(),
      };
      const handled = () => handler(context, parsed.value as never);
      return answer(
        reply,
        endpoint,
        await (isHeavy ? tools.heavyReads.run(organizationId, handled) : handled()),
      );
    },
  });
}

const publicOrigin = ({ config }: Deps, request: FastifyRequest): string =>
  config.isPublicUrlGiven ? config.publicUrl : `${request.protocol}://${request.host}`;

function answer(reply: FastifyReply, endpoint: Endpoint, result: unknown): FastifyReply {
  if (endpoint.response === null) return reply.type('text/plain; version=0.0.4; charset=utf-8').send(result);
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(result));
}

/** The error to answer with: that of the token if it is invalid, else the given one. */
export async function refused(
  tools: EndpointTools,
  request: FastifyRequest,
  endpoint: Pick<Endpoint, 'scopes' | 'takesBearer'>,
  error: AppError,
): Promise<AppError> {
  await authorizeFirst(tools, request, endpoint);
  return error;
}

/** Returns the organization of the caller. */
async function authorizeFirst(
  { progress, deps, strangers }: EndpointTools,
  request: FastifyRequest,
  endpoint: Pick<Endpoint, 'scopes' | 'takesBearer'>,
): Promise<string> {
  const known = progress.get(request) ?? {};
  if (known.organizationId !== undefined) return known.organizationId;
  const caller = known.caller ?? readTokenCaller(deps.cells, request, endpoint);
  const authorized = () => authorize(caller, endpoint, {});
  const { principal } = await (known.wasThrottled ? authorized() : strangers.admit(request.ip, authorized));
  const { organizationId } = principal;
  progress.set(request, { ...known, caller, organizationId });
  return organizationId;
}

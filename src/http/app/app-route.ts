// The dashboard's calls: the same operations, schemas and handlers as /v1, authorized by a session.

import type { FastifyInstance } from 'fastify';
import { endpoints } from '#contract/endpoint/endpoint.ts';
import { addCallsRoute } from './app-calls.ts';
import { readSessionCaller } from './app-cookie.ts';
import { addOidcRoutes } from './app-oidc.ts';
import { requireOwnPage } from './app-origin.ts';
import { addSessionRoutes } from './app-session.ts';
import { addStreamRoute, createHubs } from './app-stream.ts';
import { addEndpoint, type EndpointTools, type Entrance } from '../endpoint/endpoint.ts';
import { isRaw, type OperationHandler } from '../route/handler.ts';

const bySession: Entrance = {
  urlOf: (operation) => `/app/api/call/${operation}`,
  callerOf: readSessionCaller,
};

export async function addAppRoutes(
  server: FastifyInstance,
  tools: EndpointTools,
  handlers: readonly OperationHandler[],
): Promise<void> {
  await addOidcRoutes(server, tools);
  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', (request, reply, next) => {
      reply.header('cache-control', 'no-store');
      requireOwnPage(tools.deps, request);
      next();
    });
    addSessionRoutes(scope, tools);
    const hubs = createHubs(tools.deps);
    addStreamRoute(scope, tools, hubs);
    addCallsRoute(scope, tools, hubs);
    for (const row of handlers)
      if (endpoints[row[0]].method === 'POST' && !isRaw(row)) addEndpoint(scope, tools, ...row, bySession);
    done();
  });
}

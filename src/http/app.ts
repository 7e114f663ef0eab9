// The API server.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { availableParallelism } from 'node:os';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { appError } from '#base/error.ts';
import { endpoints, type Operation } from '#contract/endpoint.ts';
import { openApiDocument } from '#contract/openapi.ts';
import { renderCellMetrics } from '#event/cell-metrics.ts';
import { addAppRoutes } from './app-route.ts';
import { addStaticRoutes } from './app-static.ts';
import { createThrottle } from './auth.ts';
import { createBodyBudget } from './body-budget.ts';
import { bodyBytesMax } from './body.ts';
import { createCellReadings } from './cell-reading.ts';
import type { Deps } from './deps.ts';
import { addEndpoint, type EndpointTools, refused } from './endpoint.ts';
import { sendError, toAppError } from './error-handler.ts';
import { createForecasts } from './forecast.ts';
import { readJson } from './json-body.ts';
import { createQueueGraphs } from './queue-graph.ts';
import { createProcessMetrics } from './process-metrics.ts';
import { createRateLimiter } from './rate-limit.ts';
import { addRequestSpans } from './request-span.ts';
import { handlersFor, isRaw, type OperationHandler } from './route/handler.ts';
import { addSandboxGit } from './sandbox-git.ts';
import { createShare } from './share.ts';
import { closeWhenSlow } from './slow-body.ts';
import { createStrangers } from './stranger.ts';
import { addUploadRoute, createUploadAddresses } from './upload-address.ts';
import { closeUnusedConnections } from './unused-connection.ts';
import { addWebhookRoute } from './webhook.ts';

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- an augmentation must be an interface
  interface FastifyContextConfig {
    /** The operation of the contract behind a route. */
    operation?: Operation;
  }
}

/** Memory that large request bodies may take at once, by what they declare. */
const largeBodiesBytesMax = 64 * 1_048_576;
/** What one organization may have of that: two bodies that do not say how large they are. */
const ownBodiesBytesMax = 40 * 1_048_576;

/** Reads that may take long: one organization uses half of the processors at most, and so many more may wait. */
const heavyReadsMax = Math.max(1, Math.floor(availableParallelism() / 2));
const heavyReadsWaitingMax = 100;

/** Time in which a request must have come whole. Bundles are large, and their senders may be slow. */
const requestMs = 120_000;
const bundleMs = 1_800_000;

export type App = {
  readonly server: FastifyInstance;
  /** From now on /readyz says no, and connections are closed as their requests end. */
  readonly drain: () => void;
};

export async function createApp(deps: Deps): Promise<App> {
  const server = fastify({
    bodyLimit: bodyBytesMax,
    genReqId: requestIdOf,
    // A request under way when the server closes is answered as ever.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: 72_000,
    requestTimeout: bundleMs,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 200 },
  });
  closeUnusedConnections(server);
  const state = { draining: false };
  const addresses = createUploadAddresses(deps);
  const tools: EndpointTools = {
    deps,
    throttleFor: throttles(deps),
    budget: createBodyBudget(largeBodiesBytesMax, ownBodiesBytesMax),
    heavyReads: createShare(heavyReadsMax, heavyReadsWaitingMax),
    strangers: createStrangers(),
    readForecast: createForecasts(),
    readQueueGraph: createQueueGraphs(),
    addresses,
    progress: new WeakMap(),
  };
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', readJson);
  addRequestSpans(server);
  addHooks(server, deps, state);
  addErrorHandling(server, tools);
  const handlers = handlersFor(deps.config);
  await addOperations(server, tools, handlers);
  await addAppRoutes(server, tools, handlers);
  await addStaticRoutes(server, deps);
  addServicePaths(server, deps, state);
  await addUploadRoute(server, deps, addresses);
  await addWebhookRoute(server, tools);
  if (deps.config.sandbox !== 'off') await addSandboxGit(server, tools);
  await addDocumentation(server, deps);
  return { server, drain: () => (state.draining = true) };
}

/** The caller's request id if it sent a sane one, else ours. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Open pages all ask at once when something changes, and mostly share the answer. */
const pagesShare = 10;

function throttles({ config: { rateLimit } }: Deps): EndpointTools['throttleFor'] {
  const limiter = (times: number) => createRateLimiter(rateLimit.perSecond * times, rateLimit.burst * times);
  const ordinary = createThrottle({ token: limiter(1), session: limiter(pagesShare) });
  const scraped = createRateLimiter(rateLimit.metricsPerSecond, rateLimit.metricsPerSecond);
  const metrics = createThrottle({ token: scraped, session: scraped });
  return (operation) => (operation === 'getMergeQueueMetrics' ? metrics : ordinary);
}

const processMetrics = createProcessMetrics();

/** A year in which a browser that was here comes back over https only. */
const strictTransport = 'max-age=31536000';

function addHooks(
  server: FastifyInstance,
  { config, log }: Deps,
  state: { readonly draining: boolean },
): void {
  const isHttps = config.isPublicUrlGiven && config.publicUrl.startsWith('https:');
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    if (isHttps) reply.header('strict-transport-security', strictTransport);
    requireOwnName(config, request);
    if (state.draining) reply.header('connection', 'close');
    limitArrival(request);
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config.operation ?? 'other';
    processMetrics.observe(operation, reply.statusCode, reply.elapsedTime / 1000);
    log.debug(
      { requestId: request.id, operation, status: reply.statusCode, durationMs: reply.elapsedTime },
      'request served',
    );
    // A connection whose request was under way when the server began to close is kept alive by nothing else.
    if (state.draining) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * A server that only this machine reaches answers by the names of this machine: a page in a browser here could otherwise
 * reach it under a name of its own (DNS rebinding). Behind a proxy, say how people reach it (SIGNALBOX_PUBLIC_URL).
 */
function requireOwnName({ address, isPublicUrlGiven }: Deps['config'], { host }: FastifyRequest): void {
  if (isPublicUrlGiven || !loopback.test(address) || host === '' || loopback.test(host)) return;
  throw appError('CROSS_SITE_REFUSED', {
    public: 'This server does not answer by that name. Set SIGNALBOX_PUBLIC_URL to how people reach it.',
  });
}

function limitArrival({ raw, url }: FastifyRequest): void {
  const hasBody =
    raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0;
  if (!hasBody) return;
  closeWhenSlow(raw);
  if (url.startsWith('/uploads/')) return;
  const timer = setTimeout(() => raw.destroy(), requestMs).unref();
  raw.once('close', () => clearTimeout(timer));
}

const isUnderApi = (request: FastifyRequest): boolean => /^\/(sandbox\/)?v1(\/|$|\?)/.test(request.url);

function addErrorHandling(server: FastifyInstance, tools: EndpointTools): void {
  const { log } = tools.deps;
  server.setErrorHandler(async (error, request, reply) => {
    const { operation } = request.routeOptions.config;
    const endpoint = operation === undefined ? undefined : endpoints[operation];
    let told = toAppError(error);
    // What stopped the body from being read is told only to somebody with a token.
    if (endpoint !== undefined && ![401, 403, 429, 503].includes(told.status))
      told = await refused(tools, request, endpoint, told).catch(toAppError);
    sendError(log, request, reply, told);
    return reply;
  });

  const methods = new Map<string, string[]>();
  for (const { path, method } of Object.values(endpoints))
    methods.set(path, [...(methods.get(path) ?? []), method]);
  server.setNotFoundHandler(async (request, reply) => {
    const [path = ''] = request.url.split('?');
    const allowed =
      server.hasRoute({ url: path, method: 'POST' }) || server.hasRoute({ url: path, method: 'GET' });
    const allow = allowed ? methods.get(path)?.join(', ') : undefined;
    const error =
      allow === undefined
        ? appError('ROUTE_NOT_FOUND', { public: `There is no ${path}. See /docs for what there is.` })
        : appError('METHOD_NOT_ALLOWED', { public: `${path} takes ${allow}, not ${request.method}.`, allow });
    const told = isUnderApi(request)
      ? await refused(tools, request, { scopes: [] }, error).catch(toAppError)
      : error;
    sendError(log, request, reply, told);
    return reply;
  });
}

async function addOperations(
  server: FastifyInstance,
  tools: EndpointTools,
  handlers: readonly OperationHandler[],
): Promise<void> {
  for (const row of handlers) if (!isRaw(row)) addEndpoint(server, tools, ...row);
  await server.register((scope, _options, done) => {
    // Whatever type they say they are.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    for (const row of handlers) if (isRaw(row)) addEndpoint(scope, tools, ...row);
    done();
  });
}

function addServicePaths(
  server: FastifyInstance,
  { cells, log }: Deps,
  state: { readonly draining: boolean },
): void {
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (state.draining) return reply.code(503).send({ status: 'shutting down' });
    try {
      await Promise.all(cells.all.map((cell) => sql`select 1`.execute(cell.reader)));
      return { status: 'ready' };
    } catch (error) {
      log.warn({ err: error }, 'a cell cannot be reached');
      return reply.code(503).header('retry-after', '2').send({ status: 'database unreachable' });
    }
  });
  const readCells = createCellReadings(cells.all, log);
  server.get('/metrics', async (_request, reply) => {
    const [process, readings] = await Promise.all([processMetrics.render(), readCells()]);
    return reply.type(processMetrics.contentType).send(process + renderCellMetrics(readings));
  });
}

/** The name in the head of /docs. */
const logo = {
  type: 'image/svg+xml',
  content: Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 170 40"><circle cx="18" cy="20" r="9" fill="#3fb950"/>' +
      '<text x="36" y="28" font-family="sans-serif" font-size="24" font-weight="600" fill="#fff">Signalbox</text></svg>',
  ),
  href: '/docs',
};

/** By address and version. Generating it takes a tenth of a second: a process that opens several servers does it once. */
const documentTexts = new Map<string, string>();

async function addDocumentation(server: FastifyInstance, { config, version }: Deps): Promise<void> {
  const { publicUrl } = config;
  const key = `${version} ${publicUrl}`;
  const text = documentTexts.get(key) ?? JSON.stringify(openApiDocument({ publicUrl, version }));
  documentTexts.set(key, text);
  const document = JSON.parse(text) as object;
  server.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
  await server.register(swagger, { mode: 'static', specification: { document: document as never } });
  await server.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, logo });
}

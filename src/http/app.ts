// The API server.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { availableParallelism } from 'node:os';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { endpoints, type Operation } from '#contract/endpoint/endpoint.ts';
import { exchangeCiToken } from '#contract/endpoint/endpoint-token.ts';
import { openApiDocument } from '#contract/endpoint/openapi.ts';
import { ping } from '#db/statement.ts';
import { renderCellMetrics } from '#event/cell-metrics.ts';
import { addAppRoutes } from './app/app-route.ts';
import { addStaticRoutes } from './app/app-static.ts';
import { createThrottle } from './guard/auth.ts';
import { createBodyBudget } from './body/body-budget.ts';
import { bodyBytesMax } from './body/body.ts';
import { createCellReadings } from './endpoint/cell-reading.ts';
import type { Deps } from './deps.ts';
import { addEndpoint, type EndpointTools, refused } from './endpoint/endpoint.ts';
import { sendError, toAppError } from './error-handler.ts';
import { createForecasts } from './endpoint/forecast.ts';
import { readJson } from './body/json-body.ts';
import { createQueueGraphs } from './endpoint/queue-graph.ts';
import { createProcessMetrics } from './process-metrics.ts';
import { createRateLimiter } from './guard/rate-limit.ts';
import { addRequestSpans } from './request-span.ts';
import { handlersFor, isRaw, type OperationHandler } from './route/handler.ts';
import { addSandboxGit } from './sandbox-git.ts';
import { createShare } from './guard/share.ts';
import { closeWhenSlow } from './body/slow-body.ts';
import { createStrangers } from './guard/stranger.ts';
import { addUploadRoute, createUploadAddresses } from './guard/upload-address.ts';
import { closeUnusedConnections } from './body/unused-connection.ts';
import { addExchangeRoute } from './route/exchange.ts';
import { addWebhookRoute } from './webhook.ts';

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- an augmentation must be an interface
  interface FastifyContextConfig {
    /** The operation of the contract behind a route. */
    operation?: Operation;
  }
}

/** Memory that large request bodies may take at once, by their declared size. */
const largeBodiesBytesMax = 64 * 1_048_576;
/** Share of one organization: two bodies of undeclared size. */
const ownBodiesBytesMax = 40 * 1_048_576;

/**
 * Slow reads: one organization may run this many at once, for half of the time if it always has more, and have
 * `heavyReadsWaitingMax` more waiting.
 */
const heavyReadsMax = Math.max(1, Math.floor(availableParallelism() / 2));
const heavyReadsWaitingMax = 100;

/** Time in which the whole request must arrive. Bundles are large, and their senders may be slow. */
const requestMs = 120_000;
const bundleMs = 1_800_000;

/** How long a reading for /readyz is kept. */
const readyMs = 500;

export type App = {
  readonly server: FastifyInstance;
  /** From now on /readyz fails, and connections are closed as their requests end. */
  readonly drain: () => void;
};

export async function createApp(deps: Deps): Promise<App> {
  const server = fastify({
    bodyLimit: bodyBytesMax,
    genReqId: chooseRequestId,
    // A request in progress when the server closes is answered as usual.
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
    heavyReads: createShare(heavyReadsMax, heavyReadsWaitingMax, true),
    strangers: createStrangers(),
    readForecast: createForecasts(deps),
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
  addExchangeRoute(server, deps);
  if (deps.config.sandbox !== 'off') await addSandboxGit(server, tools);
  await addDocumentation(server, deps);
  return { server, drain: () => (state.draining = true) };
}

/** The caller's request id if it sent a valid one, else a new one. */
function chooseRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** All open pages send requests at once when something changes, and mostly share the answer. */
const pagesShare = 10;

function throttles({ config: { rateLimit } }: Deps): EndpointTools['throttleFor'] {
  const limiter = (times: number) => createRateLimiter(rateLimit.perSecond * times, rateLimit.burst * times);
  const ofTokens = limiter(1);
  const ordinary = createThrottle({ token: ofTokens, job: ofTokens, session: limiter(pagesShare) });
  const scraped = createRateLimiter(rateLimit.metricsPerSecond, rateLimit.metricsPerSecond);
  const metrics = createThrottle({ token: scraped, job: scraped, session: scraped });
  return (operation) => (operation === 'getMergeQueueMetrics' ? metrics : ordinary);
}

const processMetrics = createProcessMetrics();

/** For a year, a browser that was here uses https only. */
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
    // When the server closes, nothing else closes the connection of a request that was in progress.
    if (state.draining) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * A server that only this machine reaches answers only to names of this machine: otherwise a page in a
 * browser here could reach it under another name (DNS rebinding). Behind a proxy, SIGNALBOX_PUBLIC_URL sets
 * the public name.
 */
function requireOwnName({ address, isPublicUrlGiven }: Deps['config'], { host }: FastifyRequest): void {
  if (isPublicUrlGiven || !loopback.test(address) || host === '' || loopback.test(host)) return;
  throw appError('CROSS_SITE_REFUSED', {
    public:
      'This server does not accept requests for that host name. Set SIGNALBOX_PUBLIC_URL to the URL that people use.',
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
    let responseError = toAppError(error);
    // Only a caller with a valid token learns why the body could not be read.
    if (endpoint !== undefined && ![401, 403, 429, 503].includes(responseError.status))
      responseError = await refused(tools, request, endpoint, responseError).catch(toAppError);
    sendError(log, request, reply, responseError);
    return reply;
  });

  const methods = new Map<string, string[]>();
  for (const { path, method } of [...Object.values(endpoints), exchangeCiToken])
    methods.set(path, [...(methods.get(path) ?? []), method]);
  server.setNotFoundHandler(async (request, reply) => {
    const [path = ''] = request.url.split('?');
    const allowed =
      server.hasRoute({ url: path, method: 'POST' }) || server.hasRoute({ url: path, method: 'GET' });
    const allow = allowed ? methods.get(path)?.join(', ') : undefined;
    const error =
      allow === undefined
        ? appError('ROUTE_NOT_FOUND', { public: `There is no ${path}. See /docs for the available paths.` })
        : appError('METHOD_NOT_ALLOWED', {
            public: `${path} accepts ${allow}, not ${request.method}.`,
            allow,
          });
    const responseError = isUnderApi(request)
      ? await refused(tools, request, { scopes: [] }, error).catch(toAppError)
      : error;
    sendError(log, request, reply, responseError);
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
    // Any content type is accepted.
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
  // Shared by all callers for a moment: anyone may call it, and each reading takes connections.
  const reachable = createTtlCache<true>({ max: 1, ttlMs: readyMs });
  const pingAll = () => Promise.all(cells.all.map((cell) => ping(cell.reader))).then(() => true as const);
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (state.draining) return reply.code(503).send({ status: 'shutting down' });
    try {
      await reachable.load('all', pingAll);
      return { status: 'ready' };
    } catch (error) {
      log.warn({ err: error }, 'cell database unreachable');
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

/** By URL and version. Generating one takes a tenth of a second, so each is generated once per process. */
const documentTexts = new Map<string, string>();

async function addDocumentation(server: FastifyInstance, { config, version }: Deps): Promise<void> {
  const { publicUrl } = config;
  const key = `${version} ${publicUrl}`;
  const text = documentTexts.get(key) ?? JSON.stringify(openApiDocument({ publicUrl, version }));
  documentTexts.set(key, text);
  const document = JSON.parse(text) as object;
  server.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
  await server.register(swagger, { mode: 'static', specification: { document: document as never } });
  // The page needs nothing from other servers: the library would allow styles and fonts from any.
  const transformStaticCSP = (header: string) => header.replaceAll(/ https:(?=[ ;]|$)/g, '');
  await server.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, transformStaticCSP, logo });
}

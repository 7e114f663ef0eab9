// Traces a request as a span, named by its route and never by its URL, which may hold private data.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { beginSpan, type Span } from '#base/trace.ts';

/** Polled by machines every few seconds: these would be most of the stored spans. */
const passedOver: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export function addRequestSpans(server: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  server.addHook('onRequest', (request, _reply, done) => {
    const span = begin(request);
    if (span === null) return done();
    spans.set(request, span);
    return span.run(done);
  });
  // A body arrives by socket events, which run outside of the request's span.
  server.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    return span === undefined ? done() : span.run(done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    if (span !== undefined) end(span, reply);
    done();
  });
}

function begin(request: FastifyRequest): Span | null {
  const { method, headers, routeOptions } = request;
  const route = routeOptions.url;
  if (route !== undefined && passedOver.has(route)) return null;
  const { traceparent } = headers;
  return beginSpan({
    name: `${method} ${route ?? '(no route)'}`,
    kind: 'server',
    attributes: {
      'http.request.method': method,
      'signalbox.request.id': request.id,
      ...(route === undefined ? {} : { 'http.route': route }),
    },
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  });
}

function end(span: Span, { statusCode }: FastifyReply): void {
  span.set({ 'http.response.status_code': statusCode });
  // A mistake of the caller is not an error of Signalbox.
  if (statusCode >= 500) span.end(String(statusCode));
  else span.end();
}

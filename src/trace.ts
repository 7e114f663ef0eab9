// OpenTelemetry traces, loaded only if they are configured: turns the calls of base/trace.ts into spans, and
// sends them in batches. If a collector does not answer, spans are lost and nothing else.

import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import {
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '#base/log.ts';
import { type SpanBegin, setTracer, type Tracer } from '#base/trace.ts';
import type { TraceConfig } from '#config/trace.ts';

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** The last spans are not worth a slow shutdown. */
const flushMs = 2_000;

/** Returns a function that sends the remaining spans and stops. */
export function startTracing(config: TraceConfig, version: string, log: Log): () => Promise<void> {
  logTracingErrors(log);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const exporter = new OTLPTraceExporter({ url: config.url, headers: { ...config.headers } });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      ...config.attributes,
      'service.name': config.serviceName,
    }),
    sampler: createSampler(config),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  setTracer(createTracer(provider, version));
  return async () => {
    setTracer(null);
    const late = setTimeoutPromise(flushMs, 'late', { ref: false });
    const sent = await Promise.race([provider.shutdown().catch(() => 'late'), late]);
    if (sent === 'late') log.warn({ detail: 'while shutting down' }, 'traces could not be sent');
  };
}

function createTracer(provider: TracerProvider, version: string): Tracer {
  const tracer = provider.getTracer('signalbox', version);
  return (begin) => {
    const within = resolveParentContext(begin);
    const span = tracer.startSpan(
      begin.name,
      { kind: kinds[begin.kind], attributes: { ...begin.attributes } },
      within,
    );
    const inside = trace.setSpan(within, span);
    return {
      run: (work) => context.with(inside, work),
      set: (attributes) => void span.setAttributes({ ...attributes }),
      end: (error) => {
        if (error !== undefined) {
          span.setAttribute('error.type', getErrorType(error));
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
}

const getErrorType = (error: unknown): string =>
  typeof error === 'string' ? error : error instanceof Error ? error.name : 'error';

const resolveParentContext = ({ traceparent }: SpanBegin) => {
  const caller = traceparent === undefined ? null : parseTraceparent(traceparent);
  return caller === null ? context.active() : trace.setSpanContext(ROOT_CONTEXT, caller);
};

/** Parses a `traceparent` header; null if it is invalid. */
function parseTraceparent(header: string): SpanContext | null {
  const found =
    /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(header);
  if (found === null) return null;
  const [, traceId, spanId, flags] = found;
  return { traceId: traceId!, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true };
}

function createSampler({ sampler, ratio }: TraceConfig): Sampler {
  const [, parent, name] = /^(parentbased_)?(.*)$/.exec(sampler)!;
  const root =
    name === 'always_off'
      ? new AlwaysOffSampler()
      : name === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return parent === undefined ? root : new ParentBasedSampler({ root });
}

/** Logs the library's warnings, most of all that the collector does not answer. */
function logTracingErrors(log: Log): void {
  const warn = (detail: string) => log.warn({ detail: detail.slice(0, 500) }, 'traces could not be sent');
  const quiet = () => undefined;
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

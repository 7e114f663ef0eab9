// The standard variables of OpenTelemetry for traces. The exporter reads the others (timeouts, certificates,
// compression).

import { z } from 'zod';

const address = z.url({ protocol: /^https?$/, message: 'must be an http or https URL' });

/** Comma-separated `name=value` items, values percent-encoded. */
const pairs = z.string().transform((text, context): Record<string, string> => {
  const entries = text
    .split(',')
    .filter((item) => item.trim() !== '')
    .map((item) => {
      const at = item.indexOf('=');
      // The wrong value may be a secret: it is not repeated.
      if (at < 1) context.addIssue({ code: 'custom', message: 'must be comma-separated name=value items' });
      return [item.slice(0, at).trim(), decoded(item.slice(at + 1).trim())] as const;
    });
  return Object.fromEntries(entries);
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export const traceVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: address.optional(),
    doc: 'URL of the collector that receives traces by OTLP over HTTP, for example `http://collector.internal:4318`; Signalbox appends `/v1/traces`. Default: no tracing.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    schema: address.optional(),
    doc: 'The same as a complete URL, to which Signalbox appends nothing.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: pairs.optional(),
    doc: 'Headers of the requests to the collector, for example `authorization=Bearer%20…`: comma-separated `name=value` items with percent-encoded values.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z.string().optional(),
    doc: 'Protocol of the exporter. Signalbox supports only `http/protobuf`.',
  },
  OTEL_SERVICE_NAME: {
    schema: z.string().max(255).default('signalbox'),
    doc: 'Name of the service in traces.',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    schema: pairs.optional(),
    doc: 'Additional attributes of every trace, for example `deployment.environment.name=production`: comma-separated `name=value` items.',
  },
  OTEL_TRACES_SAMPLER: {
    schema: z.enum(samplers).default('parentbased_always_on'),
    doc: 'Sampler: `always_on`, `always_off`, `traceidratio`, or one of them with the prefix `parentbased_`, which follows the decision of a caller that sent a `traceparent`.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .transform(Number)
      .pipe(z.number().min(0, 'must be at least 0').max(1, 'must be at most 1'))
      .optional(),
    doc: 'Share of traces that `traceidratio` keeps, from 0 to 1. Default: 1.',
  },
  OTEL_TRACES_EXPORTER: {
    schema: z.string().optional(),
    doc: '`none`: no tracing. Any other value has no effect.',
  },
  OTEL_SDK_DISABLED: {
    schema: z.string().optional(),
    doc: '`true`: no tracing.',
  },
} as const;

type TraceVariables = typeof traceVariables;
type ParsedTraceVariables = {
  readonly [Name in keyof TraceVariables]: z.output<TraceVariables[Name]['schema']>;
};

export type TraceConfig = {
  /** A complete URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly sampler: (typeof samplers)[number];
  /** The share that `traceidratio` keeps, from 0 to 1. */
  readonly ratio: number;
};

const isOff = (parsed: ParsedTraceVariables): boolean =>
  parsed.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || parsed.OTEL_TRACES_EXPORTER === 'none';

/** Null: tracing is off. */
export function buildTraceConfig(parsed: ParsedTraceVariables): TraceConfig | null {
  const base = parsed.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url =
    parsed.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (base === undefined ? null : `${base.replace(/\/$/, '')}/v1/traces`);
  if (url === null || isOff(parsed)) return null;
  return {
    url,
    headers: parsed.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: parsed.OTEL_SERVICE_NAME,
    attributes: parsed.OTEL_RESOURCE_ATTRIBUTES ?? {},
    sampler: parsed.OTEL_TRACES_SAMPLER,
    ratio: parsed.OTEL_TRACES_SAMPLER_ARG ?? 1,
  };
}

/** A collector that is configured for a whole machine may use a protocol that Signalbox does not support. */
export function traceProblems(env: Readonly<Record<string, string | undefined>>): string[] {
  const protocol = env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  const isAsked =
    (env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT']) !== undefined;
  return isAsked && protocol !== undefined && protocol !== 'http/protobuf'
    ? [
        'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf (port 4318 of most collectors), or OTEL_SDK_DISABLED=true',
      ]
    : [];
}

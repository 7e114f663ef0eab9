// Where traces go, by the variables that OpenTelemetry has for it everywhere. Others of them that the exporter knows
// (timeouts, certificates, compression) are read by the exporter itself.

import { z } from 'zod';

const address = z.url({ protocol: /^https?$/, message: 'must be an http address' });

/** `name=value` items with commas between them, values percent-encoded. */
const pairs = z.string().transform((text, context): Record<string, string> => {
  const entries = text
    .split(',')
    .filter((item) => item.trim() !== '')
    .map((item) => {
      const at = item.indexOf('=');
      // What is wrong may be a secret: it is not repeated.
      if (at < 1)
        context.addIssue({ code: 'custom', message: 'must be items name=value with commas between' });
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
    doc: 'Where traces are sent by OTLP over HTTP, for example `http://collector.internal:4318`; `/v1/traces` is added. Absent: nothing is traced.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    schema: address.optional(),
    doc: 'The same as a whole address, to which nothing is added.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: pairs.optional(),
    doc: 'Headers sent along, such as `authorization=Bearer%20…`: `name=value` items with commas between them, values percent-encoded.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z.string().optional(),
    doc: 'Only `http/protobuf`, which is also what is meant when it is absent.',
  },
  OTEL_SERVICE_NAME: {
    schema: z.string().max(255).default('signalbox'),
    doc: 'The name of the service in traces.',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    schema: pairs.optional(),
    doc: 'Further attributes of every trace, such as `deployment.environment.name=production`: `name=value` items with commas between them.',
  },
  OTEL_TRACES_SAMPLER: {
    schema: z.enum(samplers).default('parentbased_always_on'),
    doc: 'Which traces are kept: `always_on`, `always_off`, `traceidratio`, or one of them behind `parentbased_`, which follows a caller that sent a `traceparent`.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .transform(Number)
      .pipe(z.number().min(0, 'must be at least 0').max(1, 'must be at most 1'))
      .optional(),
    doc: 'The share that `traceidratio` keeps, from 0 to 1. Default: all.',
  },
  OTEL_TRACES_EXPORTER: {
    schema: z.string().optional(),
    doc: '`none`: nothing is traced. Anything else has no effect.',
  },
  OTEL_SDK_DISABLED: {
    schema: z.string().optional(),
    doc: '`true`: nothing is traced.',
  },
} as const;

type Variables = typeof traceVariables;
type Parsed = { readonly [Name in keyof Variables]: z.output<Variables[Name]['schema']> };

export type TraceConfig = {
  /** A whole address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly sampler: (typeof samplers)[number];
  /** The share that `traceidratio` keeps, from 0 to 1. */
  readonly ratio: number;
};

const isOff = (parsed: Parsed): boolean =>
  parsed.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || parsed.OTEL_TRACES_EXPORTER === 'none';

/** Null: nothing is traced. */
export function traceOf(parsed: Parsed): TraceConfig | null {
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

/** A collector that is set for everything on a machine may speak what we do not. */
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

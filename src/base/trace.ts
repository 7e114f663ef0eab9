// Spans: what a process does and how long it takes, for a trace collector. Off until main sets a tracer;
// until then a span only runs its work. Process-wide like the log level: what is traced does not depend on
// the caller. Attributes are names, numbers and ids: never a title, a text, a URL with its query or a secret.

type Attributes = Readonly<Record<string, string | number | boolean>>;

export type SpanBegin = {
  /** One of few names: whatever varies is an attribute. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  readonly attributes: Attributes;
  /** The W3C `traceparent` that a caller sent. Absent: the span around this one, if there is one. */
  readonly traceparent?: string | undefined;
};

export type Span = {
  /** Runs the work inside of the span. */
  readonly run: <Result>(work: () => Result) => Result;
  readonly set: (attributes: Attributes) => void;
  /** Takes the error, of which only the kind is recorded, or the kind itself. */
  readonly end: (error?: unknown) => void;
};

export type Tracer = (begin: SpanBegin) => Span;

let tracer: Tracer | null = null;

/** Null turns tracing off. */
export function setTracer(to: Tracer | null): void {
  tracer = to;
}

/** Null while tracing is off. */
export const beginSpan = (begin: SpanBegin): Span | null => tracer?.(begin) ?? null;

const nowhere = (): void => undefined;

/** Runs the work as a span; the work may add attributes. */
export async function traced<Result>(
  begin: SpanBegin,
  work: (set: Span['set']) => Promise<Result>,
): Promise<Result> {
  if (tracer === null) return work(nowhere);
  const span = tracer(begin);
  try {
    const result = await span.run(() => work(span.set));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

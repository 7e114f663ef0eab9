// A collector of traces on loopback: takes what is sent by OTLP over HTTP, and reads the protobuf that it comes in.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Field, fieldsOf, textOf } from './protobuf.ts';

export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the first of its trace. */
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly isError: boolean;
  readonly resource: Readonly<Record<string, string | number | boolean>>;
};

export type Collector = {
  readonly url: string;
  readonly spans: () => readonly CollectedSpan[];
  /** All that came, as it came. */
  readonly bytes: () => Buffer;
  readonly headers: () => readonly NodeJS.Dict<string | string[]>[];
  readonly close: () => Promise<void>;
};

export async function startCollector(): Promise<Collector> {
  const bodies: Buffer[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/v1/traces') bodies.push(Buffer.concat(chunks));
      headers.push(request.headers);
      response.setHeader('content-type', 'application/x-protobuf').end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => bodies.flatMap(spansOf),
    bytes: () => Buffer.concat(bodies),
    headers: () => headers,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const all = (fields: readonly Field[], number: number): Buffer[] =>
  fields.flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []));

const only = (fields: readonly Field[], number: number): Buffer => all(fields, number)[0] ?? Buffer.alloc(0);

const numberIn = (fields: readonly Field[], number: number): number => {
  const found = fields.find((field) => field.number === number)?.value;
  return typeof found === 'number' ? found : 0;
};

// The numbers of the fields are those of opentelemetry/proto/trace/v1/trace.proto and common.proto.
function spansOf(body: Buffer): CollectedSpan[] {
  return all(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const parts = fieldsOf(resourceSpans);
    const resource = attributesOf(all(fieldsOf(only(parts, 1)), 1));
    return all(parts, 2)
      .flatMap((scopeSpans) => all(fieldsOf(scopeSpans), 2))
      .map((span) => spanOf(fieldsOf(span), resource));
  });
}

function spanOf(fields: readonly Field[], resource: CollectedSpan['resource']): CollectedSpan {
  return {
    traceId: only(fields, 1).toString('hex'),
    spanId: only(fields, 2).toString('hex'),
    parentId: only(fields, 4).toString('hex'),
    name: textOf(only(fields, 5)),
    kind: numberIn(fields, 6),
    attributes: attributesOf(all(fields, 9)),
    isError: numberIn(fieldsOf(only(fields, 15)), 3) === 2,
    resource,
  };
}

function attributesOf(pairs: readonly Buffer[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = fieldsOf(pair);
      const [value] = fieldsOf(only(fields, 2));
      const read = Buffer.isBuffer(value?.value) ? textOf(value.value) : (value?.value ?? '');
      return [textOf(only(fields, 1)), value?.number === 2 ? read === 1 : read];
    }),
  );
}

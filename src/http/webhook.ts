// Webhooks from Git hosts. The URL names a connection and its cell: /hooks/<cell>_<connection>. If it names
// no connection, the request is refused before any of its body is read.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { type Connection, findConnection } from '#db/account/connection-store.ts';
import type { Host } from '#host/host.ts';
import { declaredBytes, largeBodyBytes } from './body/body.ts';
import type { EndpointTools } from './endpoint/endpoint.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A busy host sends thousands of webhooks a second: its connection is cached for this time. */
const connectionKeptMs = 1_000;
const connectionsMax = 1_000;

type FindConnection = (cell: Cell, id: string) => Promise<Connection | null>;

function connectionReader(): FindConnection {
  const cache = createTtlCache<Connection | null>({
    max: connectionsMax,
    // A missing connection may be created at any moment.
    ttlMs: (found) => (found === null ? 0 : connectionKeptMs),
  });
  return (cell, id) => cache.load(`${cell.name} ${id}`, () => findConnection(cell.reader, id));
}

type Destination = { readonly cell: Cell; readonly connection: Connection; readonly host: Host };

const notFound = () =>
  appError('CONNECTION_NOT_FOUND', {
    public: 'No connection has this webhook URL. Copy it again from the settings of the connection.',
  });

export async function addWebhookRoute(app: FastifyInstance, tools: EndpointTools): Promise<void> {
  const { cells, hostFor } = tools.deps;
  const readConnection = connectionReader();
  const destinations = new WeakMap<FastifyRequest, Destination>();

  const resolveDestination = async (request: FastifyRequest): Promise<Destination> => {
    const [cellName = '', id = ''] = (request.params as { connection: string }).connection.split('_');
    const cell = cells.find(cellName);
    if (cell === undefined || !uuid.test(id)) throw notFound();
    const connection = await readConnection(cell, id);
    const host = connection === null ? null : hostFor(cell.name, connection.host);
    if (connection === null || host === null) throw notFound();
    return { cell, connection, host };
  };

  await app.register((scope, _options, done) => {
    // The signature covers the raw bytes, whatever the content type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.route({
      method: 'POST',
      url: '/hooks/:connection',
      onRequest: async (request, reply) => {
        try {
          destinations.set(request, await resolveDestination(request));
        } catch (error) {
          // The rest of the body is not read.
          reply.header('connection', 'close');
          throw error;
        }
      },
      preParsing: async (request, reply, payload) => {
        const bytes = declaredBytes(request);
        if (bytes > largeBodyBytes) {
          const { connection } = destinations.get(request)!;
          // Separate from the organization's own requests: others may know the URL.
          const release = await tools.budget.acquire(bytes, `hooks ${connection.organizationId}`);
          reply.raw.once('close', release);
        }
        return payload;
      },
      handler: async (request, reply) => {
        const { cell, connection, host } = destinations.get(request)!;
        const parse = (secret: string) =>
          host.parseWebhook({
            headers: request.headers as Record<string, string | undefined>,
            body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
            secret,
          });
        let result = parse(connection.webhookSecret);
        if (result.kind === 'refused' && typeof connection.previousSecret === 'string')
          result = parse(connection.previousSecret);
        if (result.kind === 'refused') throw appError('INVALID_TOKEN', { public: result.reason });
        const events = [...result.events, ...(result.moved ?? [])];
        // Each organization processes the events of its own repositories.
        for (const organizationId of [connection.organizationId, ...(connection.sharedWith ?? [])])
          await recordHostEvents(cell, organizationId, events);
        return reply.type('application/json; charset=utf-8').send('{}');
      },
    });
    done();
  });
}

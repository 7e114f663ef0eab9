// Webhooks from hosts. The address names a connection and the cell it lives in: /hooks/<cell>_<connection>.

import type { FastifyInstance } from 'fastify';
import { appError } from '#base/error.ts';
import { createShelf } from '#base/shelf.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { type Connection, findConnection } from '#db/connection-store.ts';
import type { Deps } from './deps.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A busy host sends thousands of webhooks a second: its connection is read once in this time. */
const connectionKeptMs = 1_000;
const connectionsMax = 1_000;

type FindConnection = (cell: Cell, id: string) => Promise<Connection | null>;

function connectionReader(): FindConnection {
  // One that is not there yet is looked for by the next.
  const keptMs = (found: Connection | null) => (found === null ? 0 : connectionKeptMs);
  const kept = createShelf(() => performance.now(), keptMs, connectionsMax);
  return (cell, id) => kept.recall(`${cell.name} ${id}`, () => findConnection(cell.reader, id));
}

export async function addWebhookRoute(app: FastifyInstance, { cells, hostFor }: Deps): Promise<void> {
  const readConnection = connectionReader();
  await app.register((scope, _options, done) => {
    // The signature is over the bytes, whatever they claim to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.post<{ Params: { connection: string } }>('/hooks/:connection', async (request, reply) => {
      const [cellName = '', id = ''] = request.params.connection.split('_');
      const cell = cells.find(cellName);
      const connection = cell && uuid.test(id) ? await readConnection(cell, id) : null;
      const host = cell && connection ? hostFor(cell.name, connection.host) : null;
      if (!cell || !connection || !host)
        throw appError('CONNECTION_NOT_FOUND', {
          public: 'No connection has this webhook address. Copy it again from the connection’s settings.',
        });
      const result = host.parseWebhook({
        headers: request.headers as Record<string, string | undefined>,
        body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        secret: connection.webhookSecret,
      });
      if (result.kind === 'refused') throw appError('INVALID_TOKEN', { public: result.reason });
      await recordHostEvents(cell, connection.organizationId, result.events);
      return reply.type('application/json; charset=utf-8').send('{}');
    });
    done();
  });
}

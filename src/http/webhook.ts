// Webhooks from hosts. The address names a connection and the cell it lives in: /hooks/<cell>_<connection>.

import type { FastifyInstance } from 'fastify';
import { appError } from '#base/error.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import { findConnection } from '#db/organization-store.ts';
import type { Deps } from './deps.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function addWebhookRoute(app: FastifyInstance, { cells, hostFor }: Deps): Promise<void> {
  await app.register((scope, _options, done) => {
    // The signature is over the bytes, whatever they claim to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.post<{ Params: { connection: string } }>('/hooks/:connection', async (request, reply) => {
      const [cellName = '', id = ''] = request.params.connection.split('_');
      const cell = cells.find(cellName);
      const connection = cell && uuid.test(id) ? await findConnection(cell.reader, id) : null;
      // Hosts are looked up by name; the sandbox answers for every name that is not configured.
      const host = cell && connection ? hostFor(cell.name, connection.kind) : null;
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

// Connections over which no request has come yet. Node.js counts them neither as idle nor as ended when a server closes, so
// a client that opens one and keeps it, as the HTTP clients of some hosts do ahead of time, would hold up every shutdown.

import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export function closeUnusedConnections(server: FastifyInstance): void {
  const unused = new Set<Socket>();
  server.server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.server.on('request', ({ socket }) => unused.delete(socket));
  server.addHook('preClose', (done) => {
    for (const socket of unused) socket.destroy();
    done();
  });
}

// Connections without a request so far. Node.js counts them neither as idle nor as ended when a server
// closes, so a client that opens one in advance and keeps it, as the HTTP clients of some Git hosts do, would
// delay every shutdown.

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

// A name server on loopback that answers as it is told, each time anew: for names that change their answer.

import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import type { Resolve } from '#event/webhook-send.ts';

type DnsServer = {
  readonly resolve: Resolve;
  /** How often it was asked. */
  readonly asked: () => number;
  readonly close: () => void;
};

/** `answer`: the IPv4 address of whatever name, by how often it was asked before. */
export async function startDnsServer(answer: (asked: number) => string): Promise<DnsServer> {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const header = Buffer.from(query.subarray(0, 12));
    // An answer without error, to one question, with one record.
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 6);
    header.writeUInt32BE(0, 8);
    // The name of the question, type A, class IN, good for no time at all, four bytes.
    const record = Buffer.from([
      0xc0,
      0x0c,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      4,
      ...answer(asked).split('.').map(Number),
    ]);
    asked += 1;
    socket.send(Buffer.concat([header, question, record]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolve: (host, done) =>
      resolver.resolve4(host, (error, addresses) =>
        done(error, error === null ? addresses.map((address) => ({ address, family: 4 })) : []),
      ),
    asked: () => asked,
    close: () => socket.close(),
  };
}

// A port of loopback that is free, for a server that is started a moment later.

import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to outgoing connections and to servers that ask for any port (32768 and above,
 * `net.ipv4.ip_local_port_range`): none of those takes the port between here and the start of the server.
 */
const range = { first: 20_000, end: 32_000 };

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(range.first, range.end);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const listening = once(probe, 'listening');
  probe.listen(port, '127.0.0.1');
  try {
    await listening;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}

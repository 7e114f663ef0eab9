// A TCP link on loopback of a given speed, counts what comes through it, and can be cut. For tests and
// benchmarks.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type SlowLink = {
  readonly port: number;
  /** Bytes that came from the far side, since the link was made. */
  readonly received: () => number;
  /** From now on; 0: nothing comes through any more. */
  readonly setRate: (bytesPerSecond: number) => void;
  /** Ends every connection, without a goodbye. New ones are let through. */
  readonly cut: () => void;
  readonly close: () => void;
};

const tickMs = 20;

export async function openSlowLink(farPort: number, rate = Number.POSITIVE_INFINITY): Promise<SlowLink> {
  let bytesPerSecond = rate;
  let received = 0;
  const waiting = new Map<Socket, { readonly far: Socket; chunks: Buffer[]; bytes: number }>();
  const server = createServer((near) => {
    const far = connect(farPort, '127.0.0.1');
    const line = { far, chunks: [] as Buffer[], bytes: 0 };
    waiting.set(near, line);
    near.pipe(far);
    far.on('data', (chunk) => {
      line.chunks.push(chunk);
      line.bytes += chunk.length;
      if (line.bytes > 1_048_576) far.pause();
    });
    const end = () => {
      waiting.delete(near);
      near.destroy();
      far.destroy();
    };
    far.on('end', () => {
      const drain = setInterval(() => {
        if (line.bytes > 0 && waiting.has(near)) return;
        clearInterval(drain);
        near.end();
      }, tickMs);
    });
    for (const socket of [near, far]) socket.on('error', end);
    near.on('close', end);
  });
  const timer = setInterval(() => {
    let allowed = Math.min(Number.MAX_SAFE_INTEGER, (bytesPerSecond * tickMs) / 1_000);
    for (const [near, line] of waiting) {
      while (allowed > 0 && line.chunks.length > 0) {
        const chunk = line.chunks.shift()!;
        const part = chunk.subarray(0, Math.max(1, Math.floor(allowed)));
        if (part.length < chunk.length) line.chunks.unshift(chunk.subarray(part.length));
        allowed -= part.length;
        line.bytes -= part.length;
        received += part.length;
        near.write(part);
      }
      if (line.bytes < 524_288) line.far.resume();
    }
  }, tickMs);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const [near, { far }] of waiting) {
      near.resetAndDestroy();
      far.destroy();
    }
    waiting.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    setRate: (next) => (bytesPerSecond = next),
    cut,
    close: () => {
      clearInterval(timer);
      cut();
      server.close();
    },
  };
}

// Closes the connection of a body that arrives too slowly: its sender holds a connection and a share of
// memory, so it must send at a minimum rate. Time in which Signalbox is the slow side does not count: then
// bytes wait to be read.

import type { IncomingMessage } from 'node:http';

export type ArrivalLimits = {
  readonly everyMs: number;
  /** Bytes that must arrive between two checks, unless the body ends. */
  readonly bytesMin: number;
  /** Checks in a row that may find less. */
  readonly slowMax: number;
};

/** 16 KiB in a second, over ten seconds. */
const defaultArrivalLimits: ArrivalLimits = { everyMs: 5_000, bytesMin: 5 * 16 * 1024, slowMax: 2 };

export function closeWhenSlow(request: IncomingMessage, limits: ArrivalLimits = defaultArrivalLimits): void {
  const { socket } = request;
  let bytes = socket.bytesRead;
  let slow = 0;
  const timer = setInterval(() => {
    const isOurs = request.readableLength > 0;
    slow = !isOurs && socket.bytesRead - bytes < limits.bytesMin ? slow + 1 : 0;
    bytes = socket.bytesRead;
    if (slow >= limits.slowMax && !request.complete) request.destroy();
  }, limits.everyMs).unref();
  const stop = () => clearInterval(timer);
  request.once('end', stop);
  request.once('close', stop);
}

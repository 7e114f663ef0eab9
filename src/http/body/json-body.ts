// JSON bodies. The structure of a body is counted while it arrives: a few MiB of nothing but brackets take
// longer to parse than any meaningful request, and the parser cannot be interrupted.

import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import { parseJson } from './body.ts';

/** Objects and lists of one body. */
const containersMax = 20_000;
/** Values of one body: five times the targets that a pull request may name. */
const valuesMax = 1_000_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const bracket = 0x5b;
const brace = 0x7b;

/** Counts objects, lists and values, outside of strings. */
class Structure {
  #isText = false;
  #isEscaped = false;
  #containers = 0;
  #values = 0;

  /** Whether the body exceeds a limit. It counts in local variables, since it reads every byte. */
  take(chunk: Buffer): boolean {
    let isText = this.#isText;
    let isEscaped = this.#isEscaped;
    let containers = 0;
    let values = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
      } else if (byte === quote) isText = true;
      else if (byte === comma) values += 1;
      else if (byte === bracket || byte === brace) containers += 1;
    }
    this.#isText = isText;
    this.#isEscaped = isEscaped;
    this.#containers += containers;
    this.#values += values;
    return this.#containers > containersMax || this.#values > valuesMax;
  }
}

const tooLarge = (bytesMax: number) =>
  appError('BODY_TOO_LARGE', {
    public:
      bytesMax < 1_048_576
        ? `The request body is larger than ${bytesMax / 1_024} KiB. Send a smaller one.`
        : `The request body is larger than ${Math.floor(bytesMax / 1_048_576)} MiB. Send "ALL" instead of a very long list of targets.`,
  });

const tooMany = () =>
  appError('BODY_TOO_LARGE', {
    public: 'The request body holds too many values. Send "ALL" instead of a very long list of targets.',
  });

const unreadable = (cause: Error) =>
  appError('MALFORMED_JSON', {
    public: 'The request body ended early, or does not match its content encoding. Send it again.',
    cause,
  });

export async function readJson(request: FastifyRequest, payload: Readable): Promise<unknown> {
  const { bodyLimit } = request.routeOptions;
  const isEncoded = (request.headers['content-encoding'] ?? 'identity') !== 'identity';
  if (!isEncoded && Number(request.headers['content-length'] ?? 0) > bodyLimit) throw tooLarge(bodyLimit);
  return parseJson(await readWhole(payload, bodyLimit));
}

/** Uses events: an iterator would close the connection before the refusal is sent. */
function readWhole(payload: Readable, bytesMax: number): Promise<Buffer> {
  const structure = new Structure();
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      payload.off('data', take);
      payload.pause();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) refuse(tooLarge(bytesMax));
      else if (structure.take(chunk)) refuse(tooMany());
      else chunks.push(chunk);
    };
    payload.on('data', take);
    payload.once('error', (cause) => reject(unreadable(cause)));
    payload.once('end', () => resolve(Buffer.concat(chunks)));
  });
}

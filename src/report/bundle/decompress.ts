// Decompresses bytes within limits. Output before an error has already been passed on.

import { constants, createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from 'node:zlib';
import type { ContentLimits } from '../limits.ts';

export type Compression = 'gzip' | 'zstd';

/**
 * How it ended. `cut`: it is shorter than it declares; `bomb`: its compression ratio is too high; `frames`:
 * it has more frames than any writer needs.
 */
export type Decompressed = 'whole' | 'cut' | 'damaged' | 'bomb' | 'frames' | 'too-large';

/** The first output may be small and repetitive; the ratio counts from here on. */
const ratioFree = 1024 * 1024;
const pieceSize = 64 * 1024;
/** Each frame needs a new decompressor, which costs more than a small frame holds. So many are free, */
const framesFree = 1_000;
/**
 * and beyond them a frame holds at least so much, on average. Programs that split write frames of 16 KiB and
 * more.
 */
const frameBytesMin = 4 * 1024;
/**
 * The most that a zstd frame may ask for as its window, by its binary logarithm: 32 MiB. Every level up to 19 takes 8 MiB,
 * which is what a decoder should support at least (RFC 8878, section 3.1.1.1.2).
 */
const windowLogMax = 25;

export function detectCompression(first: Buffer): Compression | null {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'gzip';
  return first.length >= 4 && first.readUInt32LE(0) === 0xfd2fb528 ? 'zstd' : null;
}

/** Passes plain bytes to `sink` as they arrive; its errors are passed on. */
export async function decompress(
  compression: Compression,
  bytes: AsyncIterable<Uint8Array>,
  sink: (bytes: Buffer) => void,
  limits: Pick<ContentLimits, 'bytesMax' | 'ratioMax'>,
): Promise<Decompressed> {
  let taken = 0;
  let given = 0;
  const take = (piece: Buffer): Decompressed | null => {
    given += piece.length;
    if (given > limits.bytesMax) return 'too-large';
    if (given > ratioFree && given > taken * limits.ratioMax[compression]) return 'bomb';
    sink(piece);
    return null;
  };
  let frames = 1;
  let frame = new DecompressionFrame(compression, take);
  try {
    for await (const chunk of bytes)
      for (let at = 0; at < chunk.length; at += pieceSize) {
        let rest = chunk.subarray(at, at + pieceSize);
        taken += rest.length;
        // Another frame may follow one that ends; Node.js stops at the first without an error.
        while (rest.length > 0) {
          if (frame.hasEnded) {
            frame.destroy();
            frames += 1;
            if (frames > framesFree + taken / frameBytesMin) return 'frames';
            frame = new DecompressionFrame(compression, take);
          }
          rest = await frame.write(rest);
          if (frame.stopped !== null) return frame.stopped;
        }
      }
    await frame.end();
    return frame.stopped ?? 'whole';
  } finally {
    frame.destroy();
  }
}

/** One decompressor. */
class DecompressionFrame {
  readonly #stream: Gunzip | ZstdDecompress;
  stopped: Decompressed | null = null;
  hasEnded = false;
  #thrown: { readonly error: unknown } | null = null;
  /** Resolves the current wait. */
  #wake: () => void = () => undefined;

  constructor(compression: Compression, take: (piece: Buffer) => Decompressed | null) {
    const options = { chunkSize: pieceSize };
    this.#stream =
      compression === 'gzip'
        ? createGunzip(options)
        : createZstdDecompress({ ...options, params: { [constants.ZSTD_d_windowLogMax]: windowLogMax } });
    this.#stream.on('data', (piece: Buffer) => {
      if (this.stopped !== null || this.#thrown !== null) return;
      try {
        this.stopped = take(piece);
      } catch (error) {
        this.#thrown = { error };
      }
      if (this.stopped !== null || this.#thrown !== null) this.#stream.destroy();
    });
    this.#stream.on('error', (error: NodeJS.ErrnoException) => {
      this.stopped ??= error.code === 'Z_BUF_ERROR' ? 'cut' : 'damaged';
      this.#wake();
    });
    this.#stream.on('end', () => {
      this.hasEnded = true;
      this.#wake();
    });
    this.#stream.on('close', () => this.#wake());
  }

  /** Returns the bytes after the end of the frame. */
  async write(piece: Uint8Array): Promise<Uint8Array> {
    const before = this.#stream.bytesWritten;
    await this.#wait(() => this.#stream.write(piece, () => this.#wake()));
    return this.hasEnded ? piece.subarray(this.#stream.bytesWritten - before) : piece.subarray(piece.length);
  }

  async end(): Promise<void> {
    if (this.hasEnded || this.stopped !== null) return;
    this.#stream.end();
    while (!this.hasEnded && this.stopped === null && !this.#stream.closed) await this.#wait(() => undefined);
  }

  destroy(): void {
    this.#stream.destroy();
  }

  async #wait(begin: () => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      begin();
    });
    if (this.#thrown !== null) throw this.#thrown.error;
  }
}

// Joins WebP images to one animation, as the "WebP Container Specification" describes it
// (developers.google.com/speed/webp/docs/riff_container). Chromium encodes single images only.

export type Frame = {
  /** Where the image is drawn over the frames before. Both numbers are even: the format stores halves. */
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  /** A WebP file. */
  readonly image: Buffer;
};

export function joinFrames(
  { width, height }: { readonly width: number; readonly height: number },
  frames: readonly Frame[],
): Buffer {
  const header = chunk('VP8X', Buffer.from([0x02, 0, 0, 0]), uint24(width - 1), uint24(height - 1));
  // A white background, and as many repetitions as there is time.
  const animation = chunk('ANIM', Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0]));
  return chunk('RIFF', Buffer.from('WEBP'), header, animation, ...frames.map(frameChunk));
}

/** Each frame replaces the pixels below it, and stays. */
const replacesPixels = 0x02;

const frameChunk = ({ left, top, width, height, durationMs, image }: Frame): Buffer =>
  chunk(
    'ANMF',
    ...[left / 2, top / 2, width - 1, height - 1, durationMs].map(uint24),
    Buffer.from([replacesPixels]),
    ...pixelChunks(image),
  );

const pixelKinds = new Set(['VP8 ', 'VP8L', 'ALPH']);

/** The chunks of a WebP file that hold its pixels. */
function pixelChunks(file: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 12; at < file.length;) {
    const end = at + 8 + padded(file.readUInt32LE(at + 4));
    if (pixelKinds.has(file.toString('latin1', at, at + 4))) found.push(file.subarray(at, end));
    at = end;
  }
  if (found.length === 0) throw new Error('The image is not a WebP file with pixels.');
  return found;
}

/** Chunks begin at even places. */
const padded = (bytes: number): number => bytes + (bytes % 2);

function chunk(kind: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const whole = Buffer.alloc(8 + padded(body.length));
  whole.write(kind, 'latin1');
  whole.writeUInt32LE(body.length, 4);
  body.copy(whole, 8);
  return whole;
}

function uint24(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(value, 0, 3);
  return bytes;
}

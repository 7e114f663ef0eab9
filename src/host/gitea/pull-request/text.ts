import { withoutTrailing } from '#base/text.ts';

const textBytesMax = 65_536;

/** At most 64 KiB of it, in whole characters. */
export function boundedText(text: string): string {
  if (Buffer.byteLength(text) <= textBytesMax) return text;
  return withoutTrailing(Buffer.from(text).subarray(0, textBytesMax).toString('utf8'), '\uFFFD');
}

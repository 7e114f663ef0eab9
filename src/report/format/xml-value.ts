// Values of attributes as text. Nearly all are plain ASCII, and many repeat from case to case: those are found to be the
// same in place. A new one is copied out of the window, because a slice would keep the whole window in memory.

import type { ReportLimits } from '../limits.ts';
import type { Problems } from '../problem.ts';
import { boundedEnd, decodeText, type TextDecoding } from './text.ts';
import { parseSeconds, toMs } from './number.ts';
import { attributeCount, type Attribute } from './xml-name.ts';
import type { Tag } from './xml-tag.ts';

export class ValueReader {
  readonly #limits: ReportLimits;
  readonly #problems: Problems;
  readonly #decoding: TextDecoding;
  /** By attribute: the last value, where it stood in the bytes as it is. */
  readonly #last: string[] = Array.from({ length: attributeCount }, () => '');

  constructor(limits: ReportLimits, problems: Problems, decoding: TextDecoding) {
    this.#limits = limits;
    this.#problems = problems;
    this.#decoding = decoding;
  }

  /** Empty: there is none. */
  read(tag: Tag, name: Attribute, text: string, bytes: Buffer): string {
    const start = tag.startOf(name);
    if (start === -1) return '';
    const end = tag.endOf(name);
    const last = this.#last[name]!;
    if (last.length === end - start && text.startsWith(last, start)) return last;
    if (isPlain(text, start, end) && end - start <= this.#limits.attributeBytesMax) {
      const value = bytes.toString('latin1', start, end);
      this.#last[name] = value;
      return value;
    }
    const kept = boundedEnd(bytes, start, end, this.#limits.attributeBytesMax);
    if (kept < end) this.#problems.add('ATTRIBUTE_CUT');
    return decodeText(bytes.subarray(start, kept), this.#decoding);
  }

  /** Milliseconds of an attribute in seconds; null: there is none, or it is no duration. */
  readSeconds(tag: Tag, name: Attribute, text: string): number | null {
    const start = tag.startOf(name);
    if (start === -1) return null;
    const end = tag.endOf(name);
    // What nearly every runner writes: at most nine digits before the point and six behind.
    let value = 0;
    let scale = 0;
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code >= 48 && code <= 57) {
        value = value * 10 + code - 48;
        scale *= 10;
      } else if (code === 46 && scale === 0 && at > start) scale = 1;
      else return parseSeconds(text.slice(start, Math.min(end, start + 256)));
    }
    if (end - start > 15 || end === start) return parseSeconds(text.slice(start, Math.min(end, start + 256)));
    return toMs(scale === 0 ? value : value / scale);
  }
}

function isPlain(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 38 || code >= 127) return false;
    // `#x1B[` is how pytest spells an escape.
    if (code === 35 && text.charCodeAt(at + 1) === 120) return false;
  }
  return true;
}

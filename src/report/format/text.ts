// Bytes of a report to text that can be stored and shown. Nothing is refused: bytes that are no UTF-8 are
// read as the declared or the most likely encoding, characters that XML and PostgreSQL forbid become U+FFFD,
// terminal colours are removed. Only the five entities of XML and numeric references are supported, so
// decoding never makes a text longer.

/* oxlint-disable eslint/no-control-regex -- they are what is looked for */
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** How texts of one report are decoded, and how many needed a repair. */
export type TextDecoding = {
  /** For bytes that are not UTF-8; null: none was declared. */
  fallback: TextDecoder | null;
  /** Texts with bytes or characters that had to be replaced. */
  repaired: number;
};

const windows1252 = new TextDecoder('windows-1252');

export function decodeBytes(bytes: Buffer, decoding: TextDecoding): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  decoding.repaired++;
  if (decoding.fallback !== null) return decoding.fallback.decode(bytes);
  const lossy = bytes.toString('utf8');
  // If other parts of it are UTF-8, the rest is damage; otherwise it is an old single-byte encoding.
  for (let index = 0; index < lossy.length; index++) {
    const code = lossy.charCodeAt(index);
    if (code >= 0x80 && code !== 0xfffd) return lossy;
  }
  return windows1252.decode(bytes);
}

const references = /&(?:#x([0-9a-f]{1,8})|#([0-9]{1,10})|(lt|gt|amp|quot|apos));/gi;
const named: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(references, (whole: string, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return named.get(name.toLowerCase()) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (code > 0x10ffff) return '\uFFFD';
    // Two halves of a surrogate pair, as Java writes them, join again; a single one is repaired later.
    return String.fromCodePoint(code);
  });
}

// Each begins with a character that its middle excludes, so a text is scanned once.
const terminal =
  /\u001B(?:\[[0-9;:?]{0,32}[ -/]{0,4}[@-~]|\][^\u0007\u001B]{0,2048}(?:\u0007|\u001B\\)?|[@-Z\\^_])/g;
/** The same, as pytest escapes characters that XML forbids. */
const spelledTerminal = /#x1B\[[0-9;]{0,32}[A-Za-z]/g;
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\uFFFE\uFFFF]/g;

/** Removes terminal sequences and characters that cannot be stored. */
export function sanitizeText(text: string, decoding: TextDecoding): string {
  let sanitized = text;
  if (sanitized.includes('\u001B')) sanitized = sanitized.replace(terminal, '');
  if (sanitized.includes('#x1B[')) sanitized = sanitized.replace(spelledTerminal, '');
  if (sanitized.includes('\r')) sanitized = sanitized.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const allowed = sanitized.replace(forbidden, '\uFFFD').toWellFormed();
  if (allowed !== sanitized) decoding.repaired++;
  return allowed;
}

export function decodeText(bytes: Buffer, decoding: TextDecoding): string {
  return sanitizeText(decodeReferences(decodeBytes(bytes, decoding)), decoding);
}

/** An end that cuts no character in two. */
function wholeEnd(bytes: Buffer, end: number): number {
  let cut = end;
  while (cut > 0 && end - cut < 4 && (bytes[cut]! & 0xc0) === 0x80) cut--;
  return cut;
}

/** The bytes of a long attribute that are kept. */
export function boundedEnd(bytes: Buffer, start: number, end: number, max: number): number {
  return end - start <= max ? end : Math.max(start, wholeEnd(bytes, start + max));
}

/** Collects text of any length: its beginning, its end, and how much there was between. */
export class TextCollector {
  #head = Buffer.allocUnsafe(0);
  #headLength = 0;
  #tail: Buffer | null = null;
  #tailLength = 0;
  readonly #headMax: number;
  readonly #tailMax: number;

  constructor(max: number) {
    this.#tailMax = max >> 2;
    this.#headMax = max - this.#tailMax;
  }

  get isEmpty(): boolean {
    return this.#headLength === 0;
  }

  /** Something between beginning and end is missing. */
  get isCut(): boolean {
    return this.#tailLength > this.#tailMax;
  }

  clear(): void {
    this.#headLength = 0;
    this.#tailLength = 0;
  }

  add(bytes: Buffer, start: number, end: number): void {
    let from = start;
    if (this.#headLength < this.#headMax) {
      const taken = Math.min(end - from, this.#headMax - this.#headLength);
      this.#grow(this.#headLength + taken);
      bytes.copy(this.#head, this.#headLength, from, from + taken);
      this.#headLength += taken;
      from += taken;
    }
    if (from < end) this.#addTail(bytes, from, end);
  }

  /** Adds text that must not be decoded: its ampersands are escaped first. */
  addLiteral(bytes: Buffer, start: number, end: number): void {
    let from = start;
    // Not `indexOf`: it searches beyond the end, and there are thousands of short texts.
    for (let at = start; at < end; at++) {
      if (bytes[at] !== 0x26) continue;
      this.add(bytes, from, at);
      this.add(ampersand, 0, ampersand.length);
      from = at + 1;
    }
    this.add(bytes, from, end);
  }

  /** Returns the collected text and clears it. */
  take(decoding: TextDecoding): string {
    const tailMax = this.#tailMax;
    const left = Math.max(0, this.#tailLength - tailMax);
    const head = this.#head.subarray(0, this.#headLength);
    let text: string;
    if (this.#tail === null || this.#tailLength === 0) text = decodeText(head, decoding);
    else {
      const at = this.#tailLength % tailMax;
      const tail =
        left === 0
          ? this.#tail.subarray(0, this.#tailLength)
          : Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
      text =
        left === 0 ? decodeText(Buffer.concat([head, tail]), decoding) : cutText(head, tail, left, decoding);
    }
    this.clear();
    return text;
  }

  #grow(length: number): void {
    if (length <= this.#head.length) return;
    const grown = Buffer.allocUnsafe(Math.min(this.#headMax, Math.max(1024, length * 2)));
    this.#head.copy(grown, 0, 0, this.#headLength);
    this.#head = grown;
  }

  /** A ring: the newest bytes take the place of the oldest. */
  #addTail(bytes: Buffer, start: number, end: number): void {
    const max = this.#tailMax;
    const tail = (this.#tail ??= Buffer.allocUnsafe(max));
    this.#tailLength += end - start;
    const from = Math.max(start, end - max);
    let at = (this.#tailLength - (end - from)) % max;
    for (let index = from; index < end;) {
      const taken = Math.min(end - index, max - at);
      bytes.copy(tail, at, index, index + taken);
      index += taken;
      at = (at + taken) % max;
    }
  }
}

const ampersand = Buffer.from('&amp;');

export const leftOut = (bytes: number): string => `\n… ${bytes} bytes left out …\n`;

function cutText(head: Buffer, tail: Buffer, left: number, decoding: TextDecoding): string {
  let from = 0;
  while (from < 4 && from < tail.length && (tail[from]! & 0xc0) === 0x80) from++;
  let to = head.length;
  // Find a character whose first byte is among the last three and whose rest is missing.
  for (let back = 1; back <= 3 && back <= head.length; back++) {
    const byte = head[head.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (needed > back) to = head.length - back;
    break;
  }
  return (
    decodeText(head.subarray(0, to), decoding) + leftOut(left) + decodeText(tail.subarray(from), decoding)
  );
}

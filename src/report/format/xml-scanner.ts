// XML as a stream of bytes, in constant memory. The window is read as one string with a character per byte:
// the engine's own string search finds a `<` or a quote, and a position in the string is a position in the
// bytes.
//
// The window is scanned when it is full, so the result does not depend on how the bytes were cut on arrival.
// Invalid XML is not an error: a `<` that begins no tag is text, and everything that can be recognized is
// reported. Document types and entities are not supported; a declaration of them is skipped.

import { isNameStart, needsMore, Tag } from './xml-tag.ts';

export type XmlHandler = {
  /** Whether text at this place is needed. */
  readonly wantsText: () => boolean;
  /** The text of `bytes` from `start` to `end`; isLiteral: it holds no references. */
  readonly onText: (bytes: Buffer, start: number, end: number, isLiteral: boolean) => void;
  /** The tag lies in `text` (and `bytes`) from `start` to `end`. */
  readonly onStart: (tag: Tag, text: string, bytes: Buffer, start: number, end: number) => void;
  readonly onEnd: (tag: Tag, text: string, bytes: Buffer, start: number, end: number) => void;
  readonly onDeclaration: (text: string) => void;
  readonly onDoctype: () => void;
};

const windowMin = 16 * 1024;
const windowMax = 256 * 1024;
/** A longer tag is copied in parts, without the parts that are not kept. */
const wholeTagMax = 128 * 1024;
const longTagMax = 512 * 1024;
/** Enough to distinguish `<![CDATA[` from `<!DOCTYPE`. */
const lookahead = 12;

type XmlScannerState = 'text' | 'cdata' | 'comment' | 'instruction' | 'doctype' | 'long-tag';

const closers = { cdata: ']]>', comment: '-->', instruction: '?>' } as const;

export class XmlScanner {
  readonly #handler: XmlHandler;
  readonly #attributeMax: number;
  readonly #tag = new Tag();
  #window = Buffer.allocUnsafe(windowMin);
  #filled = 0;
  #text = '';
  #at = 0;
  #state: XmlScannerState = 'text';
  #isEnd = false;
  /** Something was open when the bytes ended. */
  isCut = false;
  // For a document type: the quote that is open, and the number of open brackets.
  #quote = '';
  #brackets = 0;
  // For a long tag.
  #parts: Buffer[] = [];
  #partsLength = 0;
  #valueLength = 0;
  #isQuoteCopied = false;
  #last = 0;
  /** The tag at the window's start was shortened and is complete. */
  #isShortened = false;

  constructor(handler: XmlHandler, attributeMax: number) {
    this.#handler = handler;
    this.#attributeMax = attributeMax;
  }

  write(bytes: Uint8Array): void {
    let from = 0;
    while (from < bytes.length) {
      if (this.#filled === this.#window.length) this.#makeRoom();
      const taken = Math.min(bytes.length - from, this.#window.length - this.#filled);
      this.#window.set(bytes.subarray(from, from + taken), this.#filled);
      this.#filled += taken;
      from += taken;
    }
  }

  end(): void {
    this.#isEnd = true;
    this.#scan();
    if (this.#at < this.#filled || this.#state !== 'text') this.isCut = true;
  }

  #makeRoom(): void {
    if (this.#window.length < windowMax) {
      const grown = Buffer.allocUnsafe(this.#window.length * 4);
      this.#window.copy(grown, 0, 0, this.#filled);
      this.#window = grown;
      return;
    }
    this.#scan();
    // A window that a long tag made larger shrinks again.
    const rest = this.#window.subarray(this.#at, this.#filled);
    if (this.#window.length > windowMax && rest.length <= wholeTagMax) {
      const fresh = Buffer.allocUnsafe(windowMax);
      rest.copy(fresh);
      this.#window = fresh;
    } else this.#window.copyWithin(0, this.#at, this.#filled);
    this.#filled -= this.#at;
    this.#at = 0;
  }

  #scan(): void {
    this.#text = this.#window.toString('latin1', 0, this.#filled);
    let isGoing = true;
    while (isGoing) {
      switch (this.#state) {
        case 'text':
          isGoing = this.#scanText();
          break;
        case 'doctype':
          isGoing = this.#scanDoctype();
          break;
        case 'long-tag':
          isGoing = this.#scanLongTag();
          break;
        default:
          isGoing = this.#scanUntil(this.#state);
      }
    }
    this.#text = '';
  }

  /** False: more bytes are needed. */
  #scanText(): boolean {
    const text = this.#text;
    const from = this.#at;
    const open = text.indexOf('<', from);
    const end = open === -1 ? this.#filled : open;
    if (end > from && this.#handler.wantsText()) this.#handler.onText(this.#window, from, end, false);
    this.#at = end;
    if (open === -1) return false;
    const next = text.charCodeAt(open + 1);
    if (isNameStart(next)) return this.#scanStart(open);
    if (next === 47) return this.#scanEnd(open);
    if (this.#filled - open < lookahead && !this.#isEnd) return false;
    return this.#scanOther(open, next);
  }

  #scanStart(open: number): boolean {
    const end = this.#tag.readStart(this.#text, open);
    if (end === needsMore) {
      if (this.#isShortened) {
        // Because of its quotes the tag has no end even so.
        this.#isShortened = false;
        return this.#takeAsText(open, 1);
      }
      if (this.#filled - open > wholeTagMax) this.#beginLongTag();
      return this.#state === 'long-tag';
    }
    this.#isShortened = false;
    this.#at = end;
    this.#handler.onStart(this.#tag, this.#text, this.#window, open, end);
    return true;
  }

  #scanEnd(open: number): boolean {
    const name = this.#text.charCodeAt(open + 2);
    if (!isNameStart(name)) {
      if (Number.isNaN(name) && !this.#isEnd) return false;
      return this.#takeAsText(open, 2);
    }
    const end = this.#tag.readEnd(this.#text, open);
    if (end === needsMore) {
      if (this.#filled - open <= wholeTagMax) return false;
      return this.#takeAsText(open, 2);
    }
    this.#at = end;
    this.#handler.onEnd(this.#tag, this.#text, this.#window, open, end);
    return true;
  }

  #scanOther(open: number, next: number): boolean {
    const text = this.#text;
    if (next === 63) {
      if (text.startsWith('<?xml', open)) this.#handler.onDeclaration(text.slice(open, open + 256));
      return this.#enter('instruction', open + 2);
    }
    if (next !== 33) return this.#takeAsText(open, 1);
    if (text.startsWith('<!--', open)) return this.#enter('comment', open + 4);
    if (text.startsWith('<![CDATA[', open)) return this.#enter('cdata', open + 9);
    if (/^<!doctype/i.test(text.slice(open, open + 9))) {
      this.#handler.onDoctype();
      this.#quote = '';
      this.#brackets = 0;
      return this.#enter('doctype', open + 9);
    }
    return this.#takeAsText(open, 2);
  }

  #enter(state: XmlScannerState, at: number): boolean {
    this.#state = state;
    this.#at = at;
    return true;
  }

  #takeAsText(open: number, length: number): boolean {
    const end = Math.min(this.#filled, open + length);
    if (this.#handler.wantsText()) this.#handler.onText(this.#window, open, end, true);
    this.#at = end;
    return true;
  }

  #scanUntil(state: keyof typeof closers): boolean {
    const closer = closers[state];
    const close = this.#text.indexOf(closer, this.#at);
    // The window may end with the beginning of the closer.
    const end = close === -1 ? Math.max(this.#at, this.#filled - closer.length + 1) : close;
    if (state === 'cdata' && end > this.#at && this.#handler.wantsText())
      this.#handler.onText(this.#window, this.#at, end, true);
    this.#at = end;
    if (close === -1) return false;
    return this.#enter('text', close + closer.length);
  }

  #scanDoctype(): boolean {
    while (this.#at < this.#filled) {
      if (this.#quote !== '') {
        const close = this.#text.indexOf(this.#quote, this.#at);
        this.#at = close === -1 ? this.#filled : close + 1;
        if (close !== -1) this.#quote = '';
        continue;
      }
      const code = this.#text.charCodeAt(this.#at++);
      if (code === 34 || code === 39) this.#quote = code === 34 ? '"' : "'";
      else if (code === 91) this.#brackets++;
      else if (code === 93) this.#brackets--;
      else if (code === 62 && this.#brackets <= 0) return this.#enter('text', this.#at);
    }
    return false;
  }

  #beginLongTag(): void {
    this.#state = 'long-tag';
    this.#parts = [];
    this.#partsLength = 0;
    this.#quote = '';
    this.#last = 60;
    this.#copyPart(this.#at, ++this.#at);
  }

  /** Whether there was still room for the part. */
  #copyPart(start: number, end: number): boolean {
    if (end <= start || this.#partsLength >= longTagMax) return false;
    this.#parts.push(Buffer.from(this.#window.subarray(start, end)));
    this.#partsLength += end - start;
    return true;
  }

  /** Copies the tag without the ends of values that are too long; then the shortened tag is read instead. */
  #scanLongTag(): boolean {
    let copied = this.#at;
    while (this.#at < this.#filled) {
      if (this.#quote !== '') {
        const close = this.#text.indexOf(this.#quote, this.#at);
        const end = close === -1 ? this.#filled : close;
        // One more than is kept, so that the cut is detected.
        const kept = Math.min(end - this.#at, this.#attributeMax + 1 - this.#valueLength);
        this.#copyPart(this.#at, this.#at + kept);
        this.#valueLength += kept;
        this.#at = copied = end;
        if (close === -1) return false;
        if (this.#isQuoteCopied) this.#parts.push(Buffer.from(this.#quote));
        this.#quote = '';
        this.#at = copied = end + 1;
        this.#last = 0;
        continue;
      }
      const code = this.#text.charCodeAt(this.#at);
      if ((code === 34 || code === 39) && this.#last === 61) {
        this.#isQuoteCopied = this.#copyPart(copied, this.#at + 1);
        copied = ++this.#at;
        this.#quote = code === 34 ? '"' : "'";
        this.#valueLength = 0;
        continue;
      }
      if (code === 62 || code === 60) {
        this.#copyPart(copied, this.#at);
        this.#putBack(code === 62 ? this.#at + 1 : this.#at, this.#last === 47);
        return true;
      }
      if (!(code <= 32)) this.#last = code;
      this.#at++;
    }
    this.#copyPart(copied, this.#at);
    return false;
  }

  #putBack(rest: number, isEmpty: boolean): void {
    const isCapped = this.#partsLength >= longTagMax;
    const end = Buffer.from(isCapped && isEmpty ? ' />' : '>');
    this.#window = Buffer.concat([...this.#parts, end, this.#window.subarray(rest, this.#filled)]);
    this.#parts = [];
    this.#filled = this.#window.length;
    this.#text = this.#window.toString('latin1', 0, this.#filled);
    this.#at = 0;
    this.#isShortened = true;
    this.#state = 'text';
  }
}

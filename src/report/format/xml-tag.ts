// One tag that lies whole in the scanner's window: its element, and the positions of the attribute values
// that have a meaning. Values are decoded only on request.
//
// Tags of broken writers are read as intended, as far as that can be recognized: a value with quotes in it
// ends at a quote that is followed by what may follow a value; a value that was never closed ends where the
// next tag begins.

import { attributeAt, attributeCount, element, elementAt, type Attribute, type Element } from './xml-name.ts';

/** The tag's end is not in the window. */
export const needsMore = -1;

/** Most quotes inside a value that are skipped before the value is assumed to end at the first. */
const strayQuotesMax = 32;

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 9 || code === 13;

export const isNameStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58 || code >= 0x80;

export class Tag {
  element: Element = element.other;
  /** It is self-closing. */
  isEmpty = false;
  isMalformed = false;
  nameStart = 0;
  nameEnd = 0;
  readonly #starts = new Int32Array(attributeCount);
  readonly #ends = new Int32Array(attributeCount);

  /** -1: there is no such attribute. */
  startOf(name: Attribute): number {
    return this.#starts[name]!;
  }

  endOf(name: Attribute): number {
    return this.#ends[name]!;
  }

  /** Reads the start tag whose `<` is at `from`. Returns where it ends, or `needsMore`. */
  readStart(text: string, from: number): number {
    this.#starts.fill(-1);
    this.isEmpty = false;
    this.isMalformed = false;
    let at = this.#readName(text, from + 1);
    for (;;) {
      const code = text.charCodeAt(at);
      if (isSpace(code)) at++;
      else if (code === 62) return at + 1;
      else if (code === 47) {
        const next = text.charCodeAt(at + 1);
        if (Number.isNaN(next)) return needsMore;
        if (next === 62) {
          this.isEmpty = true;
          return at + 2;
        }
        this.isMalformed = true;
        at++;
      } else if (code === 60) {
        this.isMalformed = true;
        return at;
      } else if (Number.isNaN(code)) return needsMore;
      else {
        at = this.#readAttribute(text, at);
        if (at === needsMore) return needsMore;
      }
    }
  }

  /** Reads the end tag whose `</` is at `from`. */
  readEnd(text: string, from: number): number {
    this.isMalformed = false;
    let at = this.#readName(text, from + 2);
    while (isSpace(text.charCodeAt(at))) at++;
    const code = text.charCodeAt(at);
    if (code === 62) return at + 1;
    if (Number.isNaN(code)) return needsMore;
    this.isMalformed = true;
    return at;
  }

  #readName(text: string, from: number): number {
    let at = from;
    for (;;) {
      const code = text.charCodeAt(at);
      // Also at the window's end, where the code is NaN.
      if (!(code > 32) || code === 62 || code === 47 || code === 60) break;
      at++;
    }
    this.nameStart = from;
    this.nameEnd = at;
    this.element = elementAt(text, from, at);
    return at;
  }

  #readAttribute(text: string, from: number): number {
    let at = from;
    let code = text.charCodeAt(at);
    while (code > 32 && code !== 61 && code !== 62 && code !== 60 && code !== 47)
      code = text.charCodeAt(++at);
    const nameEnd = at;
    while (isSpace(code)) code = text.charCodeAt(++at);
    if (Number.isNaN(code)) return needsMore;
    if (code !== 61) {
      // A name without a value, or a control character in place of one.
      this.isMalformed = true;
      return at === from ? at + 1 : at;
    }
    do code = text.charCodeAt(++at);
    while (isSpace(code));
    if (Number.isNaN(code)) return needsMore;
    if (code === 34 || code === 39)
      return this.#readValue(text, from, nameEnd, at + 1, code === 34 ? '"' : "'");
    const start = at;
    while (code > 32 && code !== 62 && code !== 60) code = text.charCodeAt(++at);
    if (Number.isNaN(code)) return needsMore;
    this.isMalformed = true;
    this.#keep(text, from, nameEnd, start, at);
    return at;
  }

  #readValue(text: string, nameStart: number, nameEnd: number, start: number, quote: string): number {
    let close = text.indexOf(quote, start);
    if (close === -1 || close + 1 === text.length) return needsMore;
    if (!mayFollow(text.charCodeAt(close + 1))) {
      this.isMalformed = true;
      const tag = tagWithin(text, start, close);
      if (tag !== -1) {
        this.#keep(text, nameStart, nameEnd, start, tag);
        return tag;
      }
      close = likelyClose(text, close, quote);
      if (close === -1) return needsMore;
    }
    this.#keep(text, nameStart, nameEnd, start, close);
    return close + 1;
  }

  #keep(text: string, nameStart: number, nameEnd: number, start: number, end: number): void {
    const code = attributeAt(text, nameStart, nameEnd);
    // If an attribute occurs twice, the first counts.
    if (code === -1 || this.#starts[code] !== -1) return;
    this.#starts[code] = start;
    this.#ends[code] = end;
  }
}

const mayFollow = (code: number): boolean => isSpace(code) || code === 62 || code === 47 || code === 63;

/** Where a tag begins inside a supposed value; -1: nowhere. */
function tagWithin(text: string, start: number, end: number): number {
  // A slice, so that nothing after its end is searched.
  const value = text.slice(start, end);
  let at = value.indexOf('<');
  while (at !== -1) {
    const next = value.charCodeAt(at + 1);
    if (next === 47 || next === 33 || isNameStart(next)) return start + at;
    at = value.indexOf('<', at + 1);
  }
  return -1;
}

function likelyClose(text: string, first: number, quote: string): number {
  let close = first;
  for (let tries = 0; tries < strayQuotesMax; tries++) {
    const next = text.indexOf(quote, close + 1);
    if (next === -1 || next + 1 === text.length) return first;
    if (tagWithin(text, close, next) !== -1) return first;
    close = next;
    if (endsValue(text, close + 1)) return close;
  }
  return first;
}

/** After it the tag ends, or another attribute begins. */
function endsValue(text: string, from: number): boolean {
  if (!mayFollow(text.charCodeAt(from))) return false;
  return /^\s{0,64}(?:$|[/?]?>|[A-Za-z_:][\w:.-]{0,64}\s{0,8}=)/.test(text.slice(from, from + 160));
}

// The objects of one array deep in a JSON text, one by one as bytes arrive, without the rest in memory. Here:
// each object of `results.tests`. Between objects only brackets, strings and keys are recognized;
// `JSON.parse` reads an object itself.

export type JsonHandler = {
  /** The bytes of one object. */
  readonly onElement: (bytes: Buffer) => void;
  /** An object was larger than the limit. */
  readonly onTooLarge: () => void;
};

const keyMax = 32;

export class JsonElements {
  /** The array was found. */
  isFound = false;
  /** `results.summary.tests`. */
  declaredTests = 0;
  readonly #handler: JsonHandler;
  readonly #elementMax: number;
  /** The number of open brackets. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The bytes of the last string, which may be a key. */
  #string = '';
  /** By depth, down to the third: the key whose value is open. */
  readonly #keys = ['', '', '', ''];
  #digits = '';
  #isInArray = false;
  #isInElement = false;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(elementMax: number, handler: JsonHandler) {
    this.#elementMax = elementMax;
    this.#handler = handler;
  }

  /** A bracket or a string is open. */
  get isCut(): boolean {
    return this.#depth > 0 || this.#isInString;
  }

  write(bytes: Buffer): void {
    let start = this.#isInElement ? 0 : -1;
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at]!;
      if (this.#isInString) {
        this.#stepInString(code);
        continue;
      }
      switch (code) {
        case 0x22:
          this.#isInString = true;
          this.#string = '';
          break;
        case 0x7b:
        case 0x5b:
          this.#depth++;
          if (this.#depth === 3 && code === 0x5b && this.#isTests) this.#isInArray = this.isFound = true;
          else if (this.#depth === 4 && code === 0x7b && this.#isInArray) {
            this.#isInElement = true;
            start = at;
          } else if (this.#depth <= 3) this.#keys[this.#depth] = '';
          break;
        case 0x7d:
        case 0x5d:
          if (this.#depth === 4 && this.#isInElement) {
            this.#keep(bytes, start, at + 1);
            this.#finish();
            start = -1;
          }
          if (this.#depth === 3) this.#isInArray = false;
          if (this.#depth > 0) this.#depth--;
          break;
        case 0x3a:
          if (this.#depth <= 3) this.#keys[this.#depth] = this.#string;
          break;
        default:
          if (this.#depth === 3 && code >= 0x30 && code <= 0x39) this.#stepInNumber(code);
      }
    }
    if (start !== -1) this.#keep(bytes, start, bytes.length);
  }

  get #isTests(): boolean {
    return this.#keys[1] === 'results' && this.#keys[2] === 'tests';
  }

  #stepInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === 0x5c) this.#isEscaped = true;
    else if (code === 0x22) this.#isInString = false;
    else if (this.#depth <= 3 && this.#string.length < keyMax) this.#string += String.fromCharCode(code);
  }

  #stepInNumber(code: number): void {
    if (this.#keys[1] !== 'results' || this.#keys[2] !== 'summary' || this.#keys[3] !== 'tests') return;
    if (this.#digits.length < 9) this.#digits += String.fromCharCode(code);
    this.declaredTests = Number(this.#digits);
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    this.#length += end - start;
    if (this.#length <= this.#elementMax) this.#parts.push(Buffer.from(bytes.subarray(start, end)));
    else this.#parts = [];
  }

  #finish(): void {
    if (this.#length > this.#elementMax) this.#handler.onTooLarge();
    else this.#handler.onElement(this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts));
    this.#parts = [];
    this.#length = 0;
    this.#isInElement = false;
  }
}

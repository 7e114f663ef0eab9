// A tar archive as a stream of bytes, for archives from strangers: only plain files come out, each once, with a path that
// stays inside. Everything else is told of and skipped. Nothing is written anywhere, so the danger is only in names and
// sizes. Own code: an archive is headers of 512 bytes, and libraries for it hand out links and devices to be sorted here.

const blockSize = 512;
const longNameMax = 4_096;
const pathMax = 1_024;

export type TarProblem =
  'TAR_LINK' | 'TAR_DEVICE' | 'TAR_TYPE' | 'TAR_PATH' | 'TAR_DUPLICATE' | 'TAR_DAMAGED' | 'TAR_ENTRIES';

export type TarHandler = {
  /** What is to be done with the file's bytes; null: they are not wanted. */
  readonly onFile: (path: string, size: number) => TarSink | null;
  /** `name` is as the archive says, cut to what can be shown. */
  readonly onProblem: (code: TarProblem, name: string) => void;
};

export type TarSink = { readonly write: (bytes: Buffer) => void; readonly end: () => void };

type Header = { readonly name: string; readonly size: number; readonly type: string };

export class TarReader {
  readonly #handler: TarHandler;
  readonly #sizeMax: number;
  readonly #entriesMax: number;
  readonly #seen = new Set<string>();
  #entries = 0;
  #header = Buffer.alloc(blockSize);
  #headerLength = 0;
  /** Bytes of the entry that are to come, and of its padding. */
  #rest = 0;
  #padding = 0;
  #sink: TarSink | null = null;
  /** Extended headers say of the entry after them. */
  #nextName: string | null = null;
  #nextSize: number | null = null;
  /** Its end was read, or it is too damaged to be read on. */
  isOver = false;
  isDamaged = false;

  constructor(handler: TarHandler, sizeMax: number, entriesMax: number) {
    this.#handler = handler;
    this.#sizeMax = sizeMax;
    this.#entriesMax = entriesMax;
  }

  write(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.isOver) {
      if (this.#rest > 0) {
        const taken = Math.min(this.#rest, bytes.length - at);
        this.#sink?.write(bytes.subarray(at, at + taken));
        this.#rest -= taken;
        at += taken;
        if (this.#rest === 0) this.#endEntry();
      } else if (this.#padding > 0) {
        const taken = Math.min(this.#padding, bytes.length - at);
        this.#padding -= taken;
        at += taken;
      } else {
        const taken = Math.min(blockSize - this.#headerLength, bytes.length - at);
        bytes.copy(this.#header, this.#headerLength, at, at + taken);
        this.#headerLength += taken;
        at += taken;
        if (this.#headerLength === blockSize) this.#readHeader();
      }
    }
  }

  /** False: it was cut off. The file that was being read is ended all the same. */
  end(): boolean {
    if (this.#rest > 0) this.#endEntry();
    return this.isOver && !this.isDamaged;
  }

  #endEntry(): void {
    this.#sink?.end();
    this.#sink = null;
  }

  #readHeader(): void {
    this.#headerLength = 0;
    const header = parseHeader(this.#header);
    if (header === 'end') {
      this.isOver = true;
      return;
    }
    const size = header === null ? Number.NaN : (this.#nextSize ?? header.size);
    if (header === null || !(size >= 0 && size <= this.#sizeMax)) {
      this.#stop('TAR_DAMAGED', '');
      return;
    }
    this.#rest = size;
    this.#padding = (blockSize - (size % blockSize)) % blockSize;
    this.#sink = this.#sinkFor(header, size);
    if (size === 0) this.#endEntry();
  }

  #stop(code: TarProblem, name: string): void {
    this.#handler.onProblem(code, name);
    this.isOver = this.isDamaged = true;
  }

  #sinkFor({ name, type }: Header, size: number): TarSink | null {
    if (type === 'L' || type === 'x') return this.#extendedSink(type, size);
    const path = this.#nextName ?? name;
    this.#nextName = this.#nextSize = null;
    // Of the archive as a whole, names of links, directories.
    if (type === 'g' || type === 'K' || type === '5') return null;
    if (++this.#entries > this.#entriesMax) {
      this.#stop('TAR_ENTRIES', path);
      return null;
    }
    const shown = path.slice(0, 200);
    const refusal = refusalOf(type) ?? (isInside(path) ? null : 'TAR_PATH');
    const plain = path.startsWith('./') ? path.slice(2) : path;
    if (refusal !== null) this.#handler.onProblem(refusal, shown);
    else if (this.#seen.has(plain)) this.#handler.onProblem('TAR_DUPLICATE', shown);
    else {
      this.#seen.add(plain);
      return this.#handler.onFile(plain, size);
    }
    return null;
  }

  #extendedSink(type: string, size: number): TarSink | null {
    if (size > longNameMax * 4) return null;
    const parts: Buffer[] = [];
    return {
      write: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => {
        const content = Buffer.concat(parts);
        if (type === 'L') this.#nextName = textOf(content, 0, content.length);
        else {
          const said = parsePax(content);
          this.#nextName = said.path ?? this.#nextName;
          this.#nextSize = said.size ?? this.#nextSize;
        }
      },
    };
  }
}

function refusalOf(type: string): TarProblem | null {
  if (type === '0' || type === '\0' || type === '7') return null;
  if (type === '1' || type === '2') return 'TAR_LINK';
  return type === '3' || type === '4' || type === '6' ? 'TAR_DEVICE' : 'TAR_TYPE';
}

function isInside(path: string): boolean {
  if (path === '' || path.length > pathMax || path.includes('\\') || path.includes('\0')) return false;
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return false;
  return !path.split('/').includes('..');
}

/** Null: this is no header. */
export function parseHeader(block: Buffer): Header | 'end' | null {
  if (block.every((byte) => byte === 0)) return 'end';
  let sum = 0;
  for (let at = 0; at < blockSize; at++) sum += at >= 148 && at < 156 ? 32 : block[at]!;
  if (numberOf(block, 148, 156) !== sum) return null;
  const name = textOf(block, 0, 100);
  const isUstar = block.toString('latin1', 257, 262) === 'ustar' && block[263] !== 0x20;
  const prefix = isUstar ? textOf(block, 345, 500) : '';
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: numberOf(block, 124, 136),
    type: String.fromCharCode(block[156]!),
  };
}

function textOf(block: Buffer, start: number, end: number): string {
  const zero = block.indexOf(0, start);
  return block.toString('utf8', start, zero === -1 || zero > end ? end : zero);
}

/** Octal digits, or a binary number with its highest bit set. */
function numberOf(block: Buffer, start: number, end: number): number {
  if ((block[start]! & 0x80) !== 0) {
    let value = block[start]! & 0x7f;
    for (let at = start + 1; at < end; at++) value = value * 256 + block[at]!;
    return value;
  }
  const digits = textOf(block, start, end).trim();
  return /^[0-7]{1,12}$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
}

/** Records of `length key=value\n`. */
function parsePax(content: Buffer): { readonly path?: string; readonly size?: number } {
  const said: { path?: string; size?: number } = {};
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(0x20, at);
    if (space === -1 || space - at > 8) break;
    const length = Number(content.toString('latin1', at, space));
    if (!(length > space - at && at + length <= content.length)) break;
    const record = content.toString('utf8', space + 1, at + length - 1);
    if (record.startsWith('path=')) said.path = record.slice(5);
    else if (/^size=\d{1,15}$/.test(record)) said.size = Number(record.slice(5));
    at += length;
  }
  return said;
}

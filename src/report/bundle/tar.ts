// A tar archive as a stream of bytes, for untrusted archives: only plain files are returned, each once, with
// a path that stays inside. Everything else is reported and skipped. Nothing is written to disk, so only
// names and sizes are a danger. Own code: an archive is headers of 512 bytes, and libraries would return
// links and devices to filter out here.

const blockSize = 512;
const longNameMax = 4_096;
const pathMax = 1_024;

export type TarProblem =
  'TAR_LINK' | 'TAR_DEVICE' | 'TAR_TYPE' | 'TAR_PATH' | 'TAR_DUPLICATE' | 'TAR_DAMAGED' | 'TAR_ENTRIES';

export type TarHandler = {
  /** Where the file's bytes go; null: they are not needed. */
  readonly onFile: (path: string, size: number) => TarSink | null;
  /** `name` is the name in the archive, cut to a printable length. */
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
  /** Remaining bytes of the entry and of its padding. */
  #rest = 0;
  #padding = 0;
  #sink: TarSink | null = null;
  /** Extended headers describe the entry after them. */
  #nextName: string | null = null;
  #nextSize: number | null = null;
  /** Its end was read, or it is too damaged to continue. */
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

  /** False: the archive was cut off. The current file is ended all the same. */
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
    // Headers of the whole archive, names of links, directories.
    if (type === 'g' || type === 'K' || type === '5') return null;
    if (++this.#entries > this.#entriesMax) {
      this.#stop('TAR_ENTRIES', path);
      return null;
    }
    const shown = path.slice(0, 200);
    const refusal = findTypeProblem(type) ?? (isInside(path) ? null : 'TAR_PATH');
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
        if (type === 'L') this.#nextName = readText(content, 0, content.length);
        else {
          const said = parsePax(content);
          this.#nextName = said.path ?? this.#nextName;
          this.#nextSize = said.size ?? this.#nextSize;
        }
      },
    };
  }
}

function findTypeProblem(type: string): TarProblem | null {
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
  if (readNumber(block, 148, 156) !== sum) return null;
  const name = readText(block, 0, 100);
  const isUstar = block.toString('latin1', 257, 262) === 'ustar' && block[263] !== 0x20;
  const prefix = isUstar ? readText(block, 345, 500) : '';
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: readNumber(block, 124, 136),
    type: String.fromCharCode(block[156]!),
  };
}

function readText(block: Buffer, start: number, end: number): string {
  const zero = block.indexOf(0, start);
  return block.toString('utf8', start, zero === -1 || zero > end ? end : zero);
}

/** Octal digits, or a binary number with its highest bit set. */
function readNumber(block: Buffer, start: number, end: number): number {
  if ((block[start]! & 0x80) !== 0) {
    let value = block[start]! & 0x7f;
    for (let at = start + 1; at < end; at++) value = value * 256 + block[at]!;
    return value;
  }
  const digits = readText(block, start, end).trim();
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

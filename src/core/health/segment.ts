// The results of an upload, in a few bits for each test. The tests themselves are a shape: the sorted numbers
// of the executed tests, which are the same from run to run and stored once. The durations of an upload
// follow the order of the shape:
//
//   shape      [3, 4, 9]   three tests; packed as how far each number lies above the one before: 3 1 5
//   durations  one byte each, by logarithm, as the distance from what the shape's first upload took
//
// Both are compressed where they are stored: distances are mostly zero, one up or one down.

/** A growing buffer: bytes are appended, and read as one array at the end. */
type SegmentWriter = { bytes: Uint8Array; length: number };

function put(writer: SegmentWriter, value: number): void {
  if (writer.length + 6 > writer.bytes.length) {
    const larger = new Uint8Array(writer.bytes.length * 2);
    larger.set(writer.bytes);
    writer.bytes = larger;
  }
  let rest = value;
  while (rest >= 128) {
    writer.bytes[writer.length++] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
  }
  writer.bytes[writer.length++] = rest;
}

type SegmentReader = { readonly bytes: Uint8Array; at: number };

function take(reader: SegmentReader): number {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return value;
  }
}

function putSorted(writer: SegmentWriter, numbers: ArrayLike<number>): void {
  put(writer, numbers.length);
  let before = 0;
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index]!;
    put(writer, number - before);
    before = number;
  }
}

function takeSorted(reader: SegmentReader): Int32Array {
  const numbers = new Int32Array(take(reader));
  let before = 0;
  for (let index = 0; index < numbers.length; index++) {
    before += take(reader);
    numbers[index] = before;
  }
  return numbers;
}

/** Ascending numbers as the difference of each from the one before. */
export function packNumbers(numbers: ArrayLike<number>): Uint8Array {
  const writer: SegmentWriter = { bytes: new Uint8Array(64 + numbers.length * 2), length: 0 };
  putSorted(writer, numbers);
  return writer.bytes.subarray(0, writer.length);
}

export const unpackNumbers = (bytes: Uint8Array): Int32Array => takeSorted({ bytes, at: 0 });

/** The index of a number among ascending ones; -1: it is not among them. */
export function binarySearch(numbers: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = numbers[middle]!;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** How many of the first ascending numbers are not among the second. */
export function countMissing(usual: ArrayLike<number>, present: ArrayLike<number>): number {
  let missing = 0;
  let at = 0;
  for (let index = 0; index < usual.length; index++) {
    const wanted = usual[index]!;
    while (at < present.length && present[at]! < wanted) at++;
    if (at === present.length || present[at] !== wanted) missing++;
  }
  return missing;
}

/** Four steps to a doubling: a step is about 19 %, less than a test usually varies from run to run. */
const stepsPerOctave = 4;

/** 0: unknown. A day is 106. */
export function durationByte(durationMs: number | null): number {
  if (durationMs === null || !(durationMs >= 0)) return 0;
  return 1 + Math.min(254, Math.round(Math.log2(1 + durationMs) * stepsPerOctave));
}

/** In milliseconds; null: unknown. */
export const durationOfByte = (byte: number): number | null =>
  byte === 0 ? null : 2 ** ((byte - 1) / stepsPerOctave) - 1;

/** Durations of the tests of a shape, as distances from those of its first upload. */
export function packDurations(durations: Uint8Array, typical: Uint8Array): Uint8Array {
  return durations.map((duration, index) => (duration - (typical[index] ?? 0)) & 255);
}

/** The durations of the tests of a shape. Segments of earlier releases hold other numbers before the durations. */
export function unpackDurations(bytes: Uint8Array, typical: Uint8Array, tests: number): Uint8Array {
  return bytes
    .subarray(bytes.length - tests)
    .map((distance, index) => (distance + (typical[index] ?? 0)) & 255);
}

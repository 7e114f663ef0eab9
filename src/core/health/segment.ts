// What one upload says of every test that it executed, in a few bits each. The tests themselves are a shape: the sorted
// numbers of what was executed, which is the same from run to run and stored once. A segment speaks of them by their
// place in the shape: where a run was not a plain pass, how many attempts it took if not one, and how long it took.
//
//   shape     [3, 4, 9]      three tests; packed as how far each lies above the one before: 3 1 5
//   segment   failed [1]     the test with the number 4 failed
//             flaky []       none passed and failed
//             attempts [1: 3]
//             durations      one byte each, by logarithm, as the distance from what the shape's first upload took
//
// Whoever stores both compresses them: distances are mostly zero, one up or one down.

/** A number that grows by itself: bytes are appended, and taken as one array at the end. */
type Writer = { bytes: Uint8Array; length: number };

function put(writer: Writer, value: number): void {
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

type Reader = { readonly bytes: Uint8Array; at: number };

function take(reader: Reader): number {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return value;
  }
}

function putSorted(writer: Writer, numbers: ArrayLike<number>): void {
  put(writer, numbers.length);
  let before = 0;
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index]!;
    put(writer, number - before);
    before = number;
  }
}

function takeSorted(reader: Reader): Int32Array {
  const numbers = new Int32Array(take(reader));
  let before = 0;
  for (let index = 0; index < numbers.length; index++) {
    before += take(reader);
    numbers[index] = before;
  }
  return numbers;
}

/** Ascending numbers as how far each lies above the one before. */
export function packNumbers(numbers: ArrayLike<number>): Uint8Array {
  const writer: Writer = { bytes: new Uint8Array(64 + numbers.length * 2), length: 0 };
  putSorted(writer, numbers);
  return writer.bytes.subarray(0, writer.length);
}

export const unpackNumbers = (bytes: Uint8Array): Int32Array => takeSorted({ bytes, at: 0 });

/** Where a number stands among ascending ones; -1: nowhere. */
export function placeOf(numbers: ArrayLike<number>, wanted: number): number {
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

/** Four steps to a doubling: a step is a fifth, which is less than what the same test differs from run to run. */
const stepsPerOctave = 4;

/** 0: unknown. A day is 106. */
export function durationByte(durationMs: number | null): number {
  if (durationMs === null || !(durationMs >= 0)) return 0;
  return 1 + Math.min(254, Math.round(Math.log2(1 + durationMs) * stepsPerOctave));
}

export const durationOfByte = (byte: number): number | null =>
  byte === 0 ? null : 2 ** ((byte - 1) / stepsPerOctave) - 1;

export type Segment = {
  /** Places in the shape, ascending. */
  readonly failed: ArrayLike<number>;
  readonly flaky: ArrayLike<number>;
  /** Runs of other than one attempt: places, ascending, and how many. */
  readonly retried: { readonly places: ArrayLike<number>; readonly attempts: ArrayLike<number> };
  /** One byte for each test of the shape. */
  readonly durations: Uint8Array;
};

/** The form of what is packed; a later one reads the earlier. */
const version = 1;

export function packSegment(segment: Segment, typical: Uint8Array): Uint8Array {
  const { failed, flaky, retried, durations } = segment;
  const head: Writer = { bytes: new Uint8Array(64), length: 0 };
  put(head, version);
  putSorted(head, failed);
  putSorted(head, flaky);
  putSorted(head, retried.places);
  for (let index = 0; index < retried.places.length; index++) put(head, retried.attempts[index]!);
  const bytes = new Uint8Array(head.length + durations.length);
  bytes.set(head.bytes.subarray(0, head.length));
  for (let index = 0; index < durations.length; index++)
    bytes[head.length + index] = (durations[index]! - (typical[index] ?? 0)) & 255;
  return bytes;
}

export function unpackSegment(bytes: Uint8Array, typical: Uint8Array): Segment {
  const reader: Reader = { bytes, at: 0 };
  take(reader);
  const failed = takeSorted(reader);
  const flaky = takeSorted(reader);
  const places = takeSorted(reader);
  const attempts = Int32Array.from(places, () => take(reader));
  const durations = bytes.slice(reader.at);
  for (let index = 0; index < durations.length; index++)
    durations[index] = (durations[index]! + (typical[index] ?? 0)) & 255;
  return { failed, flaky, retried: { places, attempts }, durations };
}

// How long each test usually takes, by the durations of recent uploads, and from that how long each file takes. The
// median of a few uploads is not moved by one slow machine, nor by a test that failed early.

import { durationOfByte } from '../segment.ts';

/** The durations of one upload: by logarithm (segment.ts), in the order of the numbers. */
export type UploadDurations = { readonly ordinals: Int32Array; readonly durations: Uint8Array };

/** Of each test the newest durations are read. */
const samplesMax = 5;

export type TypicalDurations = {
  /** The numbers of the tests, ascending. */
  readonly ordinals: Int32Array;
  /** In milliseconds; null: no upload has a duration. */
  readonly durationMs: (place: number) => number | null;
};

/** The newest upload first. */
export function findTypicalDurations(uploads: readonly UploadDurations[]): TypicalDurations {
  const ordinals = mergeOrdinals(uploads);
  const samples = new Uint8Array(ordinals.length * samplesMax);
  const counts = new Uint8Array(ordinals.length);
  for (const upload of uploads) {
    let place = 0;
    for (let index = 0; index < upload.ordinals.length; index++) {
      while (ordinals[place] !== upload.ordinals[index]) place++;
      const duration = upload.durations[index] ?? 0;
      if (duration === 0 || counts[place] === samplesMax) continue;
      samples[place * samplesMax + counts[place]!++] = duration;
    }
  }
  return {
    ordinals,
    durationMs: (place) => {
      const first = place * samplesMax;
      const sorted = samples.slice(first, first + counts[place]!).sort();
      return durationOfByte(sorted[Math.floor((sorted.length - 1) / 2)] ?? 0);
    },
  };
}

/** Uploads of one shape share the list of its numbers, which is merged once. */
function mergeOrdinals(uploads: readonly UploadDurations[]): Int32Array {
  const lists = [...new Set(uploads.map(({ ordinals }) => ordinals))];
  const all = new Int32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let size = 0;
  for (const list of lists) {
    all.set(list, size);
    size += list.length;
  }
  all.sort();
  return all.filter((ordinal, index) => index === 0 || ordinal !== all[index - 1]);
}

/** Sums the durations of tests by file and variant. */
export function createFileSums(fileCount: number): {
  readonly add: (file: number, variant: string, durationMs: number) => void;
  /**
   * In whole milliseconds, for each file; null: unknown. Each variant runs all tests of a file, so the file takes as long as
   * in the wanted variant or, if that is not known, in the mean of all.
   */
  readonly durations: (variant: string) => readonly (number | null)[];
} {
  const sums = Array.from({ length: fileCount }, () => new Map<string, number>());
  return {
    add: (file, variant, durationMs) => {
      const ofFile = sums[file]!;
      ofFile.set(variant, (ofFile.get(variant) ?? 0) + durationMs);
    },
    durations: (variant) =>
      sums.map((ofFile) => {
        if (ofFile.size === 0) return null;
        const total = [...ofFile.values()].reduce((sum, value) => sum + value, 0);
        return Math.round(ofFile.get(variant) ?? total / ofFile.size);
      }),
  };
}

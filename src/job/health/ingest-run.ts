// Combines the cases of one upload into runs of its tests, in flat arrays. An upload may have millions of
// cases, so a case is a few numbers here, and only failures keep their texts.

import { combineOutcomes, type ReportedCase, type RunOutcome } from '#core/health/reported-case.ts';
import { durationByte } from '#core/health/segment.ts';

const outcomes: readonly RunOutcome[] = ['passed', 'failed', 'flaky', 'skipped'];
const codeOf: Readonly<Record<RunOutcome, number>> = { passed: 0, failed: 1, flaky: 2, skipped: 3 };
/** The combination of two codes, at `a * 4 + b`. */
const combined = Uint8Array.from({ length: 16 }, (_, index) => {
  const outcome = combineOutcomes(outcomes[index >> 2]!, outcomes[index & 3]!);
  return codeOf[outcome];
});

/** The runs of an upload: one for each executed test, ascending by number. */
export type Runs = {
  readonly ordinals: Int32Array;
  /** 0 passed, 1 failed, 2 flaky. */
  readonly outcomes: Uint8Array;
  readonly attempts: Uint16Array;
  /** By logarithm: core/health/segment.ts. */
  readonly durations: Uint8Array;
  /** Numbers of tests of which no attempt was executed, ascending. */
  readonly skipped: Int32Array;
};

export const decodeOutcome = (code: number): 'passed' | 'failed' | 'flaky' =>
  code === 0 ? 'passed' : code === 1 ? 'failed' : 'flaky';

export type CaseList = {
  /** `number`: the number of the test, or a temporary one that `resolve` replaces. */
  readonly add: (number: number, found: ReportedCase) => void;
  readonly count: () => number;
  /** Whether there were more cases than can be kept. */
  readonly isCut: () => boolean;
  /** Sorts the cases and joins those of one test. */
  readonly toRuns: (resolve: (number: number) => number) => Runs;
};

/** More than any upload has: an index in the list and a number form one exact sort key. */
const casesMax = 2 ** 23;

export function createCaseList(): CaseList {
  let numbers = new Float64Array(1_024);
  let codes = new Uint8Array(1_024);
  let attempts = new Uint16Array(1_024);
  let durations = new Float32Array(1_024);
  let count = 0;
  let isCut = false;

  const grow = (): void => {
    const size = numbers.length * 2;
    const before = { numbers, codes, attempts, durations };
    numbers = new Float64Array(size);
    codes = new Uint8Array(size);
    attempts = new Uint16Array(size);
    durations = new Float32Array(size);
    numbers.set(before.numbers);
    codes.set(before.codes);
    attempts.set(before.attempts);
    durations.set(before.durations);
  };

  return {
    count: () => count,
    isCut: () => isCut,
    add: (number, found) => {
      if (count === casesMax) {
        isCut = true;
        return;
      }
      if (count === numbers.length) grow();
      numbers[count] = number;
      codes[count] = codeOf[found.outcome];
      attempts[count] = Math.min(65_535, found.attempts);
      durations[count] = found.durationMs ?? -1;
      count++;
    },
    toRuns: (resolve) => {
      const keys = numbers.subarray(0, count);
      let isSorted = true;
      for (let index = 0; index < count; index++) {
        keys[index] = resolve(keys[index]!) * casesMax + index;
        if (index > 0 && keys[index]! < keys[index - 1]!) isSorted = false;
      }
      if (!isSorted) keys.sort();
      return joined(keys, { codes, attempts, durations });
    },
  };
}

type CaseColumns = {
  readonly codes: Uint8Array;
  readonly attempts: Uint16Array;
  readonly durations: Float32Array;
};

/** Cases of one test are neighbours by now. */
function joined(keys: Float64Array, cases: CaseColumns): Runs {
  const ordinals = new Int32Array(keys.length);
  const codes = new Uint8Array(keys.length);
  const attempts = new Uint16Array(keys.length);
  const durations = new Uint8Array(keys.length);
  const skipped: number[] = [];
  let size = 0;
  for (let index = 0; index < keys.length;) {
    const ordinal = Math.floor(keys[index]! / casesMax);
    let code = 3;
    let tries = 0;
    let durationMs = -1;
    for (; index < keys.length && Math.floor(keys[index]! / casesMax) === ordinal; index++) {
      const place = keys[index]! % casesMax;
      code = combined[code * 4 + cases.codes[place]!]!;
      if (cases.codes[place] === 3) continue;
      tries += cases.attempts[place]!;
      if (cases.durations[place]! >= 0) durationMs = Math.max(0, durationMs) + cases.durations[place]!;
    }
    if (code === 3) {
      skipped.push(ordinal);
      continue;
    }
    ordinals[size] = ordinal;
    codes[size] = code;
    attempts[size] = Math.max(1, Math.min(65_535, tries));
    durations[size] = durationByte(durationMs < 0 ? null : durationMs);
    size++;
  }
  return {
    ordinals: ordinals.subarray(0, size),
    outcomes: codes.subarray(0, size),
    attempts: attempts.subarray(0, size),
    durations: durations.subarray(0, size),
    skipped: Int32Array.from(skipped),
  };
}

// A part of `npm run bench:sizes`: one thing that must stay as it is, or stay possible, at the sizes of large installations.

import type { Goal } from '../figure.ts';
import type { Cleanup } from '../fixture.ts';

export type PartResult = {
  readonly goals: readonly Goal[];
  /** What was found, in words, with the sizes at which it was measured. */
  readonly lines: readonly string[];
};

export type Part = {
  readonly name: string;
  /** `isFull`: at the size that the goals are meant for, however long it takes. */
  readonly measure: (cleanup: Cleanup, isFull: boolean) => Promise<PartResult>;
};

// A run of CI, and the uploads that come of it.

import type { ReplayUpload } from '../replay/upload.ts';
import type { Push } from './change.ts';
import type { Cause } from './truth.ts';

export type Failing = { readonly test: number; readonly cause: Cause; readonly isFailed: boolean };

/** An upload with the truth about its results. */
export type RealUpload = {
  readonly upload: ReplayUpload;
  /** The causes of its failures, by the place in `upload.results`. */
  readonly failing: readonly Failing[];
  /** The second arrival of the same upload. */
  readonly isRepeated: boolean;
};

export type Run = {
  readonly at: number;
  readonly kind: 'default' | 'pull_request' | 'queue';
  readonly head: string;
  /** The default branch as of this instant is in what is tested. */
  readonly baseAt: number;
  readonly push: Push | null;
  /** 1 for the first run of a head. */
  readonly attempt: number;
  /** Only these shards, by job and shard; null: all. */
  readonly only: ReadonlySet<string> | null;
};

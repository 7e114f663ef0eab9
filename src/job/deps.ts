// What the tasks of the worker are given; main.ts composes it.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { BlobStore } from '#blob/blob.ts';
import type { Cell } from '#db/cell.ts';
import type { KeptQueues } from '#db/kept-entries.ts';
import type { HostFor } from '#host/host.ts';
import type { Mirrors } from './mirrors.ts';
import type { TargetCache } from '#db/target-cache.ts';

export type TaskDeps = {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly log: Log;
  readonly hostFor: HostFor;
  readonly mirrors: Mirrors;
  readonly targets: TargetCache;
  /** What is kept of long queues between two reconciles; absent: each is read whole. */
  readonly queues?: KeptQueues;
  /** Where the bytes of uploads are. */
  readonly blobs: BlobStore;
  /** How often an active queue is asked for what webhooks may have missed. */
  readonly sweepMs: number;
  /** How long things are kept (db/retention.ts). */
  readonly historyMonths: number;
  /** Absent: ten years, and a quarter of one. */
  readonly recordMonths?: number;
  readonly targetDays?: number;
  /** What may stand after the slash of a command; the first is the one we name. */
  readonly commandWords: readonly string[];
  /** Who makes our commits, where a setting says so; null: our account at the Git host. */
  readonly committer: { readonly name: string; readonly email: string } | null;
  /** Where people find us. */
  readonly publicUrl: string;
};

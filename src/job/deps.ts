// The dependencies of the worker's tasks; main.ts composes them.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { BlobStore } from '#blob/blob.ts';
import type { Cell } from '#db/cell.ts';
import type { KeptQueues } from '#db/queue/kept-entries.ts';
import type { HostFor } from '#host/host.ts';
import type { Mirrors } from './mirrors.ts';
import type { TargetCache } from '#db/queue/target-cache.ts';

export type TaskDeps = {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly log: Log;
  readonly hostFor: HostFor;
  /** Reads the connections to Git hosts again. */
  readonly refreshHosts: () => Promise<void>;
  readonly mirrors: Mirrors;
  readonly targets: TargetCache;
  /** Cached state of long queues between two reconciles; absent: each is read whole. */
  readonly queues?: KeptQueues;
  /** Where the bytes of uploads are. */
  readonly blobs: BlobStore;
  /** How often an active queue is polled for what webhooks may have missed. */
  readonly sweepMs: number;
  /** How long things are kept (db/retention.ts). */
  readonly historyMonths: number;
  /** Absent: ten years, and a quarter of one. */
  readonly recordMonths?: number;
  readonly targetDays?: number;
  /** The names that a command may have after the slash; the first is the one that texts mention. */
  readonly commandNames: readonly string[];
  /** The committer of Signalbox's commits, if it is configured; null: our account at the Git host. */
  readonly committer: { readonly name: string; readonly email: string } | null;
  /** The public URL of this installation; not given: a default that only this machine can reach. */
  readonly publicUrl: string;
  readonly isPublicUrlGiven: boolean;
};

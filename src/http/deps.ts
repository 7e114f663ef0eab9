// What the API server is built from; main.ts composes it.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { BlobStore } from '#blob/blob.ts';
import type { Config } from '#config/env.ts';
import type { Cell, Cells } from '#db/cell.ts';
import type { HostFor } from '#host/host.ts';

export type Deps = {
  readonly cells: Cells;
  readonly hostFor: HostFor;
  /** Has this process serve a Git host that was just connected. */
  readonly refreshHosts: () => Promise<void>;
  /** Whether the sandbox host serves in a cell; the dashboard says so. */
  readonly isSandboxServing: (cellName: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the bytes of a cell's uploads are kept. */
  readonly blobsOf: (cell: Cell) => BlobStore;
  readonly config: Pick<
    Config,
    | 'address'
    | 'publicUrl'
    | 'isPublicUrlGiven'
    | 'rateLimit'
    | 'sandbox'
    | 'ticketUrl'
    | 'upload'
    | 'secretKey'
    | 'gitHosts'
    | 'webhook'
    | 'oidc'
  >;
  readonly version: string;
  /** The built dashboard; it need not be there. */
  readonly webFolder: string;
};

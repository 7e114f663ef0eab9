// What the API server is built from; main.ts composes it.

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Config } from '#config/env.ts';
import type { Cells } from '#db/cell.ts';
import type { HostFor } from '#host/host.ts';

export type Deps = {
  readonly cells: Cells;
  readonly hostFor: HostFor;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Pick<Config, 'publicUrl' | 'rateLimit' | 'sandbox' | 'ticketUrl'>;
  readonly version: string;
};

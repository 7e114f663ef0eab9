// Records in the database which mirrors this worker has, for people and for the other workers of the cell.
// Nothing waits for it: after a failure, the next progress or heartbeat writes it.

import { randomUUID } from 'node:crypto';
import type { RepositoryId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import type { Cell } from '#db/cell.ts';
import {
  forgetMirror,
  forgetWorker,
  isReadyElsewhere,
  recordFetching,
  recordReady,
  touchMirrors,
} from '#db/host/mirror-store.ts';
import type { MirrorReports } from './mirrors.ts';

export type MirrorReporter = {
  readonly reports: MirrorReports;
  /** Whether another worker that is alive has the repository. */
  readonly isElsewhere: (repositoryId: RepositoryId) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

/** Three heartbeats in the minute after which a worker counts as gone. */
const beatMs = 20_000;

export function createMirrorReporter({ db }: Pick<Cell, 'db'>, log: Log): MirrorReporter {
  const workerId = randomUUID();
  // One write after the other, so that the last report wins.
  let last: Promise<unknown> = Promise.resolve();
  const write = (work: () => Promise<void>) => {
    last = last.then(work).catch((error: unknown) => {
      log.warn({ err: error }, 'could not store the state of a mirror');
    });
  };
  const timer = setInterval(() => write(() => touchMirrors(db, workerId)), beatMs);
  timer.unref();
  return {
    reports: {
      fetching: (id, { percent, bytes }) =>
        write(() => recordFetching(db, id, workerId, { percent, receivedBytes: bytes })),
      ready: (id) => write(() => recordReady(db, id, workerId)),
      removed: (id) => write(() => forgetMirror(db, id, workerId)),
    },
    isElsewhere: (id) => isReadyElsewhere(db, id, workerId),
    close: async () => {
      clearInterval(timer);
      write(() => forgetWorker(db, workerId));
      await last;
    },
  };
}

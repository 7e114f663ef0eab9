// Live updates: hands the change notices of a cell to the streams that are open in this process.
//
// A watcher receives which queues changed, never what changed: it reads them again. Changes are folded, so a
// busy queue is reported at most ten times a second; the first change after a quiet period is reported at
// once.
//
// An id records how far a watcher has been notified, so that a watcher that reconnects receives what it
// missed and nothing else. An id is valid as long as no notice was lost: the epoch is new with each process
// and each time the LISTEN connection restarts, and a watcher with an id of another epoch is notified of
// every queue that it watches.
//
//   epoch 7f3a:  queue A changed (1)   queue B changed (2)   queue A changed (3)
//   a watcher of A and B with the id 7f3a-2 receives A; with 7f3a-3 nothing; with any other id A and B.

import { randomBytes } from 'node:crypto';
import type { QueueId } from '#base/id.ts';
import type { Listener } from '#db/listen.ts';

/** The queues to read again, and one id for all of these changes. */
export type ChangedQueues = {
  readonly queueIds: readonly QueueId[];
  readonly version: number;
  readonly id: string;
};

/** How far notices were received: the number of the last one in an epoch. */
export type StreamPosition = { readonly epoch: string; readonly version: number };

type Watcher = {
  readonly queueIds: readonly QueueId[];
  readonly notify: (changedQueues: ChangedQueues) => void;
  readonly pending: Set<QueueId>;
  timer: NodeJS.Timeout | undefined;
  isClosed: boolean;
};

type WatchHandle = { readonly close: () => void };

export type StreamHub = {
  /** Reports at once what changed since `lastId` (without one: every queue), then each change. */
  readonly watch: (
    queueIds: readonly QueueId[],
    lastId: string | undefined,
    notify: Watcher['notify'],
  ) => Promise<WatchHandle>;
  readonly position: () => StreamPosition;
  readonly close: () => Promise<void>;
};

type Listen = (handlers: {
  readonly onNotice: (payload: string) => void;
  readonly onBegin: () => void;
}) => Listener;

/** Shortest time between two messages to a watcher. */
const foldMs = 100;

/** Queues whose last change is kept; beyond this number a new epoch begins. */
const changesMax = 10_000;

const createWatcher = (queueIds: Watcher['queueIds'], notify: Watcher['notify']): Watcher => ({
  queueIds,
  notify,
  pending: new Set(),
  timer: undefined,
  isClosed: false,
});

export function createStreamHub(listen: Listen): StreamHub {
  const watchers = new Map<QueueId, Set<Watcher>>();
  const changes = new Map<QueueId, number>();
  const state = { epoch: '', version: 0 };
  let listener: Listener | undefined;

  const renew = () => {
    state.epoch = randomBytes(6).toString('hex');
    changes.clear();
  };
  const flush = (watcher: Watcher) => {
    watcher.timer = undefined;
    if (watcher.pending.size === 0 || watcher.isClosed) return;
    const queueIds = [...watcher.pending];
    watcher.pending.clear();
    watcher.notify({ queueIds, version: state.version, id: `${state.epoch}-${state.version}` });
    watcher.timer = setTimeout(() => flush(watcher), foldMs);
  };
  const mark = (watcher: Watcher, queueIds: readonly QueueId[]) => {
    for (const queueId of queueIds) watcher.pending.add(queueId);
    // Deferred, so that the first notice of a burst is sent together with the rest.
    if (watcher.pending.size > 0) watcher.timer ??= setTimeout(() => flush(watcher), 0);
  };
  const onNotice = (payload: string) => {
    const queueId = payload as QueueId;
    if (changes.size >= changesMax) renew();
    state.version += 1;
    changes.set(queueId, state.version);
    for (const watcher of watchers.get(queueId) ?? []) mark(watcher, [queueId]);
  };
  const onBegin = () => {
    renew();
    for (const watcher of new Set([...watchers.values()].flatMap((set) => [...set])))
      mark(watcher, watcher.queueIds);
  };

  const missedBy = (queueIds: readonly QueueId[], lastId: string | undefined): readonly QueueId[] => {
    const [epoch, version = ''] = lastId?.split('-') ?? [];
    const known = epoch === state.epoch && /^\d{1,15}$/.test(version) ? Number(version) : null;
    if (known === null) return queueIds;
    return queueIds.filter((queueId) => (changes.get(queueId) ?? 0) > known);
  };

  return {
    watch: async (queueIds, lastId, notify) => {
      listener ??= listen({ onNotice, onBegin });
      await listener.begun;
      const watcher = createWatcher(queueIds, notify);
      for (const queueId of queueIds)
        watchers.set(queueId, (watchers.get(queueId) ?? new Set()).add(watcher));
      mark(watcher, missedBy(queueIds, lastId));
      return {
        close: () => {
          watcher.isClosed = true;
          clearTimeout(watcher.timer);
          for (const queueId of queueIds) {
            const others = watchers.get(queueId);
            others?.delete(watcher);
            if (others?.size === 0) watchers.delete(queueId);
          }
        },
      };
    },
    position: () => ({ ...state }),
    close: async () => {
      await listener?.close();
    },
  };
}

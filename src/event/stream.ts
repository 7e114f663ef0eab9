// What changes, as it changes, for whoever watches: the notices of a cell handed to the streams that are open here.
//
// A watcher is told which queues changed, never what: it reads anew. Changes are folded, so a busy queue is told of ten
// times a second at most; the first after a pause is told at once.
//
// An id says how far a watcher has been told, so that one who comes back hears of what it missed and of nothing else.
// It holds for as long as every notice was heard: the epoch is new with each process and each time the listening
// connection had to begin anew, and who comes back with an id of another epoch is told of everything it watches.
//
//   epoch 7f3a:  queue A changed (1)   queue B changed (2)   queue A changed (3)
//   a watcher of A and B with the id 7f3a-2 hears of A; with 7f3a-3 of nothing; with any other of A and B.

import { randomBytes } from 'node:crypto';
import type { QueueId } from '#base/id.ts';
import type { Listener } from '#db/listen.ts';

/** Queues to read anew; an id for the whole of it. */
export type Told = { readonly queueIds: readonly QueueId[]; readonly version: number; readonly id: string };

/** How far notices were heard: the number of the last in an epoch. */
export type Heard = { readonly epoch: string; readonly version: number };

type Watcher = {
  readonly queueIds: readonly QueueId[];
  readonly tell: (told: Told) => void;
  readonly pending: Set<QueueId>;
  timer: NodeJS.Timeout | undefined;
  isClosed: boolean;
};

type Watch = { readonly close: () => void };

export type StreamHub = {
  /** Tells at once what changed since `lastId` (with none: all), then whatever changes. */
  readonly watch: (
    queueIds: readonly QueueId[],
    lastId: string | undefined,
    tell: Watcher['tell'],
  ) => Promise<Watch>;
  readonly heard: () => Heard;
  readonly close: () => Promise<void>;
};

type Listen = (handlers: {
  readonly onNotice: (payload: string) => void;
  readonly onBegin: () => void;
}) => Listener;

/** Shortest time between two words to a watcher. */
const foldMs = 100;

/** Queues whose last change is remembered; with more the memory begins anew. */
const changesMax = 10_000;

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
    watcher.tell({ queueIds, version: state.version, id: `${state.epoch}-${state.version}` });
    watcher.timer = setTimeout(() => flush(watcher), foldMs);
  };
  const mark = (watcher: Watcher, queueIds: readonly QueueId[]) => {
    for (const queueId of queueIds) watcher.pending.add(queueId);
    // Not within the notice: the first of a burst takes the rest with it.
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
    watch: async (queueIds, lastId, tell) => {
      listener ??= listen({ onNotice, onBegin });
      await listener.begun;
      const watcher: Watcher = { queueIds, tell, pending: new Set(), timer: undefined, isClosed: false };
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
    heard: () => ({ ...state }),
    close: async () => {
      await listener?.close();
    },
  };
}

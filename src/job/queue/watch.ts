// Once a minute: reports queues that make no progress or have become slow, once for each time, and when that is over
// (core/queue/watch/trouble.ts).

import { type TroubleChange, watchTroubles } from '#core/queue/watch/trouble.ts';
import type { Tx } from '#db/cell.ts';
import {
  beginTrouble,
  endTrouble,
  listWatched,
  markTrouble,
  pinUsual,
  type Watched,
} from '#db/queue/trouble-store.ts';
import { withTransaction } from '#db/transaction.ts';
import { recordQueueEvent } from '#db/webhook/queue-event.ts';
import type { TaskDeps } from '../deps.ts';

const atOnce = 200;

export async function watchQueues({ cell, clock }: Pick<TaskDeps, 'cell' | 'clock'>): Promise<void> {
  const now = clock.now();
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) {
    const part: readonly Watched[] = await listWatched(cell.reader, now, after, atOnce);
    for (const { queueId, observed, open, toPin } of part) {
      const changes = watchTroubles(observed, open, now);
      if (changes.length === 0 && toPin === null) continue;
      await withTransaction(cell, async (tx) => {
        for (const change of changes) await apply(tx, queueId, change, now);
        if (toPin !== null) await pinUsual(tx, queueId, toPin, now);
      });
    }
    after = part.length < atOnce ? undefined : part.at(-1)?.queueId;
  }
}

async function apply(tx: Tx, queueId: Watched['queueId'], change: TroubleChange, now: Date): Promise<void> {
  const { trouble } = change;
  switch (change.kind) {
    case 'begin': {
      const { reason } = change;
      if (await beginTrouble(tx, queueId, trouble, reason, now))
        await recordQueueEvent(tx, queueId, 'queue', { action: trouble, reason }, now);
      return;
    }
    case 'mark':
      await markTrouble(tx, queueId, trouble, change.isClear ? now : null);
      return;
    case 'end': {
      const since = await endTrouble(tx, queueId, trouble, now);
      if (since === null || !change.isReported) return;
      const body = { action: 'recovered', from: trouble, since: since.toISOString() };
      await recordQueueEvent(tx, queueId, 'queue', body, now);
    }
  }
}

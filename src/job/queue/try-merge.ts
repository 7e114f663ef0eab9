// While a host is still computing whether pull requests merge cleanly, Signalbox tries the merge in its own
// mirror: the commits are fetched for the test run anyway, and the host need not be polled. A conflict found
// here counts like one that the host reports; a later result from the host overrides it.

import { changeEntry } from '#command/change-entry.ts';
import { loadUntried } from '#db/host/host-store.ts';
import { enqueueRefreshSoon, type JobPayloads } from '#db/job/job.ts';
import { atHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

export async function tryMerges(deps: TaskDeps, payload: JobPayloads['try-merges']): Promise<void> {
  const { cell, clock } = deps;
  const load = () => loadUntried(cell.db, payload.queueId);
  await atHost(deps, 'try-merges', payload, load, async ({ queue, repository, entries }, { mirror }) => {
    if (entries.length === 0) return;
    const pulls = entries.map(({ number, headSha: sha }) => ({ number, sha }));
    const { tip, missing } = await mirror.fetch({ branch: queue.targetBranch, pulls });
    const gone = new Set(missing.map(({ number }) => number));
    for (const { number, headSha } of entries) {
      if (tip === null || gone.has(number)) {
        await enqueueRefreshSoon(cell.db, repository.id, number);
        continue;
      }
      const isMergeable = (await mirror.merge(tip, headSha)).kind === 'merged';
      const where = { cell, queueId: queue.id, prNumber: number };
      await changeEntry(where, () => ({ kind: 'try', headSha, isMergeable }), clock.now());
    }
  });
}

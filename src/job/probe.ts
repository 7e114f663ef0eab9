// Direct merge: which of the waiting pull requests already contain the tip and passed their own required checks there.

import { verdictOf } from '#core/queue/check.ts';
import { loadProbing, recordProbed } from '#db/host-store.ts';
import { enqueueReconciles, type JobPayloads } from '#db/job.ts';
import { withTransaction } from '#db/transaction.ts';
import { atHost, type Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';
import { requiredChecks } from './required.ts';

type Probing = NonNullable<Awaited<ReturnType<typeof loadProbing>>>;

export async function probeEntries(deps: TaskDeps, payload: JobPayloads['probe-entries']): Promise<void> {
  const { cell } = deps;
  const load = () => loadProbing(cell.db, payload.queueId);
  await atHost(deps, 'probe-entries', payload, load, async (work, place) => {
    const { branchSha: tip } = work;
    if (tip === null || work.entries.length === 0) return;
    const probed = await probe(work, place, tip);
    await withTransaction(cell, async (tx) => {
      await recordProbed(tx, work.queue.id, tip, probed);
      await enqueueReconciles(tx, [work.queue.id]);
    });
  });
}

async function probe(work: Probing, place: Place, tip: string) {
  const pulls = work.entries.map(({ number, headSha: sha }) => ({ number, sha }));
  const { missing } = await place.mirror.fetch({ branch: work.queue.targetBranch, pulls });
  const gone = new Set(missing.map(({ sha }) => sha));
  const probed: { number: number; head: string; tested: boolean }[] = [];
  for (const { number, headSha: head } of work.entries) {
    const tested = !gone.has(head) && (await isTested(work, place, tip, head));
    probed.push({ number, head, tested });
  }
  return probed;
}

async function isTested(work: Probing, place: Place, tip: string, head: string): Promise<boolean> {
  if (!(await place.mirror.contains(tip, head))) return false;
  const required = await requiredChecks(work, place, head);
  if (required.kind === 'unknown') return false;
  const checks = await place.host.readChecks(work.repository, head);
  return verdictOf(required.checks, checks, work.queue.settings.skippableStatuses).kind === 'passed';
}

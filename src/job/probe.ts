// Direct merge: which of the waiting pull requests already contain the tip and passed their own required checks there.

import { verdictOf } from '#core/queue/check.ts';
import { loadProbing, recordProbed } from '#db/host-store.ts';
import type { QueueAtHost } from '#db/host-view.ts';
import { enqueueReconciles, type JobPayloads } from '#db/job.ts';
import { loadLastLandedChecks } from '#db/kept-check.ts';
import { withTransaction } from '#db/transaction.ts';
import { atHost, type Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';
import { type BranchReports, branchReports, type Commits, requiredChecks } from './required.ts';

type Probing = NonNullable<Awaited<ReturnType<typeof loadProbing>>>;

export async function probeEntries(deps: TaskDeps, payload: JobPayloads['probe-entries']): Promise<void> {
  const { cell } = deps;
  const load = () => loadProbing(cell.db, payload.queueId);
  await atHost(deps, 'probe-entries', payload, load, async (work, place) => {
    const { branchSha: tip } = work;
    if (tip === null || work.entries.length === 0) return;
    const lastLanded = await loadLastLandedChecks(cell.reader, work.queue.id);
    const probed = await probe(work, place, tip, branchReports(work, place, lastLanded));
    await withTransaction(cell, async (tx) => {
      await recordProbed(tx, work.queue.id, tip, probed);
      await enqueueReconciles(tx, [work.queue.id]);
    });
  });
}

async function probe(work: Probing, place: Place, tip: string, reportsOn: BranchReports) {
  const pulls = work.entries.map(({ number, headSha: sha }) => ({ number, sha }));
  const { missing } = await place.mirror.fetch({ branch: work.queue.targetBranch, pulls });
  const gone = new Set(missing.map(({ sha }) => sha));
  const probed: { number: number; head: string; tested: boolean }[] = [];
  for (const { number, headSha: head } of work.entries) {
    const tested =
      !gone.has(head) && (await isTested(work, place, { base: tip, candidate: head }, reportsOn));
    probed.push({ number, head, tested });
  }
  return probed;
}

/** Whether a head that contains the tip passed what the branch requires, so that it may land without a run. */
export async function isTested(
  work: QueueAtHost,
  place: Place,
  { base, candidate: head, asOf }: Commits,
  reportsOn: BranchReports,
): Promise<boolean> {
  if (!(await place.mirror.contains(base, head))) return false;
  const required = await requiredChecks(work, place, { base, candidate: head, asOf }, reportsOn);
  if (required.kind !== 'known') return false;
  const checks = await place.host.readChecks(work.repository, head);
  return verdictOf(required.checks, checks, work.queue.settings.skippableStatuses).kind === 'passed';
}

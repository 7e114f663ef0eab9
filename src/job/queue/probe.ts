// Direct merge: which of the waiting pull requests already contain the tip and passed their own required checks there.

import { type RequiredCheck, unpassedChecks } from '#core/queue/check.ts';
import { loadProbing, recordProbed } from '#db/host/host-store.ts';
import type { QueueAtHost } from '#db/host/host-view.ts';
import { enqueueReconciles, type JobPayloads } from '#db/job/job.ts';
import { loadLastLandedChecks } from '#db/run/kept-check.ts';
import { withTransaction } from '#db/transaction.ts';
import { selectsTests } from '#git/candidate/selection.ts';
import { atHost, type HostSession } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';
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

async function probe(work: Probing, place: HostSession, tip: string, reportsOn: BranchReports) {
  const pulls = work.entries.map(({ number, headSha: sha }) => ({ number, sha }));
  const { missing } = await place.mirror.fetch({ branch: work.queue.targetBranch, pulls });
  const gone = new Set(missing.map(({ sha }) => sha));
  const probed: { number: number; head: string; tested: boolean }[] = [];
  for (const { number, headSha: head } of work.entries) {
    const tested =
      !gone.has(head) &&
      (await lackingChecks(work, place, { base: tip, candidate: head }, reportsOn)) === null;
    probed.push({ number, head, tested });
  }
  return probed;
}

/**
 * What prevents a head from landing without a run: the required checks that it has not passed. The list is
 * empty if the head does not contain the tip or the rules cannot be read; null: the head contains the tip and
 * passed the required checks.
 */
export async function lackingChecks(
  work: QueueAtHost,
  place: HostSession,
  { base, candidate: head, asOf }: Commits,
  reportsOn: BranchReports,
): Promise<readonly RequiredCheck[] | null> {
  if (!(await place.mirror.contains(base, head))) return [];
  // The test commit of a run of some tests passed its checks, and not by all tests.
  const commits = await place.mirror.commitsBetween(base, head);
  if (commits.some(({ message }) => selectsTests(message))) return [];
  const required = await requiredChecks(work, place, { base, candidate: head, asOf }, reportsOn);
  if (required.kind !== 'known') return [];
  const checks = await place.host.readChecks(work.repository, head);
  const lacking = unpassedChecks(required.checks, checks, work.queue.settings.skippableStatuses);
  return lacking.length === 0 ? null : lacking;
}

// Records where tests broke on the default branch, in the transaction that classifies them, and adds the job that lists what
// landed in between.

import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '#db/cell.ts';
import { findOpenBreakages, putBreakages, resolveBreakages } from '#db/run/breakage-store.ts';
import { enqueueForRepository } from '#db/job/job.ts';
import type { TestsLock } from '#db/transaction.ts';

export type BrokenRange = {
  readonly testCaseId: string;
  readonly before: HealthStatus;
  readonly status: HealthStatus;
  /** The last pass and the first failure; null: the monitors do not say. */
  readonly edge: { readonly after: string; readonly upTo: string } | null;
};

export async function recordBreakages(
  tx: Tx,
  lock: TestsLock,
  tests: readonly BrokenRange[],
  now: Date,
): Promise<void> {
  const concerned = tests.filter(({ before, status }) => before === 'broken' || status === 'broken');
  if (concerned.length === 0) return;
  const { repositoryId } = lock;
  const open = await findOpenBreakages(
    tx,
    repositoryId,
    concerned.map(({ testCaseId }) => testCaseId),
  );
  const broken = concerned.flatMap(({ testCaseId, status, edge }) => {
    if (status !== 'broken' || edge === null || edge.upTo === '') return [];
    const known = open.get(testCaseId);
    const isSame = known?.passedSha === edge.after && known.failedSha === edge.upTo;
    // With one change in between there is nothing to narrow: another range is that of another job.
    if (known?.isCertain === true) return [];
    // The ring of runs no longer reaches back to the last pass: what was known stays known.
    const isForgotten = known !== undefined && known.passedSha !== '' && edge.after === '';
    return isSame || isForgotten ? [] : [{ testCaseId, passedSha: edge.after, failedSha: edge.upTo }];
  });
  const over = concerned.filter(({ testCaseId, status }) => status !== 'broken' && open.has(testCaseId));
  if (broken.length > 0) {
    await putBreakages(tx, lock, broken, now);
    await enqueueForRepository(tx, 'find-culprits', { repositoryId });
  }
  if (over.length === 0) return;
  const ids = over.map(({ testCaseId }) => testCaseId);
  await resolveBreakages(tx, lock, ids, now);
  // The comment on a pull request says that the test passes again.
  const named = new Map(
    ids.flatMap((id) => {
      const culprit = open.get(id)?.culprit ?? null;
      return culprit === null ? [] : [[`${culprit.prNumber} ${culprit.sha}`, culprit] as const];
    }),
  );
  for (const culprit of named.values())
    await enqueueForRepository(tx, 'comment-culprit', { repositoryId, ...culprit });
}

// A person asks to verify the fix of a test, or ends that. The change, its line in the audit log, its fact and the job that
// follows from it commit together.

import { dayMs } from '#base/duration.ts';
import type { FixEnd } from '#core/health/fix/fix-verification.ts';
import { fullName } from '#core/repository.ts';
import { recordAudit } from '#db/audit-store.ts';
import type { Tx } from '#db/cell.ts';
import { addVerification, endVerification, listOpenVerifications } from '#db/run/fix-store.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { findOverride } from '#db/health/override-store.ts';
import { appendTestFacts, type FactTrigger } from '#db/health/verdict-store.ts';
import { enqueueForRepository } from '#db/job/job.ts';
import { type TestsLock, withTestsLock } from '#db/transaction.ts';
import type { TestChange } from './override-test.ts';

export type VerifyFixAnswer =
  | { readonly kind: 'started' }
  | { readonly kind: 'unknown_test' }
  /** The status of the test does not depend on runs. */
  | { readonly kind: 'healthy' }
  | { readonly kind: 'set_manually' }
  | { readonly kind: 'already_started' };

type RequestedVerification = { readonly id: string; readonly fixSha: string | null };

export const verifyFix = (
  { cell, repository, testCaseId, by }: TestChange,
  { id, fixSha }: RequestedVerification,
): Promise<VerifyFixAnswer> =>
  withTestsLock(cell, repository.id, async (tx, lock) => {
    const test = await findOverride(tx, repository.id, testCaseId);
    if (test === null) return { kind: 'unknown_test' };
    if (test.manual_status !== null) return { kind: 'set_manually' };
    if (test.status === 'healthy') return { kind: 'healthy' };
    const open = await listOpenVerifications(tx, repository.id);
    if (open.some((one) => one.testCaseId === testCaseId)) return { kind: 'already_started' };
    const { fixes } = await findHealthSettings(tx, repository.id);
    const endsAt = new Date(by.now.getTime() + fixes.days * dayMs);
    await addVerification(tx, lock, { id, testCaseId, startedBy: by.actor, fixSha, endsAt }, by.now);
    const fact = {
      testCaseId,
      kind: 'fix_verification_changed',
      before: { state: 'none' },
      after: { state: 'verifying', fix_sha: fixSha },
    } as const;
    await appendTestFacts(tx, lock, [fact], { kind: 'person', actor: by.actor }, by.now);
    await recordAudit(tx, by, {
      action: 'test.verify_fix',
      subject: `${fullName(repository)} ${testCaseId} ${test.name}`,
      before: null,
      after: { fixSha, endsAt },
    });
    await enqueueForRepository(tx, 'verify-fixes', { repositoryId: repository.id });
    return { kind: 'started' };
  });

/** False: the repository has no such test. A verification that has ended stays as it is. */
export const cancelFixVerification = ({ cell, repository, testCaseId, by }: TestChange): Promise<boolean> =>
  withTestsLock(cell, repository.id, async (tx, lock) => {
    const test = await findOverride(tx, repository.id, testCaseId);
    if (test === null) return false;
    const open = (await listOpenVerifications(tx, repository.id)).find(
      (one) => one.testCaseId === testCaseId,
    );
    if (open === undefined) return true;
    const trigger = { kind: 'person', actor: by.actor } as const;
    await concludeVerification(tx, lock, open, { outcome: 'cancelled', failedSha: null, trigger }, by.now);
    await recordAudit(tx, by, {
      action: 'test.verify_fix',
      subject: `${fullName(repository)} ${testCaseId} ${test.name}`,
      before: { fixSha: open.fixSha, endsAt: open.endsAt },
      after: null,
    });
    await enqueueForRepository(tx, 'verify-fixes', { repositoryId: repository.id });
    return true;
  });

type VerificationEnd = {
  readonly outcome: FixEnd;
  /** The commit on which the test failed; null: it did not. */
  readonly failedSha: string | null;
  readonly trigger: FactTrigger;
};

/** Ends it, once. */
export async function concludeVerification(
  tx: Tx,
  lock: TestsLock,
  { id, testCaseId }: { readonly id: string; readonly testCaseId: string },
  { outcome, failedSha, trigger }: VerificationEnd,
  now: Date,
): Promise<void> {
  if (!(await endVerification(tx, lock, id, { outcome, failedSha }, now))) return;
  const fact = {
    testCaseId,
    kind: 'fix_verification_changed',
    before: { state: 'verifying' },
    after: { state: outcome, ...(failedSha === null ? {} : { failed_sha: failedSha }) },
  } as const;
  await appendTestFacts(tx, lock, [fact], trigger, now);
}

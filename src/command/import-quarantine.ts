// Applies a list of quarantines to a repository: every change of it, with its line in the audit log, or none.

import {
  type CurrentTerms,
  type ListedTerms,
  type ListPlan,
  planListImport,
} from '#core/health/quarantine/quarantine-list.ts';
import { type ListedQuarantine, listQuarantineTerms } from '#db/health/quarantine-view.ts';
import { withTestsLock } from '#db/transaction.ts';
import { applyQuarantine, linkTestTicket, type RepositoryChange } from './override-test.ts';
import { reclassify } from './reclassify.ts';

export type ImportedQuarantine = ListPlan & {
  /** By the ids of the tests that the list or the repository has a setting for. */
  readonly tests: ReadonlyMap<string, ListedQuarantine>;
};

export function importQuarantine(
  change: RepositoryChange & { readonly isDryRun: boolean },
  wanted: readonly ListedTerms[],
): Promise<ImportedQuarantine> {
  const { cell, repository, by } = change;
  return withTestsLock(cell, repository.id, async (tx, lock) => {
    const ids = wanted.map(({ testCaseId }) => testCaseId);
    const rows = await listQuarantineTerms(tx, repository.id, ids);
    const plan = planListImport(rows.map(termsFrom), wanted, by.now);
    const tests = new Map(rows.map((row) => [row.id, row]));
    if (!change.isDryRun) {
      for (const { testCaseId, before, after } of plan.changes) {
        const of = { ...change, testCaseId };
        await applyQuarantine(tx, lock, of, { ...before, name: tests.get(testCaseId)!.name }, after);
        if (after.ticketId !== null && after.ticketId !== before.ticketId)
          await linkTestTicket(tx, of, after.ticketId);
      }
      await reclassify(
        tx,
        lock,
        plan.changes.map(({ testCaseId }) => testCaseId),
        by,
      );
    }
    return { ...plan, tests };
  });
}

const termsFrom = (row: ListedQuarantine): CurrentTerms => ({
  testCaseId: row.id,
  isQuarantined: row.quarantined_at !== null,
  setting: row.quarantine_setting,
  expiresAt: row.quarantine_expires_at,
  owner: row.quarantine_owner,
  note: row.quarantine_note,
  ticketId: row.ticket_id,
});

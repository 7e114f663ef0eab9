// The record of pull requests that add the trigger for test branches.

import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Tx } from '#db/cell.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';

export const recordTriggerProposal = (
  tx: Tx,
  by: Auditor,
  repository: RepositoryName,
  targetBranch: string,
  url: string,
): Promise<unknown> =>
  recordAudit(tx, by, {
    action: 'queue.propose-triggers',
    subject: `${fullName(repository)} ${targetBranch}`,
    before: null,
    after: { pullRequest: url },
  });

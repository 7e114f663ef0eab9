// A host says that something changed: each pull request named is asked for anew. Repositories the organization does not
// have are passed over: a webhook can name anything.

import type { OrganizationId } from '#base/id.ts';
import { type RepositoryName, repositoryKey } from '#core/repository.ts';
import type { Cell } from '#db/cell.ts';
import { enqueueRefresh } from '#db/job.ts';
import { findRepositoryId } from '#db/repository-store.ts';
import { withTransaction } from '#db/transaction.ts';

type ChangedPullRequest = { readonly repository: RepositoryName; readonly number: number };

export function recordHostEvents(
  cell: Cell,
  organizationId: OrganizationId,
  events: readonly ChangedPullRequest[],
): Promise<void> {
  return withTransaction(cell, async (tx) => {
    for (const { repository, number } of events) {
      const id = await findRepositoryId(tx, organizationId, repositoryKey(repository));
      if (id !== null) await enqueueRefresh(tx, id, number);
    }
  });
}

// Creating an organization, in one transaction with its line in the audit log.

import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { withTransaction } from '#db/transaction.ts';

export function createOrganization(
  cell: Cell,
  { slug, name }: { readonly slug: string; readonly name: string },
  by: Omit<Auditor, 'organizationId'>,
): Promise<void> {
  return withTransaction(cell, async (tx) => {
    const { id: organizationId } = await ensureOrganization(tx, slug, name);
    const change = { action: 'organization.create', subject: slug, before: null, after: { name } };
    await recordAudit(tx, { ...by, organizationId }, change);
  });
}

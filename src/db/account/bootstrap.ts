// The organization and token that an installation starts with, created if missing.

import type { Cells } from '../cell.ts';
import { ensureOrganization, findOrganization, importToken } from './organization-store.ts';
import { withTransaction } from '../transaction.ts';

type Bootstrap = { readonly organization: string; readonly token: string };

const allScopes = ['read', 'submit', 'admin', 'upload'];

export async function bootstrap(cells: Cells, { organization, token }: Bootstrap): Promise<void> {
  // A token of Signalbox's form names its cell; any other is looked up in the first.
  const cell = (token.startsWith('sbx_') && cells.find(token.split('_')[1] ?? '')) || cells.first;
  // Only an organization that is not there yet could be in another cell; of the others, one may be unreachable.
  const isThere = (await findOrganization(cell.db, organization)) !== null;
  for (const other of isThere ? [] : cells.all)
    if (other !== cell && (await findOrganization(other.db, organization)) !== null)
      throw new Error(
        `SIGNALBOX_BOOTSTRAP_ORG: the organization ${organization} is in the cell ${other.name}, not in ${cell.name}. Use a token that names that cell (sbx_${other.name}_…).`,
      );
  const { id } = await withTransaction(cell, (tx) => ensureOrganization(tx, organization, organization));
  await importToken(cell, id, token, { name: 'bootstrap', scopes: allScopes, expiresAt: null });
}

// Connecting an organization to a Git host, disconnecting it, and replacing the secrets of connections. Each is one
// transaction with its line in the audit log.

import { randomBytes } from 'node:crypto';
import type { RepositoryId } from '#base/id.ts';
import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell, Tx } from '#db/cell.ts';
import {
  type ConnectionRow,
  deleteConnection,
  listConnectionsOfApp,
  listHookedRepositories,
  replaceHookSecret,
  sealedTables,
} from '#db/account/connection-change-store.ts';
import { type NewConnection, saveConnection } from '#db/account/connection-store.ts';
import { enqueueForRepository } from '#db/job/job.ts';
import { seal, type SecretKey, unseal } from '#db/seal.ts';
import { withTransaction } from '#db/transaction.ts';

type WantedConnection = Omit<NewConnection, 'organizationId'> & {
  /** What sort of credentials they are, for the audit log. */
  readonly credentialsKind: string;
};

export function connectHost(
  cell: Cell,
  key: SecretKey,
  by: Auditor,
  { credentialsKind, ...connection }: WantedConnection,
): Promise<{ readonly id: string; readonly webhookSecret: string }> {
  const { kind, url, host } = connection;
  return withTransaction(cell, async (tx) => {
    await recordAudit(tx, by, {
      action: 'host.connect',
      subject: host,
      before: null,
      after: { kind, url, credentials: credentialsKind },
    });
    const saved = await saveConnection(tx, key, { ...connection, organizationId: by.organizationId });
    // For queues that are there already: a person who connects again has often just given Signalbox what it lacked.
    await setWebhooks(tx, [
      { organization_id: by.organizationId, host_key: host, app_id: connection.appId ?? null },
    ]);
    return saved;
  });
}

type Hooked = Pick<ConnectionRow, 'organization_id' | 'host_key' | 'app_id'>;

/** Has the webhooks of connections set again: in each repository with a queue, and once for an App. */
async function setWebhooks(
  tx: Tx,
  connections: readonly Hooked[],
  change: { readonly isSecretNew?: true } = {},
): Promise<void> {
  const repositories: RepositoryId[] = [];
  for (const { organization_id: organizationId, host_key: host, app_id: appId } of connections) {
    const isApp = appId !== null;
    if (isApp && repositories.length > 0) break;
    repositories.push(...(await listHookedRepositories(tx, { organizationId, host, isApp })));
  }
  // In one turn of the event loop, so that it is one statement.
  await Promise.all(
    repositories.map((repositoryId) => enqueueForRepository(tx, 'set-webhook', { repositoryId, ...change })),
  );
}

/** The credentials are deleted with the connection, and its webhook URL is refused. Null: there is none. */
export function removeConnection(cell: Cell, by: Auditor, id: string): Promise<ConnectionRow | null> {
  return withTransaction(cell, async (tx) => {
    const row = await deleteConnection(tx, by.organizationId, id);
    if (row === null) return null;
    const before = { kind: row.kind, url: row.url };
    await recordAudit(tx, by, { action: 'host.disconnect', subject: row.host_key, before, after: null });
    // The webhook of the App may lead to this connection.
    if (row.app_id !== null) await setWebhooks(tx, await listConnectionsOfApp(tx, row.host_key, row.app_id));
    return row;
  });
}

/** Replaces the webhook secret; the one before is accepted for so many hours. Null: no such connection. */
export function rotateHookSecret(
  cell: Cell,
  by: Auditor,
  host: string,
  acceptHours: number,
): Promise<{ readonly secret: string; readonly rows: readonly ConnectionRow[] } | null> {
  return withTransaction(cell, async (tx) => {
    const secret = randomBytes(32).toString('base64url');
    const rows = await replaceHookSecret(tx, by.organizationId, host, secret, acceptHours);
    for (const row of rows) {
      await recordAudit(
        tx,
        { ...by, organizationId: row.organization_id },
        {
          action: 'host.rotate-secret',
          subject: row.host_key,
          before: null,
          after: { previousUntil: row.previous_secret_until },
        },
      );
    }
    await setWebhooks(tx, rows, { isSecretNew: true });
    return rows.length === 0 ? null : { secret, rows };
  });
}

/** Encrypts everything with the active key. `unopened`: names of what none of the keys decrypts. */
export async function rotateKey(
  cell: Cell,
  key: SecretKey,
  by: Omit<Auditor, 'organizationId'>,
): Promise<{ readonly rotated: number; readonly unopened: readonly string[] }> {
  let rotated = 0;
  const unopened: string[] = [];
  for (const { action, list, lock, write } of sealedTables)
    for (const { id } of await list(cell.db))
      await withTransaction(cell, async (tx) => {
        // Locked: a token that is renewed meanwhile is not written over.
        const [row] = await lock(tx, id);
        if (row === undefined) return;
        const text = unseal(key, id, row.credentials);
        if (text === null) {
          unopened.push(row.name);
          return;
        }
        await write(tx, id, seal(key, id, text));
        const auditor = { ...by, organizationId: row.organization_id };
        await recordAudit(tx, auditor, { action, subject: row.name, before: null, after: null });
        rotated += 1;
      });
  return { rotated, unopened };
}

// Changes of host_connection after it was made: its webhook secret is replaced, its credentials are encrypted with another
// key, it is removed. Each is audited.

import { randomBytes } from 'node:crypto';
import type { OrganizationId } from '#base/id.ts';
import { type Auditor, recordAudit } from './audit-store.ts';
import type { Cell, Tx } from './cell.ts';
import { seal, type SecretKey, unseal } from './seal.ts';
import { statement } from './statement.ts';
import { withTransaction } from './transaction.ts';

export type ConnectionRow = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly kind: 'gitea' | 'github';
  readonly host_key: string;
  readonly url: string;
  readonly created_at: Date;
  /** Null: there is no secret before the present one that is still accepted. */
  readonly previous_secret_until: Date | null;
};

const columns = `id, organization_id, kind, host_key, url, created_at,
  case when previous_secret_until > now() then previous_secret_until end as previous_secret_until`;

const selectConnections = statement<[organizationId: string], ConnectionRow>(`
  select ${columns} from host_connection where organization_id = $1 and kind <> 'sandbox' order by host_key, id`);

/** Connections to real Git hosts. */
export const listConnections = (db: Tx, organizationId: OrganizationId): Promise<readonly ConnectionRow[]> =>
  selectConnections(db, organizationId);

const deleteConnection = statement<[organizationId: string, id: string], ConnectionRow>(`
  delete from host_connection where organization_id = $1 and id = $2 and kind <> 'sandbox' returning ${columns}`);

/** What lets us in is gone with it, and its webhook address is refused. Null: there is none. */
export function removeConnection(cell: Cell, by: Auditor, id: string): Promise<ConnectionRow | null> {
  return withTransaction(cell, async (tx) => {
    const [row] = await deleteConnection(tx, by.organizationId, id);
    if (row === undefined) return null;
    const before = { kind: row.kind, url: row.url };
    await recordAudit(tx, by, { action: 'host.disconnect', subject: row.host_key, before, after: null });
    return row;
  });
}

// An App has one webhook with one secret, so all connections of an App get the new one.
const updateSecret = statement<
  [organizationId: string, host: string, secret: string, acceptHours: number],
  ConnectionRow
>(`
  update host_connection c set previous_webhook_secret = c.webhook_secret, webhook_secret = $3,
    previous_secret_until = now() + make_interval(hours => $4::int)
  from host_connection named
  where named.organization_id = $1 and named.host_key = $2 and named.kind <> 'sandbox'
    and (c.id = named.id or c.host_key = named.host_key and c.app_id = named.app_id)
  returning c.id, c.organization_id, c.kind, c.host_key, c.url, c.created_at, c.previous_secret_until`);

/** Replaces the webhook secret; the one before is accepted for as long as said. Null: no such connection. */
export function rotateHookSecret(
  cell: Cell,
  by: Auditor,
  host: string,
  acceptHours: number,
): Promise<{ readonly secret: string; readonly rows: readonly ConnectionRow[] } | null> {
  return withTransaction(cell, async (tx) => {
    const secret = randomBytes(32).toString('base64url');
    const rows = await updateSecret(tx, by.organizationId, host, secret, acceptHours);
    for (const row of rows)
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
    return rows.length === 0 ? null : { secret, rows };
  });
}

type Sealed = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly name: string;
  readonly credentials: Buffer;
};

const sealedTables = [
  {
    action: 'host.rotate-key',
    list: statement<[], { id: string }>('select id from host_connection where credentials is not null'),
    lock: statement<[id: string], Sealed>(`
      select id, organization_id, host_key as name, credentials from host_connection
      where id = $1 and credentials is not null for update`),
    write: statement<[id: string, credentials: Buffer]>(
      'update host_connection set credentials = $2 where id = $1',
    ),
  },
  {
    action: 'webhook.rotate-key',
    list: statement<[], { id: string }>('select id from webhook_endpoint where deleted_at is null'),
    lock: statement<[id: string], Sealed>(`
      select id, organization_id, name, credentials from webhook_endpoint
      where id = $1 and deleted_at is null for update`),
    write: statement<[id: string, credentials: Buffer]>(
      'update webhook_endpoint set credentials = $2 where id = $1',
    ),
  },
];

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

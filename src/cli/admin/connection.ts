// `signalbox admin list-connections`, `disconnect`, `rotate-hook-secret` and `rotate-key`.

import type { OrganizationId } from '#base/id.ts';
import type { Cell, Cells } from '#db/cell.ts';
import {
  listConnections,
  removeConnection,
  rotateHookSecret,
  rotateKey,
} from '#db/connection-change-store.ts';
import type { SecretKey } from '#db/seal.ts';
import { atCommandLine, byCommandLine } from './auditor.ts';
import { webhookUrl } from './connect.ts';

/** Printed on standard error, with the exit code. */
type Failure = { readonly code: number; readonly message: string };

type Outcome = string | Failure;

export async function printConnections(
  cell: Cell,
  organizationId: OrganizationId,
  publicUrl: string,
): Promise<Outcome> {
  const rows = await listConnections(cell.db, organizationId);
  if (rows.length === 0) return 'The organization is connected to no Git host.';
  return rows
    .map((row) => [row.host_key, row.kind, row.url, webhookUrl(publicUrl, cell, row.id)].join('\t'))
    .join('\n');
}

const notConnected = (host: string | undefined): Failure => ({
  code: host === undefined ? 2 : 1,
  message:
    host === undefined
      ? 'Name the Git host: --host github.com. List them with: signalbox admin list-connections <slug>'
      : `The organization is not connected to ${host}. List its connections with: signalbox admin list-connections <slug>`,
});

export async function disconnect(
  cell: Cell,
  organizationId: OrganizationId,
  host: string | undefined,
): Promise<Outcome> {
  const rows = await listConnections(cell.db, organizationId);
  const named = rows.find((row) => row.host_key === host?.toLowerCase());
  if (named === undefined) return notConnected(host);
  await removeConnection(cell, byCommandLine(organizationId), named.id);
  return [
    `Disconnected from ${named.host_key}. Its credentials are removed, and its queues wait.`,
    `Now revoke the token or uninstall the App at ${named.url}, and remove the webhook there.`,
  ].join('\n');
}

/** Longest time for which two secrets are accepted. */
const acceptHoursMax = 168;

export async function replaceHookSecret(
  cell: Cell,
  organizationId: OrganizationId,
  host: string | undefined,
  hours = '24',
): Promise<Outcome> {
  if (host === undefined) return notConnected(host);
  if (!/^\d{1,3}$/.test(hours) || Number(hours) > acceptHoursMax)
    return { code: 2, message: `--accept-previous-hours takes a number from 0 to ${acceptHoursMax}.` };
  const by = byCommandLine(organizationId);
  const done = await rotateHookSecret(cell, by, host.toLowerCase(), Number(hours));
  if (done === null) return notConnected(host);
  return [
    `The webhooks of ${host} have a new secret. Set it at the Git host:`,
    `  secret  ${done.secret}`,
    `The secret before is accepted for ${hours} hours. After a leak, use --accept-previous-hours 0.`,
  ].join('\n');
}

export async function replaceKey(cells: Cells, key: SecretKey | null): Promise<Outcome> {
  if (key === null)
    return {
      code: 2,
      message:
        'Set SIGNALBOX_SECRET_KEY to the new key and SIGNALBOX_SECRET_KEY_PREVIOUS to the one before it, for every process.',
    };
  let rotated = 0;
  const unopened: string[] = [];
  for (const cell of cells.all) {
    const done = await rotateKey(cell, key, atCommandLine());
    rotated += done.rotated;
    unopened.push(...done.unopened);
  }
  const said = `Encrypted ${rotated} secrets with SIGNALBOX_SECRET_KEY.`;
  if (unopened.length === 0)
    return `${said} SIGNALBOX_SECRET_KEY_PREVIOUS is no longer needed once every process was started again.`;
  return {
    code: 1,
    message: `${said} No key decrypts those of: ${unopened.join(', ')}. Add the key they were encrypted with to SIGNALBOX_SECRET_KEY_PREVIOUS, or connect them again.`,
  };
}

// `signalbox admin list-connections`, `disconnect`, `rotate-hook-secret` and `rotate-key`.

import type { OrganizationId } from '#base/id.ts';
import { removeConnection, rotateHookSecret, rotateKey } from '#command/connection.ts';
import type { Cell, Cells } from '#db/cell.ts';
import { listConnections } from '#db/account/connection-change-store.ts';
import type { SecretKey } from '#db/seal.ts';
import { hookUrl } from '#host/connection.ts';
import { atCommandLine, byCommandLine } from './auditor.ts';

/** Printed on standard error, with the exit code. */
type ConnectionCommandFailure = { readonly code: number; readonly message: string };

type ConnectionCommandOutcome = string | ConnectionCommandFailure;

export async function printConnections(
  cell: Cell,
  organizationId: OrganizationId,
  publicUrl: string,
): Promise<ConnectionCommandOutcome> {
  const rows = await listConnections(cell.db, organizationId);
  if (rows.length === 0)
    return 'The organization is not connected to a Git host. Connect one with: signalbox admin connect <slug> --kind KIND --url URL';
  return rows
    .map((row) => [row.host_key, row.kind, row.url, hookUrl(publicUrl, cell.name, row.id)].join('\t'))
    .join('\n');
}

const notConnected = (host: string | undefined): ConnectionCommandFailure => ({
  code: host === undefined ? 2 : 1,
  message:
    host === undefined
      ? 'The Git host is missing. Use --host with a host from: signalbox admin list-connections <slug>'
      : `The organization is not connected to ${host}. List its connections with: signalbox admin list-connections <slug>`,
});

export async function disconnect(
  cell: Cell,
  organizationId: OrganizationId,
  host: string | undefined,
): Promise<ConnectionCommandOutcome> {
  const rows = await listConnections(cell.db, organizationId);
  const named = rows.find((row) => row.host_key === host?.toLowerCase());
  if (named === undefined) return notConnected(host);
  await removeConnection(cell, byCommandLine(organizationId), named.id);
  return [
    `Disconnected from ${named.host_key} and deleted its credentials. Its queues stop until you connect again.`,
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
): Promise<ConnectionCommandOutcome> {
  if (host === undefined) return notConnected(host);
  if (!/^\d{1,3}$/.test(hours) || Number(hours) > acceptHoursMax)
    return {
      code: 2,
      message: `${hours} is not a valid --accept-previous-hours. Use a number from 0 to ${acceptHoursMax}.`,
    };
  const by = byCommandLine(organizationId);
  const done = await rotateHookSecret(cell, by, host.toLowerCase(), Number(hours));
  if (done === null) return notConnected(host);
  return [
    `The webhooks of ${host} have a new secret. Signalbox sets it at the Git host, where it may. Elsewhere, set it yourself:`,
    `  secret  ${done.secret}`,
    `The previous secret is accepted for ${hours} more hours. After a leak, use --accept-previous-hours 0.`,
  ].join('\n');
}

export async function replaceKey(cells: Cells, key: SecretKey | null): Promise<ConnectionCommandOutcome> {
  if (key === null)
    return {
      code: 2,
      message:
        'SIGNALBOX_SECRET_KEY is not set. Set it to the new key and SIGNALBOX_SECRET_KEY_PREVIOUS to the previous key, for every Signalbox process.',
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
    return `${said} SIGNALBOX_SECRET_KEY_PREVIOUS can be removed after every process has restarted.`;
  return {
    code: 1,
    message: `${said} The secrets of ${unopened.join(', ')} cannot be decrypted with any configured key. Add the key they were encrypted with to SIGNALBOX_SECRET_KEY_PREVIOUS, or connect them again.`,
  };
}

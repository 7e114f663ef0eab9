// `signalbox admin connect`: how an organization is connected to a host. Secrets are read from files, never from the
// command line, where others on the machine could see them.

import { readFileSync } from 'node:fs';
import type { OrganizationId } from '#base/id.ts';
import { withoutTrailing } from '#base/text.ts';
import { recordAudit } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { saveConnection } from '#db/connection-store.ts';
import type { SecretKey } from '#db/seal.ts';
import { withTransaction } from '#db/transaction.ts';
import type { Credentials } from '#host/connection.ts';
import { byCommandLine } from './auditor.ts';

export const connectOptions = {
  kind: { type: 'string' },
  url: { type: 'string' },
  host: { type: 'string' },
  'token-file': { type: 'string' },
  'app-id': { type: 'string' },
  'installation-id': { type: 'string' },
  'private-key-file': { type: 'string' },
  'oauth-file': { type: 'string' },
} as const;

type ConnectWishes = { readonly [Name in keyof typeof connectOptions]?: string | undefined };

export const connectUsage = `  connect <slug> --kind gitea --url https://git.example --token-file FILE
  connect <slug> --kind gitea --url https://git.example --oauth-file FILE
  connect <slug> --kind github --url https://github.com --app-id N --installation-id N --private-key-file FILE

    An App that is installed on several accounts of the organization: --installation-id N,M. An App that another
    organization is connected with sends the webhooks of both to one address.
    FILE may be - for standard input. An OAuth file is JSON with clientId, clientSecret, accessToken, refreshToken and
    expiresAt (milliseconds). --host NAME if repositories are named by another host name than that of the address.`;

type Mistake = { readonly mistake: string };

const secretFrom = (file: string): string => readFileSync(file === '-' ? 0 : file, 'utf8').trim();

function credentialsFrom(wishes: ConnectWishes): Credentials | Mistake {
  const { 'token-file': token, 'oauth-file': oauth, 'private-key-file': key } = wishes;
  if (token !== undefined) return { kind: 'token', token: secretFrom(token) };
  if (oauth !== undefined) {
    const given = JSON.parse(secretFrom(oauth)) as Record<string, unknown>;
    const { clientId, clientSecret, accessToken, refreshToken, expiresAt } = given;
    const texts = [clientId, clientSecret, accessToken, refreshToken];
    if (texts.some((text) => typeof text !== 'string') || typeof expiresAt !== 'number')
      return {
        mistake: 'The OAuth file must have clientId, clientSecret, accessToken, refreshToken and expiresAt.',
      };
    return { kind: 'oauth', ...(given as Omit<Extract<Credentials, { kind: 'oauth' }>, 'kind'>) };
  }
  const appId = Number(wishes['app-id']);
  const [installationId, ...more] = (wishes['installation-id'] ?? '').split(',').map(Number);
  const isWhole = [appId, installationId, ...more].every((id) => Number.isInteger(id) && id! > 0);
  if (key !== undefined && isWhole) {
    const app = { kind: 'github-app', appId, installationId: installationId! } as const;
    const others = more.length === 0 ? {} : { moreInstallationIds: more };
    return { ...app, ...others, privateKey: secretFrom(key) };
  }
  return {
    mistake:
      'Say how Signalbox gets in: --token-file, --oauth-file, or --app-id with --installation-id and --private-key-file.',
  };
}

function addressFrom({
  url,
  host,
}: ConnectWishes): { readonly url: string; readonly host: string } | Mistake {
  if (url === undefined || !URL.canParse(url))
    return { mistake: 'Give the address of the host: --url https://git.example' };
  const { protocol, origin, pathname, username } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== '')
    return { mistake: 'The address must be http or https, without a name or a password in it.' };
  const address = withoutTrailing(`${origin}${pathname}`, '/');
  return { url: address, host: (host ?? new URL(url).host).toLowerCase() };
}

/** Null and the words on standard error if something is missing. */
export async function connect(
  cell: Cell,
  organizationId: OrganizationId,
  wishes: ConnectWishes,
  { secretKey, publicUrl }: { readonly secretKey: SecretKey | null; readonly publicUrl: string },
): Promise<string | Mistake> {
  const { kind } = wishes;
  if (kind !== 'gitea' && kind !== 'github')
    return { mistake: 'Say what the host is: --kind gitea (Forgejo too) or --kind github.' };
  if (secretKey === null)
    return {
      mistake:
        'Set SIGNALBOX_SECRET_KEY first, for this command and for every process: openssl rand -base64 32',
    };
  const address = addressFrom(wishes);
  if ('mistake' in address) return address;
  const credentials = credentialsFrom(wishes);
  if ('mistake' in credentials) return credentials;
  const connection = await withTransaction(cell, async (tx) => {
    await recordAudit(tx, byCommandLine(organizationId), {
      action: 'host.connect',
      subject: address.host,
      before: null,
      after: { kind, url: address.url, credentials: credentials.kind },
    });
    return saveConnection(tx, secretKey, {
      organizationId,
      kind,
      ...address,
      appId: credentials.kind === 'github-app' ? credentials.appId : null,
      credentials: JSON.stringify(credentials),
    });
  });
  return [
    `Connected to ${address.host}. Now let it tell Signalbox what happens:`,
    `  webhook address  ${webhookUrl(publicUrl, cell, connection.id)}`,
    `  secret           ${connection.webhookSecret}`,
    `  content type     application/json`,
    `Then check a repository with: signalbox doctor <slug> --repo ${address.host}/owner/name --branch main`,
  ].join('\n');
}

export const webhookUrl = (publicUrl: string, cell: Pick<Cell, 'name'>, connectionId: string): string =>
  `${publicUrl}/hooks/${cell.name}_${connectionId}`;

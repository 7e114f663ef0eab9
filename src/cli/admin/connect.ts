// `signalbox admin connect`: connects an organization to a Git host. Secrets are read from files, never from
// the command line, where others on the machine could see them.

import { readFileSync } from 'node:fs';
import type { OrganizationId } from '#base/id.ts';
import { withoutTrailing } from '#base/text.ts';
import { connectHost } from '#command/connection.ts';
import type { Cell } from '#db/cell.ts';
import type { SecretKey } from '#db/seal.ts';
import { type Credentials, hookUrl } from '#host/connection.ts';
import type { ConnectMistake, HostKind } from '#host/host-kind.ts';
import { accessUsage, hostKinds, isHostKind, listConnectOptions } from '#host/kinds.ts';
import { byCommandLine } from './auditor.ts';

const named = { kind: { type: 'string' }, url: { type: 'string' }, host: { type: 'string' } } as const;

/** What `parseArgs` takes: the options of every kind. */
export const connectOptions: Readonly<Record<string, { readonly type: 'string' }>> & typeof named = {
  ...named,
  ...Object.fromEntries(listConnectOptions().map(({ name }) => [name, { type: 'string' } as const])),
};

type ConnectOptionValues = Readonly<Record<string, string | undefined>>;

const kinds = Object.entries<HostKind>(hostKinds);

export const connectUsage = `${kinds
  .flatMap(([name, { exampleUrl, access }]) =>
    access.map((way) => `  connect <slug> --kind ${name} --url ${exampleUrl} ${accessUsage(way)}`),
  )
  .join('\n')}

${kinds.flatMap(([, { access }]) => access.flatMap(({ note }) => (note === undefined ? [] : `    ${note}`))).join('\n')}
    FILE may be - for standard input. --host NAME is the host name used in repository names, if it differs from --url.`;

const secretFrom = (file: string): string => readFileSync(file === '-' ? 0 : file, 'utf8').trim();

/** By the first way of the kind whose options are all given. */
function credentialsFrom(
  { title, access }: HostKind,
  optionValues: ConnectOptionValues,
): Credentials | ConnectMistake {
  const chosen = access.find(({ options }) =>
    Object.keys(options).every((name) => optionValues[name] !== undefined),
  );
  if (chosen === undefined)
    return {
      mistake: `The options do not give Signalbox access to ${title}. Use ${access.map(accessUsage).join(', or ')}.`,
    };
  const values = Object.entries(chosen.options).map(([name, { value }]) => {
    const given = optionValues[name]!;
    return [name, value === 'file' ? secretFrom(given) : given] as const;
  });
  return chosen.read(Object.fromEntries(values));
}

function addressFrom({
  url,
  host,
}: ConnectOptionValues): { readonly url: string; readonly host: string } | ConnectMistake {
  if (url === undefined || !URL.canParse(url))
    return { mistake: 'The URL of the Git host is missing or not valid. Use --url https://git.example' };
  const { protocol, origin, pathname, username } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== '')
    return {
      mistake:
        'The URL must start with http:// or https:// and must not contain a user name or password. Use --url https://git.example',
    };
  const address = withoutTrailing(`${origin}${pathname}`, '/');
  return { url: address, host: (host ?? new URL(url).host).toLowerCase() };
}

/** If something is missing, returns null and prints a message to standard error. */
export async function connect(
  cell: Cell,
  organizationId: OrganizationId,
  optionValues: ConnectOptionValues,
  { secretKey, publicUrl }: { readonly secretKey: SecretKey | null; readonly publicUrl: string },
): Promise<string | ConnectMistake> {
  const { kind } = optionValues;
  if (!isHostKind(kind))
    return {
      mistake: `The kind of Git host is missing. Use ${kinds.map(([name, { title }]) => `--kind ${name} (${title})`).join(' or ')}.`,
    };
  if (secretKey === null)
    return {
      mistake:
        'SIGNALBOX_SECRET_KEY is not set. Create a key with: openssl rand -base64 32, and set it for this command and for every Signalbox process.',
    };
  const address = addressFrom(optionValues);
  if ('mistake' in address) return address;
  const credentials = credentialsFrom(hostKinds[kind], optionValues);
  if ('mistake' in credentials) return credentials;
  const connection = await connectHost(cell, secretKey, byCommandLine(organizationId), {
    kind,
    ...address,
    appId: 'appId' in credentials ? credentials.appId : null,
    credentials: JSON.stringify(credentials),
    credentialsKind: credentials.kind,
  });
  return [
    `Connected to ${address.host}. Signalbox sets this webhook there itself where it may, as soon as there is a queue:`,
    `  webhook URL   ${hookUrl(publicUrl, cell.name, connection.id)}`,
    `  secret        ${connection.webhookSecret}`,
    `  content type  application/json`,
    `Next, create a queue: signalbox queue create --repo ${address.host}/owner/name --branch main`,
    `Then check it, and its webhook: signalbox doctor <slug> --repo ${address.host}/owner/name --branch main`,
  ].join('\n');
}

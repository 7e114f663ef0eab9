// Connections of an organization to Git hosts. No response contains a secret that a request brought.

import { z } from 'zod';
import { InstantOut, line, part } from './common.ts';

const HostConnection = z
  .object({
    id: z.string(),
    kind: z.string().meta({ description: 'Such as `github` or `gitea`; later versions may know more.' }),
    host: z.string().meta({ description: 'The host name used in repository names.' }),
    url: z.string(),
    webhookUrl: z.string().meta({ description: 'The URL to which the Git host sends webhooks.' }),
    createdAt: InstantOut,
    previousSecretUntil: InstantOut.nullable().meta({
      description:
        'Until this time webhooks with the previous secret are also accepted. Null: there is no previous secret.',
    }),
  })
  .meta({ id: 'HostConnection', description: 'A connection to a Git host, without its secrets.' });
export type HostConnection = z.output<typeof HostConnection>;

export const ListHostConnectionsRequest = z.object({});

export const ListHostConnectionsResponse = z.object({
  connections: z.array(HostConnection),
  connectable: z.array(z.string()).meta({
    description: 'The URLs of the Git hosts that connectHost takes (SIGNALBOX_GIT_HOSTS).',
  }),
});

const installUrl = z.string().meta({ description: 'Where people install the App.' });

const HostAccess = z
  .object({
    version: z.string().meta({ description: 'Product and version of the Git host.' }),
    account: z.string().nullable().meta({
      description: 'The account or the App that Signalbox acts as. Null: the credentials may not read it.',
    }),
    missing: z.array(z.string()).meta({
      description: 'What the credentials lack, one sentence each with what to do. Empty: nothing.',
    }),
    repositories: z
      .array(z.object({ owner: z.string(), name: z.string(), defaultBranch: z.string() }))
      .meta({ description: 'The repositories where Signalbox may write.' }),
    app: z
      .object({
        installUrl,
        installations: z.array(
          z.object({
            id: z.int(),
            account: z.string(),
            isOwn: z.boolean().meta({ description: 'It is on the account that owns the App.' }),
            isUsed: z.boolean().meta({ description: 'The connection uses it.' }),
          }),
        ),
      })
      .nullable()
      .meta({ description: 'The App that Signalbox acts as. Null: it acts as an account.' }),
  })
  .meta({ id: 'HostAccess', description: 'What the credentials of a connection are good for.' });

const identifier = z.int().positive().max(Number.MAX_SAFE_INTEGER);

const HostCredentials = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('token'),
      token: part(4_096).meta({ description: 'The token of an account.' }),
    }),
    z.object({
      kind: z.literal('github-app'),
      appId: identifier,
      installationIds: z.array(identifier).min(1).max(100).meta({
        description: 'One for each account of the organization on which the App is installed.',
      }),
      privateKey: z.string().min(1).max(16_384).meta({ description: 'The private key of the App, in PEM.' }),
    }),
  ])
  .meta({ id: 'HostCredentials' });

export const ConnectHostRequest = z.object({
  kind: part(50).meta({ description: '`github`, or `gitea` for Gitea and Forgejo.' }),
  url: line(1, 1_000).meta({ description: 'The URL of the Git host: one of `connectable`.' }),
  credentials: HostCredentials,
});

export const ConnectHostResponse = z.object({ connection: HostConnection, access: HostAccess });

export const BeginAppRegistrationRequest = z.object({
  kind: part(50).meta({ description: '`github`: other Git hosts have no Apps.' }),
  url: line(1, 1_000).meta({ description: 'The URL of the Git host: one of `connectable`.' }),
  owner: part(100).optional().meta({
    description:
      'The organization at the Git host that is to own the App. Absent: the person who registers it.',
  }),
});

export const BeginAppRegistrationResponse = z.object({
  action: z.string().meta({ description: 'Where the browser sends the form, with the method POST.' }),
  manifest: z.string().meta({ description: 'The value of the field `manifest` of the form.' }),
});

export const FinishAppRegistrationRequest = z.object({
  code: part(200).meta({
    description: 'The parameter `code` with which the Git host sent the browser back.',
  }),
  state: part(2_000).meta({ description: 'The parameter `state`.' }),
});

export const FinishAppRegistrationResponse = z.object({ connection: HostConnection, installUrl });

export const UseInstallationsRequest = z.object({
  connectionId: part(100),
  installationIds: z.array(identifier).min(1).max(100).optional().meta({
    description: 'Of `app.installations`. Absent: those on the account that owns the App.',
  }),
});

export const GetHostAccessRequest = z.object({ connectionId: part(100) });

export const GetHostAccessResponse = HostAccess;

export const DeleteHostConnectionRequest = z.object({ connectionId: part(100) });

export const DeleteHostConnectionResponse = z.object({ connection: HostConnection });

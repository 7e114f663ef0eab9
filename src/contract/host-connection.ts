// Connections of an organization to Git hosts. The command line creates them, because it reads the secrets from files.

import { z } from 'zod';
import { InstantOut, part } from './common.ts';

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

export const ListHostConnectionsResponse = z.object({ connections: z.array(HostConnection) });

export const DeleteHostConnectionRequest = z.object({ connectionId: part(100) });

export const DeleteHostConnectionResponse = z.object({ connection: HostConnection });

// Connections of an organization to Git hosts. They are made on the command line, where their secrets are files.

import { z } from 'zod';
import { InstantOut, part } from './common.ts';

const HostConnection = z
  .object({
    id: z.string(),
    kind: z.enum(['gitea', 'github']),
    host: z.string().meta({ description: 'As repositories are named by it.' }),
    url: z.string(),
    webhookUrl: z.string().meta({ description: 'Where the Git host sends its webhooks.' }),
    createdAt: InstantOut,
    previousSecretUntil: InstantOut.nullable().meta({
      description: 'Until then webhooks are also accepted with the secret before. Null: there is none.',
    }),
  })
  .meta({ id: 'HostConnection', description: 'A connection to a Git host, without its secrets.' });
export type HostConnection = z.output<typeof HostConnection>;

export const ListHostConnectionsRequest = z.object({});

export const ListHostConnectionsResponse = z.object({ connections: z.array(HostConnection) });

export const DeleteHostConnectionRequest = z.object({ connectionId: part(100) });

export const DeleteHostConnectionResponse = z.object({ connection: HostConnection });

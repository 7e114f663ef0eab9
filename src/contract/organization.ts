// The organization of a token.

import { z } from 'zod';
import { InstantOut, scopes } from './common.ts';

export const GetOrganizationRequest = z.object({});

export const GetOrganizationResponse = z.object({
  organization: z.object({ slug: z.string(), name: z.string() }),
  token: z
    .object({
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.enum(scopes)),
      expiresAt: InstantOut.nullable(),
    })
    .meta({
      description: 'The credential of this call: an API token, or in the dashboard the session of a user.',
    }),
});

// Who a token speaks for.

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
      description: 'What the call was let in by. In the dashboard that may be the session of a person.',
    }),
});

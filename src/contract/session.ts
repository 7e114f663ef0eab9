// Who is signed in to the dashboard. These are no part of /v1, which knows tokens alone.

import { z } from 'zod';
import { InstantOut, type Scope, scopes } from './common.ts';

export const SignInRequest = z.object({ token: z.string().min(1).max(512) });

const roles = ['viewer', 'submitter', 'admin'] as const;
export type Role = (typeof roles)[number];

export const Session = z.object({
  organization: z.object({ slug: z.string(), name: z.string() }),
  /** Of the token that was signed in with. */
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  role: z.enum(roles),
  expires_at: InstantOut,
});
export type Session = z.output<typeof Session>;

/** What a person with these scopes may do, in one word. */
export function roleOf(held: readonly Scope[]): Role {
  if (held.includes('admin')) return 'admin';
  return held.includes('submit') ? 'submitter' : 'viewer';
}

import type { Scope } from '#contract/common.ts';
import type { Handlers } from '../endpoint/context.ts';

export const organizationHandlers: Handlers<'getOrganization'> = {
  getOrganization: ({ scope: { principal } }) =>
    Promise.resolve({
      organization: { slug: principal.organizationSlug, name: principal.organizationName },
      token: {
        id: principal.id,
        name: principal.name,
        scopes: principal.scopes as Scope[],
        expiresAt: (principal.expiresAt ?? principal.sessionExpiresAt)?.toISOString() ?? null,
      },
    }),
};

import type { Auditor } from '#db/audit-store.ts';

/** Anyone who can reach the database can run these commands, so the actor has no other name. */
export const atCommandLine = (): Omit<Auditor, 'organizationId'> => ({ actor: 'cli', now: new Date() });

export const byCommandLine = (organizationId: Auditor['organizationId']): Auditor => ({
  organizationId,
  ...atCommandLine(),
});

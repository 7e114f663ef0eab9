import type { Auditor } from '#db/audit-store.ts';

/** Who changes something from the command line is whoever may reach the database: there is no other name for it. */
export const atCommandLine = (): Omit<Auditor, 'organizationId'> => ({ actor: 'cli', now: new Date() });

export const byCommandLine = (organizationId: Auditor['organizationId']): Auditor => ({
  organizationId,
  ...atCommandLine(),
});

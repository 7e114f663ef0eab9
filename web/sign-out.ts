import { closeSession } from './api.ts';
import { queryClient, sessionQuery } from './query.ts';

export async function signOut(): Promise<void> {
  await closeSession().catch(() => undefined);
  // Nothing of one person's stays for the next.
  queryClient.setQueryData(sessionQuery.queryKey, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

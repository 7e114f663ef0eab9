import { closeSession } from '../api/api.ts';
import { queryClient, sessionQuery } from '../api/query.ts';

export async function signOut(): Promise<void> {
  await closeSession().catch(() => undefined);
  // No data of one user may stay for the next.
  queryClient.setQueryData(sessionQuery.queryKey, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

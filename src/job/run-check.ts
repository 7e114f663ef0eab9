// The check results of the commits of runs, as the Git host shows them now.

import type { Check } from '#core/queue/check.ts';
import type { Host, HostRepository } from '#host/host.ts';

/** In one call where the host can do that. A commit that the host does not have may be missing. */
export async function readChecksByCommit(
  host: Host,
  repository: HostRepository,
  shas: readonly string[],
): Promise<ReadonlyMap<string, readonly Check[]>> {
  if (host.readChecksOf !== undefined) return host.readChecksOf(repository, shas);
  const found = new Map<string, readonly Check[]>();
  for (const sha of shas) found.set(sha, await host.readChecks(repository, sha));
  return found;
}

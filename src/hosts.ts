// Which host serves which name: adapters meet the database here and nowhere else.

import type { Cell } from '#db/cell.ts';
import { findSandboxPullRequest, insertSandboxPullRequest } from '#db/sandbox-store.ts';
import type { HostFor } from '#host/host.ts';
import { createSandboxHost } from '#host/sandbox/host.ts';

/** With the sandbox on, it serves every host name that is not configured. */
export function hostsOf(sandbox: boolean, cells: readonly Cell[]): HostFor {
  const sandboxes = new Map(
    cells.map((cell) => [
      cell.name,
      createSandboxHost({
        find: (repository, number) => findSandboxPullRequest(cell.reader, repository.id, number),
        insert: (repository, pullRequest) => insertSandboxPullRequest(cell.db, repository.id, pullRequest),
      }),
    ]),
  );
  return (cellName) => (sandbox ? (sandboxes.get(cellName) ?? null) : null);
}

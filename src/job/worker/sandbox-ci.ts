// CI of the sandbox host is due: its outcome becomes the statuses of the commit.

import type { JobPayloads } from '#db/job/job.ts';
import { findRepository } from '#db/account/repository-store.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import type { TaskDeps } from '../deps.ts';

export async function runSandboxCi(
  { cell, hostFor }: Pick<TaskDeps, 'cell' | 'hostFor'>,
  { repositoryId, branch, sha }: JobPayloads['sandbox-ci'],
): Promise<void> {
  const repository = await findRepository(cell.reader, repositoryId);
  if (repository === null) return;
  const host = hostFor(cell.name, repository.host);
  if (isSandboxHost(host)) await host.control.performCi(repository, { branch, sha });
}

// Merges that the repository on disk records and the database may lack: after a backup was restored, the disk
// is newer. refs/sandbox/merged/* records which commit merged which head.

import type { Cell } from '#db/cell.ts';
import { listOpenSandboxPullRequests, patchSandboxPullRequest } from '#db/sandbox/sandbox-store.ts';
import { branchRef } from '#git/ref.ts';
import type { HostRepository } from '../host.ts';
import { changeRefs, listRefs } from './git.ts';

export const mergedRef = (number: number, head: string): string => `refs/sandbox/merged/${number}/${head}`;

export async function rememberMerged(
  directory: string,
  { number, headSha }: { readonly number: number; readonly headSha: string },
  sha: string,
): Promise<void> {
  await changeRefs(directory, [{ ref: mergedRef(number, headSha), to: sha }]);
}

/** Shows pull requests that the database has as open as merged if their branch contains the merge commit. */
export async function recallMerged(directory: string, repository: HostRepository, cell: Cell): Promise<void> {
  const open = await listOpenSandboxPullRequests(cell.reader, repository.id);
  for (const [branch, list] of Map.groupBy(open, ({ baseBranch }) => baseBranch)) {
    // A branch that was deleted or moved back has no merges.
    const merged = await listRefs(directory, `--merged=${branchRef(branch)}`, 'refs/sandbox/merged').catch(
      () => new Map<string, string>(),
    );
    for (const { number, headSha } of list) {
      const mergeSha = merged.get(mergedRef(number, headSha));
      if (mergeSha !== undefined)
        await patchSandboxPullRequest(cell.db, repository.id, number, { state: 'merged', mergeSha });
    }
  }
}

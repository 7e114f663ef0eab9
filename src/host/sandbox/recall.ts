// What the repository on disk remembers and the database may have forgotten: beside a restored backup the disk is the
// younger of the two. refs/sandbox/merged/* says which commit merged which head.

import { branchRef } from '#git/ref.ts';
import type { HostRepository } from '../host.ts';
import { changeRefs, listRefs } from './git.ts';
import type { SandboxStore } from './store.ts';

export const mergedRef = (number: number, head: string): string => `refs/sandbox/merged/${number}/${head}`;

export async function rememberMerged(
  directory: string,
  { number, headSha }: { readonly number: number; readonly headSha: string },
  sha: string,
): Promise<void> {
  await changeRefs(directory, [{ ref: mergedRef(number, headSha), to: sha }]);
}

/** Pull requests that the database takes for open are shown as merged if their branch has what merged them. */
export async function recallMerged(
  directory: string,
  repository: HostRepository,
  store: SandboxStore,
): Promise<void> {
  const open = await store.listOpen(repository);
  for (const [branch, list] of Map.groupBy(open, ({ baseBranch }) => baseBranch)) {
    // A branch that is gone, or was moved back, has merged nothing.
    const merged = await listRefs(directory, `--merged=${branchRef(branch)}`, 'refs/sandbox/merged').catch(
      () => new Map<string, string>(),
    );
    for (const { number, headSha } of list) {
      const mergeSha = merged.get(mergedRef(number, headSha));
      if (mergeSha !== undefined) await store.patch(repository, number, { state: 'merged', mergeSha });
    }
  }
}

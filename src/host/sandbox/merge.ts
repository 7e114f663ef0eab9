// The sandbox's own merge call: on the current head of the branch, with compare-and-swap. The branch and a
// ref that records which commit merged which head move together, so that a caller that retries after a crash
// gets the merge that happened.

import type { Clock } from '#base/clock.ts';
import type { Cell } from '#db/cell.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import { findSandboxPullRequest, patchSandboxPullRequest } from '#db/sandbox/sandbox-store.ts';
import { isAncestor } from '#git/mirror/mirror.ts';
import { branchRef } from '#git/ref.ts';
import type { HostRepository, MergeAnswer, MergeRequest, RefUpdate } from '../host.ts';
import type { Announce } from './announce.ts';
import { mergeHead } from './commit.ts';
import type { Disk } from './disk.ts';
import { changeRefs, findCommit } from './git.ts';
import { toGitPerson } from './made-up.ts';
import { type NoticePush, pullRequestEvent } from './push.ts';
import { mergedRef, rememberMerged } from './recall.ts';
import { loadSettings, findProtection } from './setting.ts';

type MergeOptions = {
  readonly cell: Cell;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly announce: Announce;
  readonly noticePush: NoticePush;
};

export type Merger = {
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  /** Makes the sandbox show a pull request as merged by a pushed commit. */
  readonly markMerged: (repository: HostRepository, number: number, sha: string) => Promise<void>;
};

/** How often the branch may move during a merge before it gives up. */
const attemptsMax = 10;

const refused = (message: string): MergeAnswer => ({ kind: 'refused', message });

export function createMerger({ cell, disk, clock, announce, noticePush }: MergeOptions): Merger {
  const show = async (repository: HostRepository, number: number, sha: string) => {
    const saved = await patchSandboxPullRequest(cell.db, repository.id, number, {
      state: 'merged',
      mergeSha: sha,
    });
    const { faults } = await loadSettings(cell, repository);
    await announce(repository, faults, [pullRequestEvent(repository, number)]);
    return saved;
  };

  const markMerged: Merger['markMerged'] = async (repository, number, sha) => {
    const saved = await show(repository, number, sha);
    if (saved !== null) await rememberMerged(await disk.ensure(repository), saved, sha);
  };

  const put = async (
    request: MergeRequest,
    kept: SandboxPullRequest,
    needsUpToDate: boolean,
  ): Promise<RefUpdate | string> => {
    const { repository, number, targetBranch, method, headSha, title, message } = request;
    const directory = await disk.ensure(repository);
    if ((await findCommit(directory, headSha)) === null) return `There is no commit ${headSha} to merge.`;
    const ref = branchRef(targetBranch);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const known = await findCommit(directory, mergedRef(number, headSha));
      const tip = await findCommit(directory, ref);
      if (known !== null && tip !== null && (await isAncestor({ directory }, known, tip)))
        return { ref, from: known, to: known };
      if (tip === null) return `There is no branch ${targetBranch}.`;
      if (needsUpToDate && !(await isAncestor({ directory }, tip, headSha)))
        return `#${number} does not contain the tip of ${targetBranch}.`;
      const text = message === '' ? title : `${title}\n\n${message}`;
      const author = toGitPerson(kept.author);
      const at = clock.now();
      const sha = await mergeHead(directory, { method, tip, head: headSha, message: text, author, at });
      if (sha === null)
        return `#${number} cannot be merged into ${targetBranch}: the two have conflicting changes.`;
      const moved = await changeRefs(directory, [
        { ref, from: tip, to: sha },
        { ref: mergedRef(number, headSha), from: known, to: sha },
      ]);
      if (moved) return { ref, from: tip, to: sha };
    }
    return `${targetBranch} moves too often to merge #${number}. Try again.`;
  };

  const merge: Merger['merge'] = async (request) => {
    const { repository, number, targetBranch, headSha } = request;
    const kept = await findSandboxPullRequest(cell.reader, repository.id, number);
    if (kept === null || kept.state === 'missing') return refused(`There is no pull request #${number}.`);
    if (kept.state === 'merged' && kept.mergeSha !== null) return { kind: 'merged', sha: kept.mergeSha };
    if (kept.headSha !== headSha) return { kind: 'head-moved' };
    if (kept.state !== 'open') return refused(`#${number} is ${kept.state}.`);
    if (kept.draft) return refused(`#${number} is a draft.`);
    if (kept.baseBranch !== targetBranch)
      return refused(`The base branch of #${number} is ${kept.baseBranch}.`);
    const rules = findProtection(await loadSettings(cell, repository), targetBranch);
    if (rules !== null && rules.refuseMerges !== null) return refused(rules.refuseMerges);
    const done = await put(request, kept, rules?.needsUpToDate === true);
    if (typeof done === 'string') return refused(done);
    await show(repository, number, done.to!);
    await noticePush(repository, [done]);
    return { kind: 'merged', sha: done.to! };
  };

  return { merge, markMerged };
}

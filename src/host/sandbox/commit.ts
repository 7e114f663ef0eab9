// Commits of the sandbox: files put on a commit, and the three ways to merge a head onto a branch.

import { randomBytes } from 'node:crypto';
import type { QueueSettings } from '#core/queue/settings.ts';
import {
  type Commit,
  commitBytes,
  buildCommitContent,
  type CommitContent,
  type Person,
  signature,
  writeLooseCommit,
} from '#git/object.ts';
import { openReader } from '#git/read.ts';
import type { State } from '#git/candidate/replay.ts';
import { runGit } from '#git/run.ts';
import { changeRefs } from './git.ts';
import { sandboxPerson } from './made-up.ts';

/** By path; null: the file is deleted. */
export type FileChanges = Readonly<
  Record<string, string | { readonly content: string; readonly executable: boolean } | null>
>;

const quoted = (path: string): string => `"${path.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;

function fileCommands(files: FileChanges): string[] {
  return Object.entries(files).flatMap(([path, file]) => {
    if (file === null) return [`D ${quoted(path)}`];
    const { content, executable } = typeof file === 'string' ? { content: file, executable: false } : file;
    const mode = executable ? '100755' : '100644';
    return [`M ${mode} inline ${quoted(path)}`, `data ${Buffer.byteLength(content)}`, content];
  });
}

type FileCommit = {
  readonly parent: string;
  readonly files: FileChanges;
  readonly author: Person;
  readonly message: string;
  readonly at: Date;
};

/** Creates the commit and returns its sha; no ref points to it yet. */
export async function commitFiles(directory: string, commit: FileCommit): Promise<string> {
  const { parent, files, author, message, at } = commit;
  const ref = `refs/sandbox/new/${randomBytes(8).toString('hex')}`;
  const stamp = signature(author, at).toString();
  const commands = [
    `commit ${ref}`,
    'mark :1',
    `author ${stamp}`,
    `committer ${stamp}`,
    `data ${Buffer.byteLength(message)}`,
    message,
    `from ${parent}`,
    ...fileCommands(files),
    'get-mark :1',
    'done',
  ];
  const args = ['fast-import', '--quiet', '--done'];
  const { stdout } = await runGit({ directory }, { args, input: `${commands.join('\n')}\n` });
  await changeRefs(directory, [{ ref, to: null }]);
  return stdout.toString('latin1').trim();
}

type Merge = {
  readonly method: QueueSettings['mergeMethod'];
  readonly tip: string;
  readonly head: string;
  readonly message: string;
  /** Of a squashed commit. */
  readonly author: Person;
  readonly at: Date;
};

/** The commit that would be the branch's head after the merge; null: there is a conflict. */
export function mergeHead(directory: string, merge: Merge): Promise<string | null> {
  return merge.method === 'rebase' ? rebased(directory, merge) : merged(directory, merge);
}

async function merged(directory: string, merge: Merge): Promise<string | null> {
  const { method, tip, head, message, author, at } = merge;
  const tree = await mergedTree(directory, tip, head);
  if (tree === null) return null;
  // Git lists a parent once.
  const parents = method === 'squash' || head === tip ? [tip] : [tip, head];
  return writeCommit(directory, tree, parents, at, buildCommitContent(author, at, message));
}

/** Recreates every commit that the branch lacks on top of it, with its author and message. */
async function rebased(directory: string, { tip, head, at }: Merge): Promise<string | null> {
  const args = ['rev-list', '--reverse', '--no-merges', `${tip}..${head}`];
  const { stdout } = await runGit({ directory }, { args });
  const reader = openReader({ directory });
  try {
    let onto: State = await reader.commit(tip);
    for (const sha of stdout.toString('latin1').split('\n').filter(Boolean)) {
      const commit = await reader.commit(sha);
      const tree = await pickedTree(directory, onto, commit, at);
      if (tree === null) return null;
      onto = { sha: await writeCommit(directory, tree, [onto.sha], at, commit.raw), tree };
    }
    return onto.sha;
  } finally {
    await reader.close();
  }
}

export const goTogether = async (directory: string, tip: string, head: string): Promise<boolean> =>
  (await mergedTree(directory, tip, head)) !== null;

// The sandbox computes its merges independently: they are compared with those that the queue has built
// (src/git/candidate/candidate.ts).
async function mergedTree(directory: string, ours: string, theirs: string): Promise<string | null> {
  const args = ['merge-tree', '--write-tree', '--no-messages', '--allow-unrelated-histories', ours, theirs];
  const { exitCode, stdout } = await runGit({ directory }, { args, exitCodes: [0, 1] });
  return exitCode === 0 ? stdout.toString('latin1').trim() : null;
}

/** One commit on top of another: a merge whose base is that commit's parent, by means of a helper commit. */
async function pickedTree(
  directory: string,
  onto: State,
  { sha, parents: [parent] }: Commit,
  at: Date,
): Promise<string | null> {
  if (parent === undefined || parent === onto.sha) return mergedTree(directory, onto.sha, sha);
  const commitContent = buildCommitContent(sandboxPerson, at, 'beside');
  return mergedTree(directory, await writeCommit(directory, onto.tree, [parent], at, commitContent), sha);
}

const writeCommit = (
  directory: string,
  tree: string,
  parents: readonly string[],
  at: Date,
  commitContent: CommitContent,
): Promise<string> =>
  writeLooseCommit(directory, commitBytes(tree, parents, signature(sandboxPerson, at), commitContent));

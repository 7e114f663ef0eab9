// Commits of the sandbox: files put on a commit, and the three ways to merge a head onto a branch.

import { randomBytes } from 'node:crypto';
import type { QueueSettings } from '#core/queue/settings.ts';
import { changeRefs, runGit } from './git.ts';
import { sandboxPerson } from './made-up.ts';
import type { Person } from './object.ts';

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

const stampOf = ({ name, email }: Person, at: Date): string =>
  `${name} <${email}> ${Math.floor(at.getTime() / 1000)} +0000`;

/** Makes the commit and answers with its sha; no ref points to it yet. */
export async function commitFiles(directory: string, commit: FileCommit): Promise<string> {
  const { parent, files, author, message, at } = commit;
  const ref = `refs/sandbox/new/${randomBytes(8).toString('hex')}`;
  const commands = [
    `commit ${ref}`,
    'mark :1',
    `author ${stampOf(author, at)}`,
    `committer ${stampOf(author, at)}`,
    `data ${Buffer.byteLength(message)}`,
    message,
    `from ${parent}`,
    ...fileCommands(files),
    'get-mark :1',
    'done',
  ];
  const { stdout } = await runGit(directory, ['fast-import', '--quiet', '--done'], {
    input: `${commands.join('\n')}\n`,
  });
  await changeRefs(directory, [{ ref, to: null }]);
  return stdout.trim();
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

/** The commit that would be the branch's head after the merge; null: they do not go together. */
export function mergeHead(directory: string, merge: Merge): Promise<string | null> {
  return merge.method === 'rebase' ? rebased(directory, merge) : merged(directory, merge);
}

async function merged(directory: string, merge: Merge): Promise<string | null> {
  const { method, tip, head, message, author, at } = merge;
  const tree = await mergedTree(directory, tip, head);
  if (tree === null) return null;
  const parents = method === 'squash' ? [tip] : [tip, head];
  return commitTree(directory, { tree, parents, message, author: stampOf(author, at), at });
}

/** Every commit that the branch lacks is made anew on top of it, with its author and message. */
async function rebased(directory: string, { tip, head, at }: Merge): Promise<string | null> {
  const { stdout } = await runGit(directory, [
    'log',
    '-z',
    '--reverse',
    '--no-merges',
    '--date=raw',
    '--format=%H%n%P%n%an <%ae> %ad%n%B',
    `${tip}..${head}`,
  ]);
  let onto = tip;
  for (const text of stdout.split('\0').filter((part) => part !== '')) {
    const [sha = '', parent = '', author = '', ...message] = text.split('\n');
    const tree = await pickedTree(directory, onto, sha, parent, at);
    if (tree === null) return null;
    onto = await commitTree(directory, { tree, parents: [onto], message: message.join('\n'), author, at });
  }
  return onto;
}

async function mergedTree(directory: string, ours: string, theirs: string): Promise<string | null> {
  const { code, stdout } = await runGit(
    directory,
    ['merge-tree', '--write-tree', '--no-messages', '--allow-unrelated-histories', ours, theirs],
    { codes: [0, 1] },
  );
  return code === 0 ? (stdout.split('\n')[0] ?? null) : null;
}

/** One commit on top of another: a merge whose base is that commit's parent, made so by a helper commit beside it. */
async function pickedTree(
  directory: string,
  onto: string,
  sha: string,
  parent: string,
  at: Date,
): Promise<string | null> {
  if (parent === onto || parent === '') return mergedTree(directory, onto, sha);
  const author = stampOf(sandboxPerson, at);
  const beside = await commitTree(directory, {
    tree: `${onto}^{tree}`,
    parents: [parent],
    message: 'beside',
    author,
    at,
  });
  return mergedTree(directory, beside, sha);
}

type TreeCommit = {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** As git writes it: name, address and time. */
  readonly author: string;
  readonly at: Date;
};

async function commitTree(
  directory: string,
  { tree, parents, message, author, at }: TreeCommit,
): Promise<string> {
  const [, name = '', email = '', date = ''] = /^(.*) <([^>]*)> (.*)$/.exec(author) ?? [];
  const { stdout } = await runGit(
    directory,
    ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'],
    {
      input: message,
      env: {
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: sandboxPerson.name,
        GIT_COMMITTER_EMAIL: sandboxPerson.email,
        GIT_COMMITTER_DATE: `${Math.floor(at.getTime() / 1000)} +0000`,
      },
    },
  );
  return stdout.trim();
}

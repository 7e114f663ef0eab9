// The bare repositories: made, written to and read by git itself.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Commit, type Person, signature } from '#git/object.ts';
import { openReader } from '#git/read.ts';
import { runGit } from '#git/run.ts';
import { askOnce } from './known.ts';

/** By path; null: the file is deleted. Executable where it begins with `#!`. */
export type Files = Readonly<Record<string, string | null>>;

const config = `[core]
	fsync = none
[gc]
	auto = 0
[receive]
	autogc = false
	denyDeleteCurrent = ignore
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[http]
	receivepack = true
`;

/**
 * Each line of GITHUB_SERVER_RULES is a ref, a rule and what is said when it is broken, with tabs between. What needs the
 * pushed commits is looked at here, where they are in quarantine; the rest was decided before (push-rule.ts).
 */
const updateHook = `#!/bin/sh
ref=$1 old=$2 new=$3
zero=0000000000000000000000000000000000000000
broken=$(printf '%s\\n' "$GITHUB_SERVER_RULES" | while IFS='	' read -r name rule words; do
  [ "$name" = "$ref" ] || continue
  case "$rule" in
    refuse) echo "$words" ;;
    no-force)
      [ "$old" = $zero ] || [ "$new" = $zero ] || git merge-base --is-ancestor "$old" "$new" || echo "$words" ;;
    linear)
      [ "$new" = $zero ] || [ -z "$(git rev-list --merges -1 "$new" --not --all)" ] || echo "$words" ;;
    no-workflows)
      [ "$new" = $zero ] || [ -z "$(git rev-list -1 "$new" --not --all -- .github/workflows)" ] || echo "$words" ;;
  esac
done)
if [ -n "$GITHUB_SERVER_CONTENT_RULES" ]; then
  broken="$broken$("$GITHUB_SERVER_NODE" "$GITHUB_SERVER_CONTENT_HOOK" "$ref" "$old" "$new" 2>&1)"
fi
[ -z "$broken" ] && exit 0
printf '%s\\n' "$broken" >&2
exit 1
`;

export async function createBare(directory: string, defaultBranch: string): Promise<void> {
  const args = ['init', '--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`, directory];
  await runGit({ directory }, { args });
  await writeFile(join(directory, 'config'), config, { flag: 'a' });
  await mkdir(join(directory, 'hooks'));
  await writeFile(join(directory, 'hooks', 'update'), updateHook, { mode: 0o755 });
}

type NewCommit = {
  /** Null: the first. */
  readonly parent: string | null;
  readonly files: Files;
  readonly author: Person;
  readonly message: string;
  readonly at: Date;
};

/** Makes the commit and answers with its sha; no ref points to it yet. */
export async function commitFiles(directory: string, commit: NewCommit): Promise<string> {
  const { parent, files, author, message, at } = commit;
  const stamp = signature(author, at).toString();
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}`;
  const commands = [
    'feature done',
    'commit refs/made/commit',
    'mark :1',
    `author ${stamp}`,
    `committer ${stamp}`,
    data(message),
    ...(parent === null ? [] : [`from ${parent}`]),
    ...Object.entries(files).map(([path, text]) =>
      text === null
        ? `D ${path}`
        : `M ${text.startsWith('#!') ? '100755' : '100644'} inline ${path}\n${data(text)}`,
    ),
    'get-mark :1',
    // The ref is only a place to write to.
    'reset refs/made/commit',
    `from ${'0'.repeat(40)}`,
    'done',
  ];
  const args = ['fast-import', '--quiet', '--force'];
  const { stdout } = await runGit({ directory }, { args, input: `${commands.join('\n')}\n` });
  return stdout.toString('latin1').trim();
}

/** Lets one repository have a commit of another, under a ref of its own. */
export async function borrow(directory: string, from: string, sha: string, ref: string): Promise<void> {
  const args = ['fetch', '--quiet', '--no-write-fetch-head', `file://${from}`, `+${sha}:${ref}`];
  await runGit({ directory }, { args });
}

export async function readCommits(directory: string, shas: readonly string[]): Promise<readonly Commit[]> {
  const reader = openReader({ directory });
  try {
    return await Promise.all(shas.map((sha) => askOnce(directory, ['read', sha], () => reader.commit(sha))));
  } finally {
    await reader.close();
  }
}

const lines = (stdout: Buffer): string[] => stdout.toString('utf8').split('\n').filter(Boolean);

/** Commits of `to` that `from` lacks, oldest first; null: all of them, at most 20. */
export async function commitsBetween(
  directory: string,
  from: string | null,
  to: string,
): Promise<readonly string[]> {
  const range = from === null ? ['--max-count=20', to] : [`${from}..${to}`];
  const names = from === null ? [to] : [from, to];
  return askOnce(directory, ['between', ...names], async () => {
    const { stdout } = await runGit({ directory }, { args: ['rev-list', '--reverse', ...range] });
    return lines(stdout);
  });
}

/** The text of a file as of a commit; null: it has none there. */
export async function readFileAt(directory: string, ref: string, path: string): Promise<string | null> {
  const args = ['cat-file', 'blob', `${ref}:${path}`];
  const { exitCode, stdout } = await runGit({ directory }, { args, exitCodes: [0, 128] });
  return exitCode === 0 ? stdout.toString() : null;
}

/** Whether the second contains the first; false where one of them is unknown. */
export async function contains(directory: string, ancestor: string, sha: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, sha];
  const ask = () => runGit({ directory }, { args, exitCodes: [0, 1, 128] });
  const { exitCode } = await askOnce(
    directory,
    ['contains', ancestor, sha],
    ask,
    (answer) => answer.exitCode !== 128,
  );
  return exitCode === 0;
}

export type DiffSize = { readonly files: number; readonly additions: number; readonly deletions: number };

/** What a head changes since it left the base. */
export async function diffSize(directory: string, base: string, head: string): Promise<DiffSize> {
  const args = ['diff', '--numstat', `${base}...${head}`];
  const { stdout } = await askOnce(directory, ['diff', base, head], () => runGit({ directory }, { args }));
  const rows = lines(stdout).map((line) => line.split('\t'));
  const sum = (column: number) => rows.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  return { files: rows.length, additions: sum(0), deletions: sum(1) };
}

// What the sandbox makes up: the first commit of every repository, and a pull request that no script has
// described. All of it is determined by the repository's name, the number and the revision, so two processes
// make up the same.
//
// The head of #7 is a commit on the first one that adds changes/7.txt. A push without content creates the
// next revision of that file, as if its author had amended the commit.

import { createHash } from 'node:crypto';
import { fullName, type RepositoryName } from '#core/repository.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import type { Person } from '#git/object.ts';
import { encodeBlob, encodeCommit, type GitObject, encodeTree } from './object.ts';

export const sandboxPerson: Person = { name: 'Signalbox Sandbox', email: 'sandbox@signalbox.invalid' };

/** 2024-01-01: the time of everything that is made up. */
const epochMs = 1_704_067_200_000;

const passingScript =
  '#!/bin/sh\n# What CI runs on the merged tree, if this repository is configured so.\nexit 0\n';

const verbs = ['Add', 'Fix', 'Simplify', 'Speed up', 'Document', 'Rename', 'Remove', 'Test'];
const things = [
  'the parser',
  'retries',
  'the cache',
  'error messages',
  'pagination',
  'the scheduler',
  'time zones',
];
const authors = ['sandbox-amber', 'sandbox-birch', 'sandbox-cedar', 'sandbox-dune'];

/** An author as git writes it, without characters that have a meaning in a commit. */
export function toGitPerson(author: string): Person {
  const name = author.replaceAll(/[<>\p{Cc}]/gu, '').trim();
  const local = author.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  // Git refuses a name that is only punctuation.
  return { name: /[\p{L}\p{N}]/u.test(name) ? name : 'sandbox', email: `${local}@sandbox.invalid` };
}

type Files = { readonly readme: GitObject; readonly script: GitObject };

const rootFiles = (repository: RepositoryName): Files => ({
  readme: encodeBlob(`# ${fullName(repository).toLowerCase()}\n\nA repository of the Signalbox sandbox.\n`),
  script: encodeBlob(passingScript),
});

const treeEntries = ({ readme, script }: Files) => [
  { mode: '100644' as const, name: 'README.md', sha: readme.sha },
  { mode: '100755' as const, name: 'ci.sh', sha: script.sha },
];

/** The first commit of a repository and what it is made of; the commit is last. */
export function rootObjects(repository: RepositoryName): readonly GitObject[] {
  const files = rootFiles(repository);
  const tree = encodeTree(treeEntries(files));
  const commit = encodeCommit(tree, [], sandboxPerson, new Date(epochMs), 'Begin');
  return [files.readme, files.script, tree, commit];
}

export const rootSha = (repository: RepositoryName): string => rootObjects(repository).at(-1)!.sha;

export const changePath = (number: number): string => `changes/${number}.txt`;

export const changeText = (number: number, revision: number): string =>
  `Pull request #${number}, revision ${revision}.\n`;

/** What the sandbox makes up about a pull request besides its commit. */
function generateTitleAndAuthor(repository: RepositoryName, number: number) {
  const text = `${repository.host}/${fullName(repository)}#${number}`.toLowerCase();
  const bytes = createHash('sha1').update(text).digest();
  const pick = (list: readonly string[], offset: number) => list[bytes.readUIntBE(offset, 3) % list.length]!;
  return { title: `${pick(verbs, 0)} ${pick(things, 3)}`, author: pick(authors, 6) };
}

/** The made-up head of a pull request and what it adds to the first commit; the commit is last. */
export function headObjects(
  repository: RepositoryName,
  number: number,
  revision: number,
): readonly GitObject[] {
  const { title, author } = generateTitleAndAuthor(repository, number);
  const change = encodeBlob(changeText(number, revision));
  const folder = encodeTree([{ mode: '100644', name: `${number}.txt`, sha: change.sha }]);
  const tree = encodeTree([
    ...treeEntries(rootFiles(repository)),
    { mode: '40000', name: 'changes', sha: folder.sha },
  ]);
  const at = new Date(epochMs + revision * 1_000);
  const commit = encodeCommit(tree, [rootSha(repository)], toGitPerson(author), at, title);
  return [change, folder, tree, commit];
}

export const headSha = (repository: RepositoryName, number: number, revision: number): string =>
  headObjects(repository, number, revision).at(-1)!.sha;

/** The pull request of that number onto a branch, as the sandbox makes it up. */
export function madeUp(repository: RepositoryName, number: number, baseBranch: string): SandboxPullRequest {
  return {
    number,
    ...generateTitleAndAuthor(repository, number),
    body: '',
    headSha: headSha(repository, number, 1),
    baseBranch,
    fork: null,
    mergeability: 'mergeable',
    draft: false,
    state: 'open',
    revision: 1,
    branch: null,
    mergeSha: null,
    labels: [],
    headSince: null,
    labelChanges: {},
  };
}

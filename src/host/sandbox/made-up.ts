// What the sandbox makes up: the first commit of every repository, and a pull request that nobody described. All of it
// follows from the repository's name, the number and the revision, so two processes make up the same.
//
// The head of #7 is a commit on the first one that adds changes/7.txt. A push that does not say what was pushed takes
// the next revision of that file, as if its author had amended the commit.

import { createHash } from 'node:crypto';
import { fullName, type RepositoryName } from '#core/repository.ts';
import type { Person } from '#git/object.ts';
import type { PullRequestQuery } from '../host.ts';
import { blobOf, commitOf, type GitObject, treeOf } from './object.ts';
import type { SandboxPullRequest } from './store.ts';

export const sandboxPerson: Person = { name: 'Signalbox Sandbox', email: 'sandbox@signalbox.invalid' };

/** 2024-01-01: whatever is made up happened then. */
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

/** An author as git writes it; characters that mean something in a commit are left out. */
export function personOf(author: string): Person {
  const name = author.replaceAll(/[<>\p{Cc}]/gu, '').trim();
  const local = author.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  // Git refuses a name that is only punctuation.
  return { name: /[\p{L}\p{N}]/u.test(name) ? name : 'sandbox', email: `${local}@sandbox.invalid` };
}

type Files = { readonly readme: GitObject; readonly script: GitObject };

const filesOf = (repository: RepositoryName): Files => ({
  readme: blobOf(`# ${fullName(repository).toLowerCase()}\n\nA repository of the Signalbox sandbox.\n`),
  script: blobOf(passingScript),
});

const entriesOf = ({ readme, script }: Files) => [
  { mode: '100644' as const, name: 'README.md', sha: readme.sha },
  { mode: '100755' as const, name: 'ci.sh', sha: script.sha },
];

/** The first commit of a repository and what it is made of; the commit is last. */
export function rootObjects(repository: RepositoryName): readonly GitObject[] {
  const files = filesOf(repository);
  const tree = treeOf(entriesOf(files));
  const commit = commitOf(tree, [], sandboxPerson, new Date(epochMs), 'Begin');
  return [files.readme, files.script, tree, commit];
}

export const rootSha = (repository: RepositoryName): string => rootObjects(repository).at(-1)!.sha;

export const changePath = (number: number): string => `changes/${number}.txt`;

export const changeText = (number: number, revision: number): string =>
  `Pull request #${number}, revision ${revision}.\n`;

/** What the sandbox makes up about a pull request besides its commit. */
function wordsOf(repository: RepositoryName, number: number) {
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
  const { title, author } = wordsOf(repository, number);
  const change = blobOf(changeText(number, revision));
  const folder = treeOf([{ mode: '100644', name: `${number}.txt`, sha: change.sha }]);
  const tree = treeOf([
    ...entriesOf(filesOf(repository)),
    { mode: '40000', name: 'changes', sha: folder.sha },
  ]);
  const at = new Date(epochMs + revision * 1_000);
  const commit = commitOf(tree, [rootSha(repository)], personOf(author), at, title);
  return [change, folder, tree, commit];
}

export const headSha = (repository: RepositoryName, number: number, revision: number): string =>
  headObjects(repository, number, revision).at(-1)!.sha;

/** The pull request of that number, as the sandbox makes it up. */
export function madeUp({ repository, number, targetBranch }: PullRequestQuery): SandboxPullRequest {
  return {
    number,
    ...wordsOf(repository, number),
    body: '',
    headSha: headSha(repository, number, 1),
    baseBranch: targetBranch,
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

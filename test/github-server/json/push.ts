// What a webhook says of a push.

import { runGit } from '#git/run.ts';
import type { RefUpdate } from '#host/host.ts';
import { commitsBetween, contains } from '../bare.ts';
import { askOnce } from '../known.ts';
import type { Account, Repository, Site } from '../model.ts';
import { instant } from './account.ts';
import { findCommitObject } from './commit.ts';
import { repositoryPage } from './repository.ts';

const nothing = '0'.repeat(40);
/** GitHub tells of the first 2,048; nobody here reads so many. */
const commitsMax = 50;

async function pushedCommit(site: Site, repository: Repository, sha: string) {
  const { tree, author, authoredAt, message } = await findCommitObject(repository, sha);
  const args = ['diff-tree', '--root', '--no-commit-id', '-r', '--name-status', '-m', '--first-parent', sha];
  const { directory } = repository;
  const { stdout } = await askOnce(directory, ['files', sha], () => runGit({ directory }, { args }));
  const files = stdout
    .toString()
    .split('\n')
    .map((line) => line.split('\t'));
  const named = (...kinds: readonly string[]) =>
    files.flatMap(([kind = '', path]) => (path !== undefined && kinds.includes(kind) ? [path] : []));
  return {
    id: sha,
    tree_id: tree,
    distinct: true,
    message: message.trimEnd(),
    timestamp: instant(authoredAt),
    url: `${repositoryPage(site, repository)}/commit/${sha}`,
    author,
    committer: author,
    added: named('A'),
    removed: named('D'),
    modified: named('M', 'T'),
  };
}

export async function pushPayload(site: Site, repository: Repository, update: RefUpdate, by: Account) {
  const { ref, from, to } = update;
  const { directory } = repository;
  // Of a new branch only what no other knows is new; that is not worked out, its tip is enough.
  const shas = to === null ? [] : from === null ? [to] : await commitsBetween(directory, from, to);
  const commits = [];
  for (const sha of shas.slice(-commitsMax)) commits.push(await pushedCommit(site, repository, sha));
  const range = `${(from ?? nothing).slice(0, 12)}...${(to ?? nothing).slice(0, 12)}`;
  return {
    ref,
    before: from ?? nothing,
    after: to ?? nothing,
    pusher: { name: by.login, email: by.email },
    created: from === null,
    deleted: to === null,
    forced: from !== null && to !== null && !(await contains(directory, from, to)),
    base_ref: null,
    compare: `${repositoryPage(site, repository)}/compare/${range}`,
    commits,
    head_commit: to === null ? null : await pushedCommit(site, repository, to),
  };
}

// Commits, as git has them.

import { readCommits } from '../bare.ts';
import type { Commit } from '#git/object.ts';
import type { Account, Repository, Site } from '../model.ts';
import { instant, nodeId, userJson } from './account.ts';
import { repositoryPage, repositoryUrl } from './repository.ts';

export async function findCommitObject({ directory }: Repository, sha: string): Promise<Commit> {
  const [commit] = await readCommits(directory, [sha]);
  return commit!;
}

const accountWith = ({ accounts }: Site, email: string): Account | undefined =>
  [...accounts.values()].find((account) => account.email === email);

/** The committer is shown as the author: nothing here asks for it. */
export async function commitJson(site: Site, repository: Repository, sha: string) {
  const { tree, parents, author, authoredAt, message } = await findCommitObject(repository, sha);
  const url = repositoryUrl(site, repository);
  const page = repositoryPage(site, repository);
  const person = { ...author, date: instant(authoredAt) };
  const account = accountWith(site, author.email);
  const user = account === undefined ? null : userJson(site, account);
  return {
    sha,
    node_id: nodeId('Commit', sha),
    commit: {
      author: person,
      committer: person,
      message: message.trimEnd(),
      tree: { sha: tree, url: `${url}/git/trees/${tree}` },
      url: `${url}/git/commits/${sha}`,
      comment_count: 0,
      verification: {
        verified: false,
        reason: 'unsigned',
        signature: null,
        payload: null,
        verified_at: null,
      },
    },
    url: `${url}/commits/${sha}`,
    html_url: `${page}/commit/${sha}`,
    comments_url: `${url}/commits/${sha}/comments`,
    author: user,
    committer: user,
    parents: parents.map((parent) => ({
      sha: parent,
      url: `${url}/commits/${parent}`,
      html_url: `${page}/commit/${parent}`,
    })),
  };
}

export async function simpleCommitJson(repository: Repository, sha: string) {
  const { tree, author, authoredAt, message } = await findCommitObject(repository, sha);
  const timestamp = instant(authoredAt);
  return { id: sha, tree_id: tree, message: message.trimEnd(), timestamp, author, committer: author };
}

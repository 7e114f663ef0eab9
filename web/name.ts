// How repositories and queues are spelled in URLs.

export type Repo = { readonly host: string; readonly owner: string; readonly name: string };
export type QueueName = { readonly repo: Repo; readonly targetBranch: string };

export const formatRepoPath = ({ host, owner, name }: Repo): string => `${host}/${owner}/${name}`;
export const queueKey = ({ repo, targetBranch }: QueueName): string =>
  `${formatRepoPath(repo)}@${targetBranch}`;

/** Parses `host/owner/name`; the owner may contain slashes. */
export function parseRepoPath(path: string): Repo {
  const parts = path.split('/');
  return { host: parts[0] ?? '', owner: parts.slice(1, -1).join('/'), name: parts.at(-1) ?? '' };
}

/** URLs come from Git hosts and CI: only http and https URLs become links. */
export const safeHref = (url: string | undefined): string | undefined =>
  url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;

export type QueueSearch = { readonly repo: string; readonly branch: string };

export const queueSearch = ({ repo, targetBranch }: QueueName): QueueSearch => ({
  repo: formatRepoPath(repo),
  branch: targetBranch,
});

export const queueOfSearch = ({ repo, branch }: QueueSearch): QueueName => ({
  repo: parseRepoPath(repo),
  targetBranch: branch,
});

// How repositories and queues are spelled in addresses.

export type Repo = { readonly host: string; readonly owner: string; readonly name: string };
export type QueueName = { readonly repo: Repo; readonly targetBranch: string };

export const pathOf = ({ host, owner, name }: Repo): string => `${host}/${owner}/${name}`;
export const queueKey = ({ repo, targetBranch }: QueueName): string => `${pathOf(repo)}@${targetBranch}`;

/** Of `host/owner/name`; the owner may hold slashes. */
export function repoOf(path: string): Repo {
  const parts = path.split('/');
  return { host: parts[0] ?? '', owner: parts.slice(1, -1).join('/'), name: parts.at(-1) ?? '' };
}

/** Addresses come from hosts and CI: only what leads to a page becomes a link. */
export const safeHref = (url: string | undefined): string | undefined =>
  url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;

export type QueueSearch = { readonly repo: string; readonly branch: string };

export const queueSearch = ({ repo, targetBranch }: QueueName): QueueSearch => ({
  repo: pathOf(repo),
  branch: targetBranch,
});

export const queueOfSearch = ({ repo, branch }: QueueSearch): QueueName => ({
  repo: repoOf(repo),
  targetBranch: branch,
});

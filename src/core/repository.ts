/** A repository as people name it. The owner may hold slashes (nested groups). */
export type RepositoryName = { readonly host: string; readonly owner: string; readonly name: string };

/** Host, owner and name are compared without regard to case, as GitHub and Gitea do. */
export function repositoryKey(repository: RepositoryName): RepositoryName {
  return {
    host: repository.host.toLowerCase(),
    owner: repository.owner.toLowerCase(),
    name: repository.name.toLowerCase(),
  };
}

/** How a repository is named in sentences and metric labels. */
export const fullName = (repository: RepositoryName): string => `${repository.owner}/${repository.name}`;

export const repositoryUrl = (repository: RepositoryName): string =>
  `https://${repository.host}/${repository.owner}/${repository.name}`;

// Repositories. GitHub writes them in several sizes; each but the largest is part of the next.

import { atLeast, fullNameOf, isPullOpen, type Access, type Repository, type Site } from '../model.ts';
import { instant, nodeId, userJson } from './account.ts';

export const repositoryUrl = (site: Site, repository: Repository): string =>
  `${site.apiUrl}/repos/${fullNameOf(repository)}`;

export const repositoryPage = (site: Site, repository: Repository): string =>
  `${site.url}/${fullNameOf(repository)}`;

function addresses(url: string) {
  return {
    url,
    forks_url: `${url}/forks`,
    keys_url: `${url}/keys{/key_id}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    teams_url: `${url}/teams`,
    hooks_url: `${url}/hooks`,
    issue_events_url: `${url}/issues/events{/number}`,
    events_url: `${url}/events`,
    assignees_url: `${url}/assignees{/user}`,
    branches_url: `${url}/branches{/branch}`,
    tags_url: `${url}/tags`,
    blobs_url: `${url}/git/blobs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    trees_url: `${url}/git/trees{/sha}`,
    statuses_url: `${url}/statuses/{sha}`,
    languages_url: `${url}/languages`,
    stargazers_url: `${url}/stargazers`,
    contributors_url: `${url}/contributors`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    commits_url: `${url}/commits{/sha}`,
    git_commits_url: `${url}/git/commits{/sha}`,
    comments_url: `${url}/comments{/number}`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    contents_url: `${url}/contents/{+path}`,
    compare_url: `${url}/compare/{base}...{head}`,
    merges_url: `${url}/merges`,
    archive_url: `${url}/{archive_format}{/ref}`,
    downloads_url: `${url}/downloads`,
    issues_url: `${url}/issues{/number}`,
    pulls_url: `${url}/pulls{/number}`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    labels_url: `${url}/labels{/name}`,
    releases_url: `${url}/releases{/id}`,
    deployments_url: `${url}/deployments`,
  };
}

export const minimalRepositoryJson = (site: Site, repository: Repository) => ({
  id: repository.id,
  node_id: nodeId('Repository', repository.id),
  name: repository.name,
  full_name: fullNameOf(repository),
  private: repository.isPrivate,
  owner: userJson(site, repository.owner),
  html_url: repositoryPage(site, repository),
  description: null,
  fork: repository.parent !== null,
  ...addresses(repositoryUrl(site, repository)),
});

/** As in pull requests, in webhooks and of an installation. */
export function repositoryJson(site: Site, repository: Repository) {
  const page = repositoryPage(site, repository);
  const open = [...repository.pulls.values()].filter(isPullOpen).length;
  return {
    ...minimalRepositoryJson(site, repository),
    created_at: instant(repository.createdAt),
    // Both change with every push to the repository. They are part of every pull request, whose ETag changes with them
    // (GitHub REST docs, "Get a pull request": `base.repo` and `head.repo`).
    updated_at: instant(repository.pushedAt),
    pushed_at: instant(repository.pushedAt),
    git_url: `git://${page.replace(/^https?:\/\//, '')}.git`,
    ssh_url: `git@${new URL(site.url).hostname}:${fullNameOf(repository)}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    homepage: null,
    size: 1,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: false,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: open,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.isPrivate ? 'private' : 'public',
    forks: 0,
    open_issues: open,
    watchers: 0,
    default_branch: repository.defaultBranch,
  };
}

export const permissionsJson = (access: Access) => ({
  admin: access === 'admin',
  maintain: atLeast(access, 'maintain'),
  push: atLeast(access, 'write'),
  triage: atLeast(access, 'triage'),
  pull: atLeast(access, 'read'),
});

/** As under /repos/{owner}/{repo}. */
export const fullRepositoryJson = (
  site: Site,
  repository: Repository,
  role: Access,
  seesMerges: boolean,
) => ({
  ...repositoryJson(site, repository),
  permissions: permissionsJson(role),
  network_count: 0,
  subscribers_count: 0,
  ...(repository.owner.type === 'Organization' ? { organization: userJson(site, repository.owner) } : {}),
  ...(repository.parent === null
    ? {}
    : { parent: repositoryJson(site, repository.parent), source: repositoryJson(site, repository.parent) }),
  ...(seesMerges
    ? {
        allow_merge_commit: repository.mergeMethods.includes('merge'),
        allow_squash_merge: repository.mergeMethods.includes('squash'),
        allow_rebase_merge: repository.mergeMethods.includes('rebase'),
        allow_auto_merge: false,
        allow_update_branch: false,
        delete_branch_on_merge: repository.deleteBranchOnMerge,
      }
    : {}),
});

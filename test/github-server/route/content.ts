// Files and folders of a branch, and what workflows may do (GitHub REST docs, "Get repository content", "Get default workflow
// permissions for a repository").

import { runGit } from '#git/run.ts';
import { notFound, ok } from '../answer.ts';
import { repositoryUrl } from '../json/repository.ts';
import { administer, read, type RepositoryCall, repositoryRoute, type Route } from '../route.ts';
import { commitOf } from './check.ts';

type Item = {
  readonly type: 'file' | 'dir';
  readonly sha: string;
  readonly size: number;
  readonly path: string;
};

async function itemsIn(directory: string, commit: string, path: string): Promise<readonly Item[]> {
  const args = ['ls-tree', '-z', '--long', commit, '--', path];
  const { stdout } = await runGit({ directory }, { args });
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [, kind = '', sha = '', size = '', name = ''] =
        /^\d+ (\w+) (\w+) +(-|\d+)\t(.*)$/.exec(line) ?? [];
      return { type: kind === 'tree' ? 'dir' : 'file', sha, size: Number(size) || 0, path: name };
    });
}

const itemJson = ({ site, repository }: RepositoryCall, { type, sha, size, path }: Item) => {
  const url = `${repositoryUrl(site, repository)}/contents/${path}`;
  return {
    type,
    size,
    name: path.split('/').at(-1)!,
    path,
    sha,
    url,
    git_url: null,
    html_url: null,
    download_url: null,
    _links: { git: null, html: null, self: url },
  };
};

async function contents(call: RepositoryCall) {
  const { repository, params, query } = call;
  const ref = query.get('ref') ?? repository.defaultBranch;
  const commit = await commitOf({ ...call, params: { ...params, ref } });
  const { directory } = repository;
  const [found] = await itemsIn(directory, commit, params['path']!);
  if (found === undefined) throw notFound();
  if (found.type === 'dir')
    return ok((await itemsIn(directory, commit, `${found.path}/`)).map((item) => itemJson(call, item)));
  const { stdout } = await runGit({ directory }, { args: ['cat-file', 'blob', found.sha] });
  return ok({ ...itemJson(call, found), content: stdout.toString('base64'), encoding: 'base64' });
}

const root = '/repos/{owner}/{repo}';

export const contentRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/contents/{path}`, read('contents'), contents),
  repositoryRoute(
    `GET ${root}/actions/permissions/workflow`,
    administer('administration'),
    ({ repository }) =>
      ok({
        default_workflow_permissions: repository.workflowToken,
        can_approve_pull_request_reviews: false,
      }),
  ),
];

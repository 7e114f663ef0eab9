// Files and folders of a branch, and what workflows may do (GitHub REST docs, "Get repository content", "Create or update file
// contents", "Get default workflow permissions for a repository").
//
// Who replaces a file names its blob. An App changes files in .github/workflows only with the permission `workflows: write` (GitHub
// docs, "Permissions required for GitHub Apps").

import { runGit } from '#git/run.ts';
import { created, notFound, ok, Refusal, refused } from '../answer.ts';
import { accountOf } from '../auth.ts';
import { commitFiles } from '../bare.ts';
import { commitJson } from '../json/commit.ts';
import { findCommit } from '../known.ts';
import { repositoryPage, repositoryUrl } from '../json/repository.ts';
import {
  administer,
  fieldsOf,
  read,
  type RepositoryCall,
  repositoryRoute,
  type Route,
  write,
} from '../route.ts';
import { commitOf } from './check.ts';
import { moveRef } from './repository.ts';

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

const itemJson = ({ site, repository }: RepositoryCall, ref: string, { type, sha, size, path }: Item) => {
  const self = `${repositoryUrl(site, repository)}/contents/${path}?ref=${ref}`;
  const page = repositoryPage(site, repository);
  const html = `${page}/${type === 'dir' ? 'tree' : 'blob'}/${ref}/${path}`;
  const git = `${repositoryUrl(site, repository)}/git/${type === 'dir' ? 'trees' : 'blobs'}/${sha}`;
  return {
    type,
    size,
    name: path.split('/').at(-1)!,
    path,
    sha,
    url: self,
    git_url: git,
    html_url: html,
    download_url: `${page}/raw/${ref}/${path}`,
    _links: { git, html, self },
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
    return ok((await itemsIn(directory, commit, `${found.path}/`)).map((item) => itemJson(call, ref, item)));
  const { stdout } = await runGit({ directory }, { args: ['cat-file', 'blob', found.sha] });
  return ok({ ...itemJson(call, ref, found), content: stdout.toString('base64'), encoding: 'base64' });
}

type WrittenFile = {
  readonly message: string;
  readonly content: string;
  readonly sha?: string;
  readonly branch?: string;
};

function requireWorkflows({ principal, params }: RepositoryCall): void {
  const isWorkflow = params['path']!.startsWith('.github/workflows/');
  if (isWorkflow && principal.kind === 'installation' && principal.permissions['workflows'] !== 'write')
    throw new Refusal(refused(403, 'Resource not accessible by integration'));
}

function writeContents(call: RepositoryCall) {
  const { site, repository, params, principal } = call;
  const { message, content, sha, branch = repository.defaultBranch } = fieldsOf(call) as WrittenFile;
  const path = params['path']!;
  requireWorkflows(call);
  return site.inTurn(repository, async () => {
    const { directory } = repository;
    const ref = `refs/heads/${branch}`;
    const parent = await findCommit(directory, ref);
    if (parent === null) return refused(404, `Branch ${branch} not found`);
    const [before] = await itemsIn(directory, parent, path);
    if (before !== undefined && sha === undefined)
      return refused(422, `Invalid request.\n\n"sha" wasn't supplied.`);
    if (before?.sha !== sha) return refused(409, `${path} does not match ${sha}`);
    const to = await commitFiles(directory, {
      parent,
      files: { [path]: Buffer.from(content, 'base64').toString() },
      author: accountOf(principal),
      message,
      at: site.clock.now(),
    });
    const refusal = await moveRef(call, ref, parent, to);
    if (refusal !== null) return refusal;
    const [item] = await itemsIn(directory, to, path);
    const { commit, node_id, html_url, parents } = await commitJson(site, repository, to);
    const { comment_count: _, ...shown } = commit;
    const body = {
      content: itemJson(call, branch, item!),
      commit: { ...shown, sha: to, node_id, html_url, parents },
    };
    return before === undefined ? created(body) : ok(body);
  });
}

const root = '/repos/{owner}/{repo}';

export const contentRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/contents/{path}`, read('contents'), contents),
  repositoryRoute(`PUT ${root}/contents/{path}`, write('contents'), writeContents),
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

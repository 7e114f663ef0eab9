// Pull requests.

import { created, invalid, notFound, ok } from '../answer.ts';
import { pullJson, listedPullJson, reviewJson } from '../json/pull.ts';
import { mergePull } from '../merge-pull.ts';
import { isPullOpen, type MergeMethod, type PullRequest, type Repository } from '../model.ts';
import { closePull, editPull, openPull, reopenPull } from '../pull.ts';
import {
  fieldsOf,
  inOrder,
  listed,
  numberOf,
  read,
  type RepositoryCall,
  repositoryRoute,
  type Route,
  write,
} from '../route.ts';

function pullOf(call: RepositoryCall): PullRequest {
  const pull = call.repository.pulls.get(numberOf(call, 'pull_number'));
  if (pull === undefined) throw notFound();
  return pull;
}

/** `branch`, or `owner:branch` of a fork. */
function headOf({ site, repository }: RepositoryCall, head: string): [Repository, string] {
  const [, owner = repository.owner.login, ref = head] = /^([^:/]+):(.+)$/.exec(head) ?? [];
  const isOwn = owner.toLowerCase() === repository.owner.login.toLowerCase();
  const found = isOwn
    ? repository
    : [...site.repositories.values()].find(
        (one) => one.parent === repository && one.owner.login.toLowerCase() === owner.toLowerCase(),
      );
  if (found === undefined) throw invalid({ resource: 'PullRequest', field: 'head' });
  return [found, ref];
}

function listPulls(call: RepositoryCall) {
  const { site, repository, query } = call;
  const state = query.get('state') ?? 'open';
  const head = query.get('head');
  const base = query.get('base');
  const sort = query.get('sort') ?? 'created';
  const isAscending = query.get('direction') === 'asc' || (sort !== 'created' && !query.has('direction'));
  const labelOf = ({ headRepository, headRef }: PullRequest) => `${headRepository.owner.login}:${headRef}`;
  const chosen = [...repository.pulls.values()]
    .filter((pull) => state === 'all' || pull.state === state)
    .filter((pull) => head === null || labelOf(pull).toLowerCase() === head.toLowerCase())
    .filter((pull) => base === null || pull.baseRef === base);
  const at = ({ createdAt, updatedAt }: PullRequest) => (sort === 'updated' ? updatedAt : createdAt);
  const all = inOrder(chosen, at, ({ number }) => number, isAscending);
  return listed(call, all, (pull) => listedPullJson(site, repository, pull));
}

async function createPull(call: RepositoryCall) {
  const { site, repository, principal } = call;
  const { title, head, base, body, draft } = fieldsOf(call) as {
    readonly title?: string;
    readonly head: string;
    readonly base: string;
    readonly body?: string;
    readonly draft?: boolean;
  };
  if (title === undefined) throw invalid({ resource: 'PullRequest', field: 'title' });
  const [headRepository, headRef] = headOf(call, head);
  const wish = { title, body: body ?? null, headRepository, headRef, baseRef: base, draft: draft ?? false };
  const pull = await site.inTurn(repository, () => openPull(site, repository, wish, principal));
  return created(await pullJson(site, repository, pull));
}

async function updatePull(call: RepositoryCall) {
  const { site, repository, principal } = call;
  const pull = pullOf(call);
  const { title, body, base, state } = fieldsOf(call) as {
    readonly title?: string;
    readonly body?: string;
    readonly base?: string;
    readonly state?: 'open' | 'closed';
  };
  await site.inTurn(repository, async () => {
    await editPull(site, repository, pull, { title, body, base }, principal);
    if (state === 'closed' && isPullOpen(pull)) await closePull(site, repository, pull, principal);
    if (state === 'open') await reopenPull(site, repository, pull, principal);
  });
  return ok(await pullJson(site, repository, pull));
}

function merge(call: RepositoryCall) {
  const { site, repository, principal } = call;
  const pull = pullOf(call);
  const wish = fieldsOf(call) as {
    readonly merge_method?: MergeMethod;
    readonly sha?: string;
    readonly commit_title?: string;
    readonly commit_message?: string;
  };
  return site.inTurn(repository, () =>
    mergePull(
      site,
      repository,
      pull,
      {
        method: wish.merge_method ?? 'merge',
        sha: wish.sha ?? null,
        title: wish.commit_title ?? null,
        message: wish.commit_message ?? null,
      },
      principal,
    ),
  );
}

const root = '/repos/{owner}/{repo}/pulls';

export const pullRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}`, read('pull_requests'), listPulls),
  repositoryRoute(`POST ${root}`, { ...write('pull_requests'), access: 'read' }, createPull),
  repositoryRoute(`PUT ${root}/{pull_number}/merge`, write('contents'), merge),
  repositoryRoute(`GET ${root}/{pull_number}/reviews`, read('pull_requests'), (call) => {
    const pull = pullOf(call);
    return listed(call, pull.reviews, (review) => reviewJson(call.site, call.repository, pull, review));
  }),
  repositoryRoute(`GET ${root}/{pull_number}`, read('pull_requests'), async (call) =>
    ok(await pullJson(call.site, call.repository, pullOf(call))),
  ),
  repositoryRoute(`PATCH ${root}/{pull_number}`, write('pull_requests'), updatePull),
];

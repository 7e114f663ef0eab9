// A repository: itself, its people, branches, rules, refs and webhooks.

import { changeRefs, listRefs } from '#host/sandbox/git.ts';
import { findCommit } from '../known.ts';
import { created, noContent, notFound, ok, refused } from '../answer.ts';
import { accessOfAccount } from '../auth.ts';
import { contains } from '../bare.ts';
import { instant, nodeId, userJson } from '../json/account.ts';
import {
  branchesJson,
  branchJson,
  branchRulesJson,
  protectionJson,
  rulesetJson,
  rulesetSummaryJson,
} from '../json/branch.ts';
import { contentObjection } from '../content-rule.ts';
import { commitJson } from '../json/commit.ts';
import { deliveryJson, hookJson } from '../json/hook.ts';
import { fullRepositoryJson, permissionsJson, repositoryUrl } from '../json/repository.ts';
import { type Access, atLeast } from '../model.ts';
import { protectionOf } from '../policy.ts';
import { checkPush } from '../push-rule.ts';
import { noticePush } from '../push.ts';
import {
  administer,
  fieldsOf,
  listed,
  numberOf,
  read,
  type RepositoryCall,
  repositoryRoute,
  type Route,
  write,
} from '../route.ts';
import { commitOf } from './check.ts';

const root = '/repos/{owner}/{repo}';

/** As a role: an App has permissions and no role. */
const roleOf = ({ principal, repository }: RepositoryCall): Access =>
  principal.kind === 'user' ? accessOfAccount(repository, principal.account) : 'none';

/** Who may write the contents is shown which merges are allowed. */
const seesMerges = (call: RepositoryCall): boolean =>
  call.principal.kind === 'installation'
    ? call.principal.permissions['contents'] === 'write'
    : atLeast(roleOf(call), 'write');

/** The four words that GitHub has for six roles. */
const permissionWord = (access: Access): string =>
  access === 'maintain' ? 'write' : access === 'triage' ? 'read' : access;

const peopleRoutes: readonly Route[] = [
  repositoryRoute(
    `GET ${root}/collaborators/{username}/permission`,
    read('metadata'),
    ({ site, repository, params }) => {
      const account = site.accounts.get(params['username']!.toLowerCase());
      if (account === undefined) throw notFound();
      const access = accessOfAccount(repository, account);
      const user = { ...userJson(site, account), permissions: permissionsJson(access), role_name: access };
      return ok({ permission: permissionWord(access), role_name: access, user });
    },
  ),
];

/** GitHub REST docs, "List repository activities": newest first. */
const activityRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/activity`, read('contents'), (call) => {
    const { site, repository, query } = call;
    const ref = query.get('ref');
    const fits = repository.activities.filter((one) => ref === null || one.ref === ref);
    const kindOf = (before: string, after: string) =>
      /^0+$/.test(before) ? 'branch_creation' : /^0+$/.test(after) ? 'branch_deletion' : 'push';
    return listed(call, fits.toReversed(), ({ id, before, after, at, by, ref: moved }) => ({
      id,
      node_id: nodeId('Push', id),
      before,
      after,
      ref: moved,
      timestamp: instant(at),
      activity_type: kindOf(before, after),
      actor: userJson(site, by),
    }));
  }),
];

const branchRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/branches`, read('contents'), async (call) =>
    listed(call, await branchesJson(call.site, call.repository), (branch) => branch),
  ),
  repositoryRoute(
    `GET ${root}/branches/{branch}/protection`,
    administer('administration'),
    async ({ site, repository, params }) => {
      const branch = params['branch']!;
      const protection = protectionOf(repository, branch);
      if (protection !== null) return ok(protectionJson(site, repository, branch, protection));
      const isThere = (await findCommit(repository.directory, `refs/heads/${branch}`)) !== null;
      return refused(404, isThere ? 'Branch not protected' : 'Branch not found');
    },
  ),
  repositoryRoute(`GET ${root}/branches/{branch}`, read('contents'), async ({ site, repository, params }) => {
    const json = await branchJson(site, repository, params['branch']!);
    return json === null ? refused(404, 'Branch not found') : ok(json);
  }),
  repositoryRoute(`GET ${root}/rules/branches/{branch}`, read('metadata'), (call) =>
    listed(call, branchRulesJson(call.repository, call.params['branch']!), (rule) => rule),
  ),
  repositoryRoute(`GET ${root}/rulesets`, read('metadata'), (call) =>
    listed(call, call.repository.rulesets, (one) => rulesetSummaryJson(call.site, call.repository, one)),
  ),
  repositoryRoute(`GET ${root}/rulesets/{ruleset_id}`, read('metadata'), (call) => {
    const found = call.repository.rulesets.find(({ id }) => id === numberOf(call, 'ruleset_id'));
    if (found === undefined) throw notFound();
    return ok(rulesetJson(call.site, call.repository, found, call.principal));
  }),
];

const refJson = ({ site, repository }: RepositoryCall, ref: string, sha: string) => {
  const url = repositoryUrl(site, repository);
  return {
    ref,
    node_id: nodeId('Ref', ref),
    url: `${url}/git/${ref}`,
    object: { sha, type: 'commit', url: `${url}/git/commits/${sha}` },
  };
};

/** Moves a ref as a push would, under the same rules. */
export async function moveRef(call: RepositoryCall, ref: string, from: string | null, to: string | null) {
  const { site, repository, principal } = call;
  const nothing = '0'.repeat(40);
  const command = { ref, old: from ?? nothing, new: to ?? nothing };
  const { rules, content } = await checkPush(repository, principal, [command]);
  const refusal = rules.find(({ rule }) => rule === 'refuse');
  if (refusal !== undefined) return refused(422, refusal.words);
  for (const { headline, rule } of to === null ? [] : content) {
    const words = await contentObjection({ directory: repository.directory }, { from, to: to! }, rule);
    if (words !== null) return refused(422, `${headline} - ${words}`);
  }
  await changeRefs(repository.directory, [{ ref, from, to }]);
  await noticePush(site, repository, [{ ref, from, to }], principal);
  return null;
}

const refRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/git/ref/{ref}`, read('contents'), async (call) => {
    const ref = `refs/${call.params['ref']}`;
    const sha = await findCommit(call.repository.directory, ref);
    return sha === null ? refused(404, 'Not Found') : ok(refJson(call, ref, sha));
  }),
  repositoryRoute(`GET ${root}/git/matching-refs/{ref}`, read('contents'), async (call) => {
    const prefix = `refs/${call.params['ref']}`;
    const refs = [...(await listRefs(call.repository.directory, 'refs'))].filter(([ref]) =>
      ref.startsWith(prefix),
    );
    return ok(refs.map(([ref, sha]) => refJson(call, ref, sha)));
  }),
  repositoryRoute(`POST ${root}/git/refs`, write('contents'), (call) => {
    const { ref, sha } = fieldsOf(call) as { readonly ref: string; readonly sha: string };
    const { site, repository } = call;
    return site.inTurn(repository, async () => {
      if ((await findCommit(repository.directory, sha)) === null)
        return refused(422, 'Object does not exist');
      if ((await findCommit(repository.directory, ref)) !== null)
        return refused(422, 'Reference already exists');
      return (await moveRef(call, ref, null, sha)) ?? created(refJson(call, ref, sha));
    });
  }),
  repositoryRoute(`PATCH ${root}/git/refs/{ref}`, write('contents'), (call) => {
    const { sha, force } = fieldsOf(call) as { readonly sha: string; readonly force?: boolean };
    const ref = `refs/${call.params['ref']}`;
    const { site, repository } = call;
    return site.inTurn(repository, async () => {
      const from = await findCommit(repository.directory, ref);
      if (from === null) return refused(422, 'Reference does not exist');
      if (force !== true && !(await contains(repository.directory, from, sha)))
        return refused(422, 'Update is not a fast forward');
      return (await moveRef(call, ref, from, sha)) ?? ok(refJson(call, ref, sha));
    });
  }),
  repositoryRoute(`DELETE ${root}/git/refs/{ref}`, write('contents'), (call) => {
    const ref = `refs/${call.params['ref']}`;
    const { site, repository } = call;
    return site.inTurn(repository, async () => {
      const from = await findCommit(repository.directory, ref);
      if (from === null) return refused(422, 'Reference does not exist');
      return (await moveRef(call, ref, from, null)) ?? noContent;
    });
  }),
];

const hookRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/hooks`, administer('repository_hooks'), (call) =>
    listed(call, call.repository.hooks, (hook) => hookJson(call.site, call.repository, hook)),
  ),
  repositoryRoute(`GET ${root}/hooks/{hook_id}/deliveries`, administer('repository_hooks'), (call) => {
    const id = numberOf(call, 'hook_id');
    if (!call.repository.hooks.some((hook) => hook.id === id)) throw notFound();
    return ok(
      call.site.deliveries
        .filter(({ hookId }) => hookId === id)
        .toReversed()
        .slice(0, 100)
        .map(deliveryJson),
    );
  }),
];

export const repositoryRoutes: readonly Route[] = [
  ...peopleRoutes,
  ...activityRoutes,
  ...branchRoutes,
  ...refRoutes,
  ...hookRoutes,
  repositoryRoute(`GET ${root}/commits/{ref}`, read('contents'), async (call) =>
    ok(await commitJson(call.site, call.repository, await commitOf(call))),
  ),
  repositoryRoute(`GET ${root}`, read('metadata'), (call) =>
    ok(fullRepositoryJson(call.site, call.repository, roleOf(call), seesMerges(call))),
  ),
];

// Branches, what protects them, and rulesets.

import { listRefs } from '#host/sandbox/git.ts';
import { findCommit } from '../known.ts';
import { accessOfAccount } from '../auth.ts';
import {
  fullNameOf,
  type Account,
  type App,
  type Principal,
  type Protection,
  type Repository,
  type Ruleset,
  type Site,
} from '../model.ts';
import { mayBypass, protectionOf, rulesetsOf } from '../policy.ts';
import { appJson, instant, nodeId, userJson } from './account.ts';
import { commitJson } from './commit.ts';
import { repositoryPage, repositoryUrl } from './repository.ts';

const isProtected = (repository: Repository, branch: string): boolean =>
  protectionOf(repository, branch) !== null || rulesetsOf(repository, branch).length > 0;

const branchUrl = (site: Site, repository: Repository, branch: string): string =>
  `${repositoryUrl(site, repository)}/branches/${branch}`;

const checksSummary = (protection: Protection | null) => {
  const contexts = protection?.checks?.contexts ?? [];
  const appIds = protection?.checks?.appIds ?? {};
  return {
    enforcement_level:
      contexts.length === 0 ? 'off' : (protection?.enforceAdmins ?? false) ? 'everyone' : 'non_admins',
    contexts,
    // GitHub REST docs, "Get a branch": `app_id` is null where any source may report the check.
    checks: contexts.map((context) => ({ context, app_id: appIds[context] ?? null })),
  };
};

/** Null: there is no such branch. */
export async function branchJson(site: Site, repository: Repository, branch: string) {
  const sha = await findCommit(repository.directory, `refs/heads/${branch}`);
  if (sha === null) return null;
  const url = branchUrl(site, repository, branch);
  const protection = protectionOf(repository, branch);
  return {
    name: branch,
    commit: await commitJson(site, repository, sha),
    _links: { self: url, html: `${repositoryPage(site, repository)}/tree/${branch}` },
    protected: isProtected(repository, branch),
    protection: { enabled: protection !== null, required_status_checks: checksSummary(protection) },
    protection_url: `${url}/protection`,
  };
}

export async function branchesJson(site: Site, repository: Repository) {
  const refs = await listRefs(repository.directory, 'refs/heads');
  return [...refs].map(([ref, sha]) => {
    const name = ref.slice('refs/heads/'.length);
    const commit = { sha, url: `${repositoryUrl(site, repository)}/commits/${sha}` };
    return { name, commit, protected: isProtected(repository, name) };
  });
}

/** Branches whose tip is this commit. */
export const branchesWith = async (site: Site, repository: Repository, sha: string) =>
  (await branchesJson(site, repository)).filter(({ commit }) => commit.sha === sha);

/** Here GitHub's description knows only some of an App's permissions, and no App without words. */
const listedApp = (site: Site, app: App) => {
  const { metadata, contents, issues } = app.permissions;
  return { ...appJson(site, app), description: '', permissions: { metadata, contents, issues } };
};

function actorsJson(site: Site, names: readonly string[]) {
  const apps = site.apps.filter(({ slug }) => names.includes(slug));
  const users = names.flatMap(
    (name): readonly Account[] | Account => site.accounts.get(name.toLowerCase()) ?? [],
  );
  return {
    users: users.map((user) => userJson(site, user)),
    teams: [],
    apps: apps.map((app) => listedApp(site, app)),
  };
}

export function protectionJson(site: Site, repository: Repository, branch: string, protection: Protection) {
  const url = `${branchUrl(site, repository, branch)}/protection`;
  const { checks, reviews, pushers } = protection;
  const restrictions = `${url}/restrictions`;
  return {
    url,
    ...(checks === null
      ? {}
      : {
          required_status_checks: {
            url: `${url}/required_status_checks`,
            strict: checks.strict,
            contexts: checks.contexts,
            contexts_url: `${url}/required_status_checks/contexts`,
            checks: checksSummary(protection).checks,
          },
        }),
    ...(pushers === null
      ? {}
      : {
          restrictions: {
            url: restrictions,
            users_url: `${restrictions}/users`,
            teams_url: `${restrictions}/teams`,
            apps_url: `${restrictions}/apps`,
            ...actorsJson(site, pushers),
          },
        }),
    ...(reviews === null
      ? {}
      : {
          required_pull_request_reviews: {
            url: `${url}/required_pull_request_reviews`,
            dismiss_stale_reviews: reviews.dismissStale ?? false,
            require_code_owner_reviews: reviews.codeOwners ?? false,
            require_last_push_approval: reviews.lastPush ?? false,
            required_approving_review_count: reviews.approvals,
            bypass_pull_request_allowances: actorsJson(site, reviews.bypass),
          },
        }),
    required_signatures: { url: `${url}/required_signatures`, enabled: protection.signatures },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: protection.enforceAdmins },
    required_linear_history: { enabled: protection.linearHistory },
    allow_force_pushes: { enabled: protection.allowForcePushes },
    allow_deletions: { enabled: protection.allowDeletions },
    block_creations: { enabled: protection.blockCreations },
    required_conversation_resolution: { enabled: protection.conversations },
    lock_branch: { enabled: protection.locked },
    allow_fork_syncing: { enabled: false },
  };
}

/** The rules on a branch, whether it is there or not. */
export const branchRulesJson = (repository: Repository, branch: string) =>
  rulesetsOf(repository, branch).flatMap(({ id, rules }) =>
    rules.map((rule) => ({
      ...rule,
      ruleset_source_type: 'Repository',
      ruleset_source: fullNameOf(repository),
      ruleset_id: id,
    })),
  );

export const rulesetSummaryJson = (site: Site, repository: Repository, ruleset: Ruleset) => ({
  id: ruleset.id,
  name: ruleset.name,
  target: 'branch',
  source_type: 'Repository',
  source: fullNameOf(repository),
  enforcement: ruleset.enforcement,
  node_id: nodeId('RepositoryRuleset', ruleset.id),
  _links: {
    self: { href: `${repositoryUrl(site, repository)}/rulesets/${ruleset.id}` },
    html: { href: `${repositoryPage(site, repository)}/rules/${ruleset.id}` },
  },
  created_at: instant(ruleset.createdAt),
  updated_at: instant(ruleset.createdAt),
});

/** GitHub REST docs, "Get a repository ruleset": what the caller itself may pass by. */
function bypassWord(ruleset: Ruleset, repository: Repository, asker: Principal): string {
  if (!mayBypass(ruleset, repository, asker, 'merge')) return 'never';
  const isApp = asker.kind === 'installation';
  if (isApp && ruleset.bypassMode === 'exempt') return 'exempt';
  return mayBypass(ruleset, repository, asker, 'push') ? 'always' : 'pull_requests_only';
}

export const rulesetJson = (site: Site, repository: Repository, ruleset: Ruleset, asker: Principal) => ({
  ...rulesetSummaryJson(site, repository, ruleset),
  conditions: { ref_name: { include: ruleset.include, exclude: ruleset.exclude } },
  rules: ruleset.rules,
  ...(mayEdit(repository, asker) ? { bypass_actors: bypassActorsJson(ruleset) } : {}),
  current_user_can_bypass: bypassWord(ruleset, repository, asker),
});

/** "Get a repository ruleset": those who may bypass it are shown only to those who may edit it. */
const mayEdit = (repository: Repository, asker: Principal): boolean =>
  asker.kind === 'installation'
    ? asker.permissions['administration'] === 'write'
    : asker.kind === 'user' && accessOfAccount(repository, asker.account) === 'admin';

const bypassActorsJson = (ruleset: Ruleset) => [
  ...ruleset.bypassApps.map((id) => ({
    actor_id: id,
    actor_type: 'Integration',
    bypass_mode: ruleset.bypassMode,
  })),
  // Role 5 is the repository's administrators.
  ...(ruleset.bypassAdmins ? [{ actor_id: 5, actor_type: 'RepositoryRole', bypass_mode: 'always' }] : []),
];

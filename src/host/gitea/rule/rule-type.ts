// Every field of Gitea's and Forgejo's branch protection, with what Signalbox does about it (rule.ts). Fields are those of
// `BranchProtection` (Gitea modules/structs/repo_branch.go). What a push of an account that may push is held to is in
// routers/private/hook_pre_receive.go: signatures and protected files always, approvals and checks never; the merge call
// is held to all of them (services/pull/check.go), unless the account may bypass the protection.

import { type ActiveRule, type RuleRow, unknownRule } from '../../rule.ts';

const checked = (why: string): RuleRow => ({ handling: 're-implemented', why });
const harmless = (why: string): RuleRow => ({ handling: 'harmless', why });

const who = harmless('It restricts who may act; Gitea refuses Signalbox if it is not allowed.');
const reviews = checked('Signalbox reads official reviews again before a landing.');
const force = harmless('A landing only adds commits.');

export const protectionFields: Readonly<Record<string, RuleRow>> = {
  // Forgejo alone has this one.
  apply_to_admins: harmless('It applies the other fields to administrators.'),
  approvals_whitelist_teams: reviews,
  approvals_whitelist_username: reviews,
  block_admin_merge_override: harmless('It applies the other fields to administrators.'),
  block_on_codeowner_reviews: {
    handling: 'refused',
    why: 'Signalbox does not know who owns the changed files.',
  },
  block_on_official_review_requests: reviews,
  block_on_outdated_branch: checked(
    'Signalbox tests every pull request with the latest commit of the branch.',
  ),
  block_on_rejected_reviews: reviews,
  bypass_allowlist_teams: who,
  bypass_allowlist_usernames: who,
  dismiss_stale_approvals: harmless('Gitea itself dismisses them, before Signalbox reads the reviews.'),
  enable_approvals_whitelist: reviews,
  enable_bypass_allowlist: who,
  enable_force_push: force,
  enable_force_push_allowlist: force,
  enable_merge_whitelist: who,
  enable_push: who,
  enable_push_whitelist: who,
  enable_status_check: checked(
    'A run waits for each of the checks, and Signalbox reads them again before a landing.',
  ),
  force_push_allowlist_deploy_keys: force,
  force_push_allowlist_teams: force,
  force_push_allowlist_usernames: force,
  ignore_stale_approvals: reviews,
  merge_whitelist_teams: who,
  merge_whitelist_usernames: who,
  protected_file_patterns: harmless('Gitea refuses every push that changes such a file.'),
  push_whitelist_deploy_keys: who,
  push_whitelist_teams: who,
  push_whitelist_usernames: who,
  require_signed_commits: harmless('Gitea refuses every push of a commit that it cannot verify.'),
  required_approvals: reviews,
  status_check_contexts: checked(
    'A run waits for each of the checks, and Signalbox reads them again before a landing.',
  ),
  unprotected_file_patterns: harmless('It allows more, and requires nothing.'),
};

/** Fields that identify a rule and require nothing. */
const labels: ReadonlySet<string> = new Set([
  'branch_name',
  'rule_name',
  'priority',
  'created_at',
  'updated_at',
]);

const isOn = (value: unknown): boolean =>
  value === true ||
  (typeof value === 'number' && value > 0) ||
  (typeof value === 'string' && value !== '') ||
  (Array.isArray(value) && value.length > 0);

/** A push bypasses Gitea's requirements on reviews and checks; its merge call enforces them. */
export function activeRules(
  rule: Readonly<Record<string, unknown>>,
  way: 'push' | 'merge',
): readonly ActiveRule[] {
  return Object.entries(rule)
    .filter(([name, value]) => !labels.has(name) && isOn(value))
    .map(([name]) => ({
      ...(Object.hasOwn(protectionFields, name) ? protectionFields[name]! : unknownRule),
      name,
      where: `branch protection “${String(rule['rule_name'])}”`,
      isBypassed: way === 'push',
      isBroken: false,
    }));
}

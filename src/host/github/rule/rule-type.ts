// Every rule type of GitHub's rulesets and every field of classic protection, with what Signalbox does about it (rule.ts).
//
// The rule types are those of the REST schema `repository-rule` (GitHub REST docs, "Rules"), the fields those of
// `protected-branch` ("Get branch protection"); what each means is in "Available rules for rulesets" and "About protected
// branches". A GitHub App can bypass a whole ruleset, and of classic protection only the pull request; an account with
// admin rights bypasses all of classic protection unless it binds administrators too.

import { type RuleRow, unknownRule } from '../../rule.ts';

const checked = (why: string): RuleRow => ({ handling: 're-implemented', why });
const refused = (why: string): RuleRow => ({ handling: 'refused', why });
const harmless = (why: string): RuleRow => ({ handling: 'harmless', why });

const metadata = refused('Signalbox does not check the metadata of commits against patterns.');
const files = refused('Signalbox does not check which files commits change, nor their size.');

export const ruleTypes: Readonly<Record<string, RuleRow>> = {
  branch_name_pattern: harmless('A landing creates no branch of that name.'),
  code_scanning: refused('Signalbox does not read code scanning results.'),
  commit_author_email_pattern: metadata,
  commit_message_pattern: metadata,
  committer_email_pattern: metadata,
  copilot_code_review: harmless('It requests a review and blocks nothing.'),
  creation: harmless('A landing creates no branch.'),
  deletion: harmless('A landing deletes no branch.'),
  file_extension_restriction: files,
  file_path_restriction: files,
  license_compliance_scanning: refused('Signalbox does not read the results of license compliance scans.'),
  max_file_path_length: files,
  max_file_size: files,
  merge_queue: refused('Two merge queues on one branch would undo each other’s work.'),
  non_fast_forward: harmless('A landing only adds commits.'),
  pull_request: checked(
    'Signalbox reads approvals, requested changes, conversations and the merge method again before a landing.',
  ),
  required_deployments: refused('Signalbox does not read deployments.'),
  required_linear_history: checked(
    'A queue with mergeMethod merge_commit does not merge into such a branch.',
  ),
  required_signatures: refused('Signalbox does not sign the commits that it pushes.'),
  required_status_checks: checked(
    'A run waits for each of them, from its source, and Signalbox reads them again before a landing.',
  ),
  tag_name_pattern: harmless('A landing creates no tag.'),
  update: harmless('It restricts who may update the branch; Signalbox is meant to.'),
  workflows: refused('Signalbox does not read the results of required workflows.'),
};

export const protectionFields: Readonly<Record<string, RuleRow>> = {
  allow_deletions: ruleTypes['deletion']!,
  allow_force_pushes: ruleTypes['non_fast_forward']!,
  allow_fork_syncing: harmless('It is about forks.'),
  block_creations: ruleTypes['creation']!,
  enforce_admins: harmless('It sets whom the other fields apply to.'),
  lock_branch: harmless('GitHub refuses every push and merge.'),
  required_conversation_resolution: refused(
    'Signalbox reads conversations only if a ruleset requires them to be resolved. Require it in a ruleset.',
  ),
  required_linear_history: ruleTypes['required_linear_history']!,
  required_pull_request_reviews: ruleTypes['pull_request']!,
  required_signatures: ruleTypes['required_signatures']!,
  required_status_checks: ruleTypes['required_status_checks']!,
  restrictions: ruleTypes['update']!,
};

export const findRuleRow = (type: string): RuleRow =>
  Object.hasOwn(ruleTypes, type) ? ruleTypes[type]! : unknownRule;

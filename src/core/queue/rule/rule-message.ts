// What a pull request’s comment says about the rules: a required check that CI skipped, and a change of the rules.

import type { RequiredCheck } from '../check.ts';
import type { BranchRuleChange, RuleChange } from '../rule.ts';

/** Why CI skips a check, most often. */
export const skippedCauses = [
  'A required check that CI skipped tested nothing, so it did not pass. The likely causes:',
  [
    '- a draft guard (`if: github.event.pull_request.draft == false`): the pull request of a test branch is a draft',
    '- a condition on `merge_group`, which only GitHub’s own merge queue triggers',
    '- `needs:` without `if: always()`: the job is skipped when a job that it needs fails or is skipped',
    '- a path filter (`paths:` or `paths-ignore:`) that leaves this change out',
  ].join('\n'),
  'Make the job run for test branches (`signalbox/…`), or list the check in `skippableStatuses` of the queue if it may be skipped.',
] as const;

/** `code` shows a name as code. */
export function ruleChangeText({ added, removed }: RuleChange, code: (name: string) => string): string {
  const list = (names: readonly string[]) => names.map(code).join(', ');
  return [
    'This pull request changes which checks are required (`.signalbox.yaml`).',
    ...(added.length === 0 ? [] : [`It adds ${list(added)}, which its own tests must pass as well.`]),
    ...(removed.length === 0
      ? []
      : [`It removes ${list(removed)}, which stay required until the change has merged.`]),
  ].join(' ');
}

/**
 * What the branch requires since a pull request was tested; null: no check can be named. `code` shows a name as code.
 */
export function branchRuleChangeText(
  { added, bound, removed }: BranchRuleChange,
  branch: string,
  code: (name: string) => string,
): string | null {
  const list = (names: readonly string[]) => names.map(code).join(', ');
  const is = (names: readonly string[]) => (names.length === 1 ? 'is' : 'are');
  const sentences = [
    ...(added.length === 0 ? [] : [`${list(added)} ${is(added)} required now.`]),
    ...bound.map(({ name, source }) => `${code(name)} must be ${sourceText(source, code)} now.`),
    ...(removed.length === 0 ? [] : [`${list(removed)} ${is(removed)} no longer required.`]),
  ];
  if (sentences.length === 0) return null;
  return `The required checks of ${code(branch)} changed after this pull request was tested, so Signalbox restarted its tests. ${sentences.join(' ')}`;
}

function sourceText(source: RequiredCheck['source'], code: (name: string) => string): string {
  if (source === 'commit_status') return 'a commit status';
  if (source === null || source === 'check_run') return 'a check run';
  return `a check run of the app ${code(source.slice('app:'.length))}`;
}

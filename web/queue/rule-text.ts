// Required checks and changes of them, as sentences.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';

type LandingRuleRecord = ResponseOf<'getLanding'>;
type RuleTimelineEvent = NonNullable<ResponseOf<'getSubmittedPullRequest'>['timeline']>[number];

/** The source that must report a required check. */
export function sourceText(source: string | null): string {
  if (source === null) return 'any source';
  if (source === 'commit_status') return 'a commit status';
  if (source === 'check_run') return 'a check run';
  return `a check run of app ${source.replace(/^app:/, '')}`;
}

const clauses = ({
  added,
  removed,
}: {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}) => [
  ...(added.length === 0 ? [] : [`adds ${added.join(', ')}`]),
  ...(removed.length === 0 ? [] : [`removes ${removed.join(', ')}`]),
];

/** What a pull request changed in the required checks of its branch. */
export const landedRuleChangeText = (change: LandingRuleRecord['ruleChanges'][number]): string =>
  `#${change.prNumber} ${clauses(change).join(' and ')}`;

/** The changes of required checks that an event of the timeline names. */
export function ruleChangeTexts({ ruleChange, branchRuleChange }: RuleTimelineEvent): readonly string[] {
  return [
    ...(ruleChange === undefined
      ? []
      : [`Changes the required checks: ${clauses(ruleChange).join(' and ')}.`]),
    ...(branchRuleChange === undefined ? [] : branchChangeTexts(branchRuleChange)),
  ];
}

function branchChangeTexts({
  added,
  bound,
  removed,
}: NonNullable<RuleTimelineEvent['branchRuleChange']>): readonly string[] {
  return [
    ...(added.length === 0 ? [] : [`Newly required: ${added.join(', ')}.`]),
    ...bound.map(({ name, source }) => `Now required from ${sourceText(source)}: ${name}.`),
    ...(removed.length === 0 ? [] : [`No longer required: ${removed.join(', ')}.`]),
  ];
}

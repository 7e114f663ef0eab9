// Required checks and changes of them, as sentences.

import type { ResponseOf } from '#contract/endpoint.ts';

type Landing = ResponseOf<'getLanding'>;
type TimelineEvent = NonNullable<ResponseOf<'getSubmittedPullRequest'>['timeline']>[number];

/** Who must report a required check. */
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
export const landedRuleChangeText = (change: Landing['ruleChanges'][number]): string =>
  `#${change.prNumber} ${clauses(change).join(' and ')}`;

/** The changes of required checks that an event of the timeline names. */
export function ruleChangeTexts({ ruleChange, branchRuleChange }: TimelineEvent): readonly string[] {
  return [
    ...(ruleChange === undefined ? [] : [`Required checks: it ${clauses(ruleChange).join(' and ')}.`]),
    ...(branchRuleChange === undefined ? [] : branchChangeTexts(branchRuleChange)),
  ];
}

function branchChangeTexts({
  added,
  bound,
  removed,
}: NonNullable<TimelineEvent['branchRuleChange']>): readonly string[] {
  return [
    ...(added.length === 0 ? [] : [`Required now: ${added.join(', ')}.`]),
    ...bound.map(({ name, source }) => `Required of another source now: ${name} from ${sourceText(source)}.`),
    ...(removed.length === 0 ? [] : [`Not required any more: ${removed.join(', ')}.`]),
  ];
}

// What tried settings would have changed, in sentences.

import { countText } from '#base/number-text.ts';
import { trialDays, type TrialKind, trialKinds } from '#core/health/trial/trial-kind.ts';

export const trialLabel = `Try on the last ${trialDays} days`;

type TrialCounts = {
  readonly saved: number;
  readonly tried: number;
  readonly more: number;
  readonly fewer: number;
};

type TrialScope = {
  readonly days: number;
  readonly tests: number;
  readonly is_cut: boolean;
  readonly changes_on_save: number;
  readonly not_tried: readonly string[];
};

const states: Readonly<Record<TrialKind, string>> = {
  flaky: 'flaky',
  broken: 'broken',
  quarantined: 'quarantined automatically',
};

/** In the order in which they are shown. */
export const describeDifferences = (
  trial: Readonly<Record<TrialKind, TrialCounts>>,
): readonly { readonly kind: TrialKind; readonly text: string }[] =>
  trialKinds.map((kind) => ({ kind, text: describeDifference(kind, trial[kind]) }));

/** “14 more tests would have been flaky, 3 fewer (31 instead of 20).” */
function describeDifference(kind: TrialKind, { saved, tried, more, fewer }: TrialCounts): string {
  const state = states[kind];
  if (more === 0 && fewer === 0)
    return `The same tests would have been ${state} (${tried === 0 ? 'none' : tried}).`;
  const counts = `(${tried} instead of ${saved})`;
  const moreText = `${more} more ${more === 1 ? 'test' : 'tests'} would have been ${state}`;
  if (fewer === 0) return `${moreText} ${counts}.`;
  if (more === 0)
    return `${fewer} fewer ${fewer === 1 ? 'test' : 'tests'} would have been ${state} ${counts}.`;
  return `${moreText}, ${fewer} fewer ${counts}.`;
}

/** What the answer is about, and what it leaves out. */
export function describeTrial(trial: TrialScope): readonly string[] {
  const { days, tests, is_cut: isCut, changes_on_save: changes, not_tried: notTried } = trial;
  const about = `Tried on ${isCut ? 'the first ' : ''}${countText(tests, 'test')} that failed in the last ${days} days.`;
  return [
    about,
    ...(isCut
      ? [
          'The repository has more of them: these are a random part, so the others differ in about the same share.',
        ]
      : []),
    changes === 0
      ? 'If you save now, no test changes its status or quarantine at once.'
      : `If you save now, ${countText(changes, 'test')} ${changes === 1 ? 'changes its' : 'change their'} status or quarantine at once.`,
    ...(notTried.length === 0
      ? []
      : [`Not tried: ${notTried.join(', ')}, which applies to new uploads only.`]),
  ];
}

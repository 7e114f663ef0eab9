// How often verdicts were right, in sentences.

import { countText } from '#base/number-text.ts';
import { type AccuracyKind, decidedMin, recoveredDays } from '#core/health/accuracy/accuracy.ts';

type AccuracyText = {
  readonly title: string;
  readonly confirmed: string;
  readonly overturned: string;
  readonly note?: string;
};

const lowerBound =
  'A test that is fixed at once is counted as overturned too, so the share is a lower bound.';

export const accuracyTexts: Readonly<Record<AccuracyKind, AccuracyText>> = {
  flaky: {
    title: 'Flaky tests',
    confirmed: 'While it was flaky, the test passed and failed on the same commit again.',
    overturned: 'It became healthy or broken without doing so.',
    note: lowerBound,
  },
  broken: {
    title: 'Broken tests',
    confirmed: 'While it was broken, the test failed on the default branch again.',
    overturned: 'It became healthy or flaky without failing there again.',
    note: lowerBound,
  },
  recovered: {
    title: 'Tests that became healthy again',
    confirmed: `The test stayed healthy for ${recoveredDays} days.`,
    overturned: `It was flaky or broken again within ${recoveredDays} days.`,
  },
  rerun: {
    title: 'Runs that the queue repeated',
    confirmed: 'Only flaky tests had failed in the run, and the repeated run passed.',
    overturned: 'The repeated run failed.',
  },
  people: {
    title: 'Decisions of people',
    confirmed: 'A person marked the flaky or broken test so, or quarantined it.',
    overturned: 'A person marked it otherwise, muted a monitor, or set it never to be quarantined.',
  },
};

type AccuracyCounts = {
  readonly confirmed: number;
  readonly overturned: number;
  readonly open: number;
  readonly share: { readonly value: number; readonly low: number; readonly high: number } | null;
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** “87 % confirmed (95 % interval: 71 % to 95 %)”, or that there are too few verdicts to say so. */
export function describeAccuracy({ confirmed, overturned, open, share }: AccuracyCounts): string {
  if (share === null) {
    const decided = confirmed + overturned;
    return `Not enough data yet: ${countText(decided, 'verdict')} confirmed or overturned, of ${decidedMin} that are needed${open === 0 ? '' : `, and ${open} open`}.`;
  }
  return `${percent(share.value)} confirmed (95 % interval: ${percent(share.low)} to ${percent(share.high)}).`;
}

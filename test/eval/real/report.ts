// The figures of a profile, with the goals, and a table of what is behind them.

import type { Figure } from '../../soak/report.ts';
import type { RealOutcome, RealTask } from './experiment.ts';
import { type ProfileName, profileNames } from './profile.ts';
import { rivalNames } from './rival.ts';
import { addRealTallies, brokenKinds, type RealTally, scoresOfReal, shareOf } from './score.ts';

/** Rules are tuned on seeds 1 to 5. A small repository has few flaky tests, so more of them are added up. */
const quotedSeeds: { readonly [name in ProfileName]: readonly number[] } = {
  low: Array.from({ length: 20 }, (_, at) => 11 + at),
  mid: [11, 12, 13, 14, 15],
  high: [11, 12, 13, 14, 15],
};

export const quotedRealTasks = (seeds: readonly number[] | null): readonly RealTask[] =>
  profileNames.flatMap((profile) =>
    (seeds ?? quotedSeeds[profile]).map((seed) => ({ profile, seed, without: [] })),
  );

/** By seed. */
export const outcomesOf = (profile: ProfileName, outcomes: readonly RealOutcome[]): readonly RealOutcome[] =>
  outcomes.filter(({ task }) => task.profile === profile).toSorted((a, b) => a.task.seed - b.task.seed);

const atLeast = (name: string, value: number, bound: number | null): Figure =>
  bound === null ? { name, value } : { name, value, goal: `>= ${bound}`, isMet: value >= bound };
const atMost = (name: string, value: number, bound: number | null): Figure =>
  bound === null ? { name, value } : { name, value, goal: `<= ${bound}`, isMet: value <= bound };

export function figuresOfReal(profile: ProfileName, outcomes: readonly RealOutcome[]): readonly Figure[] {
  const tally = addRealTallies(outcomes.map((outcome) => outcome.tally));
  const scores = scoresOfReal(tally);
  const name = (text: string): string => `${profile}: ${text}`;
  const isLow = profile === 'low';
  return [
    atLeast(name('precision of flaky'), scores.precision, profile === 'high' ? 0.85 : 0.8),
    atLeast(name('precision of automatic quarantine'), scores.quarantinePrecision, 0.92),
    atMost(name('real failures on main excused, %'), 100 * scores.mainExcused, 0.1),
    atLeast(name('recall of failure mass'), scores.massRecall, isLow ? null : 0.96),
    atLeast(name('recall of tests shown twice'), scores.recallOfShown, isLow ? null : 0.85),
    atLeast(name('benefit: own flakes on pull requests excused'), scores.benefit, isLow ? null : 0.6),
    atLeast(name('broken found, regressions of main'), shareOf(tally.broken.regression), isLow ? 0.7 : null),
    atLeast(
      name('broken found, one platform without a variant'),
      shareOf(tally.broken['platform without a variant']),
      0.95,
    ),
    { name: name('recall of flaky tests'), value: scores.recall },
    { name: name('failure mass covered'), value: scores.covered },
    { name: name('flaps per 100 days of flaky tests'), value: scores.flaps },
  ];
}

const three = (value: number): string => value.toFixed(3);
const fraction = ({ part, whole }: { readonly part: number; readonly whole: number }): string =>
  `${part}/${whole}`;

export function tableOfReal(
  profile: ProfileName,
  outcomes: readonly RealOutcome[],
  losses: number,
): string[] {
  const lines = [`\n${profile}: seeds ${outcomes.map(({ task }) => task.seed).join(', ')}`];
  lines.push(
    'seed   flaky verdicts      quarantines         recall  shown   mass    covered main excused    benefit  detect p50/p90  flaps  q-flaps',
  );
  for (const { task, tally } of outcomes) lines.push(rowOf(String(task.seed), tally));
  const all = addRealTallies(outcomes.map(({ tally }) => tally));
  if (outcomes.length > 1) lines.push(rowOf('all', all));
  for (const name of rivalNames) {
    const rival = scoresOfReal(addRealTallies(outcomes.map(({ rivals }) => rivals[name])));
    lines.push(
      `${name}: precision ${three(rival.precision)}, false ${rival.falseVerdicts}, recall ${three(rival.recall)}, shown ${three(rival.recallOfShown)}, mass ${three(rival.massRecall)}, covered ${three(rival.covered)}`,
    );
  }
  lines.push(`false verdicts by cause:    ${countsText(all.falseVerdicts)}`);
  lines.push(`false quarantines by cause: ${countsText(all.falseQuarantines)}`);
  lines.push(`recall by kind: ${sharesText(all.kinds)}`);
  lines.push(
    `broken found: ${brokenKinds.map((kind) => `${kind} ${fraction(all.broken[kind])}`).join(', ')}`,
  );
  lines.push(`excused: ${sharesText(all.excused)}`);
  const wrong = outcomes.flatMap(({ task, falseVerdicts }) =>
    falseVerdicts.map((one) => ({ ...one, seed: task.seed })),
  );
  for (const one of wrong.slice(0, losses))
    lines.push(
      `  seed ${one.seed} test ${one.test}${one.variant === '' ? '' : ` (${one.variant})`} ${new Date(one.at).toISOString()} ${one.isQuarantine ? 'quarantined' : 'flaky'}: ${countsText(one.counts)}; ${one.reason}`,
    );
  return lines;
}

function rowOf(name: string, tally: RealTally): string {
  const scores = scoresOfReal(tally);
  const { detectDays } = scores;
  return [
    name.padEnd(7),
    `${three(scores.precision)} ${fraction(tally.verdicts)}`.padEnd(20),
    `${three(scores.quarantinePrecision)} ${fraction(tally.quarantines)}`.padEnd(20),
    three(scores.recall).padEnd(8),
    three(scores.recallOfShown).padEnd(8),
    three(scores.massRecall).padEnd(8),
    three(scores.covered).padEnd(8),
    fraction(tally.mainReal).padEnd(16),
    three(scores.benefit).padEnd(9),
    `${detectDays.median.toFixed(1)}/${detectDays.p90.toFixed(1)}`.padEnd(16),
    scores.flaps.toFixed(1).padEnd(7),
    scores.quarantineFlaps.toFixed(1),
  ].join('');
}

const countsText = (counts: { readonly [name: string]: number }): string =>
  Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ') || 'none';

const sharesText = (shares: {
  readonly [name: string]: { readonly part: number; readonly whole: number };
}): string =>
  Object.entries(shares)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, share]) => `${name} ${fraction(share)}`)
    .join(', ');

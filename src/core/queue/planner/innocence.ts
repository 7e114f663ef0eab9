// How probably chance failed the runs of an entry, if dependencies are direct. It decides how often an entry that failed
// on the branch is tested again before it is removed (verdict.ts, search.ts).
//
// Example. 5 % of the entries fail here, and 1 % of the runs of sound ones. An entry that fails is sound with 16 %, and is
// tested again; after the second failure it is sound with 0.2 %, and is removed. Where hardly any run fails by chance, the
// first failure is convincing. What earlier pull requests of an author did is no evidence: predictions do not count here.

import type { Item, Run, Snapshot } from './model.ts';

/** The most that is taken for the probability that two entries that share a target break together (SubmitQueue: 4 %). */
const conflictOddsMax = 0.04;

/**
 * How probably an entry breaks with one particular of `count` others that share a target with it. All of them together
 * never explain more than the share of failures.
 */
export const conflictOdds = (failureShare: number, count: number): number =>
  Math.min(conflictOddsMax, failureShare / Math.max(1, count));

/** How probably an entry that a run assumes fails without one that landed before it and is not in the run. */
const needOdds = 0.0002;

/** Below this, one more run would save one entry in a hundred, and let the others wait for it. */
const innocenceMin = 0.01;

/** So many failures convince, however often runs fail by chance. */
const failuresMax = 4;

type Known = Pick<Snapshot, 'failureShare' | 'flakeShare'>;

/** By Bayes' rule: `chance` is how probably a sound entry shows what was seen. Any other entry shows it always. */
function estimateInnocence({ failureShare }: Known, item: Item, chance: number): number {
  const { passed = false, untestedLandings = 0 } = item.findings ?? {};
  const alone = passed ? 1 : 1 - failureShare;
  // Nothing is certain: the branch may have changed in a way that no target shows.
  const sound = Math.min(
    1 - conflictOddsMax,
    alone * (1 - conflictOdds(failureShare, untestedLandings)) ** untestedLandings,
  );
  return (sound * chance) / (sound * chance + 1 - sound);
}

/** Whether a failed run of one entry on the branch is enough to remove it. */
export function isConvincing(known: Known, item: Item, { overtaken, isDirectOnly = false }: Run): boolean {
  const chance = known.flakeShare + (isDirectOnly ? needOdds : 0);
  return !overtaken && estimateInnocence(known, item, chance) < innocenceMin;
}

/** Whether so many failed runs of one entry, the last of them alone on the branch, are enough to remove it. */
export const areConvincing = (known: Known, item: Item, failures: number): boolean =>
  failures >= failuresMax || estimateInnocence(known, item, known.flakeShare ** failures) < innocenceMin;

/** How probably a test that failed by chance does so again when it is run alone. */
const repeatOdds = 0.2;

/** Whether so many failures of the same test, the first in a run of all tests, are enough to remove the entry. */
export function areTestFailuresConvincing(known: Known, item: Item, failures: number): boolean {
  const chance = known.flakeShare * Math.max(repeatOdds, known.flakeShare) ** (failures - 1);
  return failures >= failuresMax || estimateInnocence(known, item, chance) < innocenceMin;
}

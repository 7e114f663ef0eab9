// How probably each group of the line lands, from everything that its runs have shown, whatever they assumed:
//  - a run that it passed shows that it is sound on its own, and together with the entries of that run;
//  - a run that it failed is evidence against it, as far as the entries that the run assumed do not explain the failure;
//  - a run that an entry behind it failed is evidence against it too, often long before its own run has ended.
// These are beliefs: they decide which runs are worth starting, and never which entry lands or fails.

import { conflictOdds } from '../innocence.ts';
import type { Findings, Group, Item, Run } from '../model.ts';

/** How much of a bad change shows in the run of an entry behind it that assumes it. */
const spill = 0.7;

type LineView = {
  readonly line: readonly Group[];
  readonly items: ReadonlyMap<number, Item>;
  /** How probably an entry of which nothing is known is sound. */
  readonly soundOdds: number;
  /** How probably a run of sound changes fails. */
  readonly flakeOdds: number;
  /** For each group, its runs and the groups that it depends on. */
  readonly runs: readonly (readonly Run[])[];
  readonly dependencies: readonly (readonly number[])[];
  /** The index of the group of each entry. */
  readonly indexes: ReadonlyMap<number, number>;
};

export function estimateLandings(view: LineView): Float64Array {
  const { line, items, dependencies, indexes, flakeOdds } = view;
  const found = line.map((group, index) => findingsOf(items.get(group.members[0]!), view.runs[index]!));
  /** For each group: how probably it breaks with one that it was not tested with. A bet may be bolder than a verdict. */
  const conflicts = Float64Array.from(found, ({ untestedLandings = 0 }, index) =>
    conflictOdds(2 * (1 - view.soundOdds), dependencies[index]!.length + untestedLandings),
  );
  const priors = Float64Array.from(line, ({ members }, index) => {
    const { passed, untestedLandings = 0 } = found[index]!;
    return (passed ? 1 : soundOdds(view, members)) * (1 - conflicts[index]!) ** untestedLandings;
  });
  const accusations = accuse(found, priors, indexes, flakeOdds);
  const lands = new Float64Array(line.length);
  for (let index = 0; index < line.length; index++) {
    const { passedWith, failedBehind } = found[index]!;
    let sound = priors[index]!;
    for (const ahead of dependencies[index]!)
      if (!passedWith.includes(line[ahead]!.members[0]!)) sound *= 1 - conflicts[index]! * lands[ahead]!;
    sound /= sound + (1 - sound) * accusations[index]!;
    for (const assumed of failedBehind) {
      let clean = 1 - flakeOdds;
      for (const pr of assumed) {
        const ahead = indexes.get(pr);
        if (ahead !== undefined && ahead < index) clean *= 1 - spill * (1 - lands[ahead]!);
      }
      sound = (sound * (1 - clean)) / (sound * (1 - clean) + 1 - sound);
    }
    lands[index] = Math.min(1 - 1e-6, Math.max(1e-6, sound));
  }
  return lands;
}

const soundOdds = ({ items, soundOdds: usual }: LineView, members: readonly number[]): number =>
  members.reduce((odds, pr) => odds * (items.get(pr)?.odds ?? usual), 1);

/** What the runs of a group and those that were dropped have shown. */
function findingsOf(item: Item | undefined, runs: readonly Run[]): Findings {
  const known = item?.findings;
  let passed = known?.passed ?? false;
  const passedWith = [...(known?.passedWith ?? [])];
  const failedBehind = [...(known?.failedBehind ?? [])];
  for (const { status, why, composition } of runs) {
    if (status !== 'passed' && (status !== 'failed' || why !== null)) continue;
    const ahead = composition.members.slice(0, composition.members.length - composition.tested);
    if (status === 'failed') failedBehind.push(ahead);
    else {
      passed = true;
      passedWith.push(...ahead);
    }
  }
  return { passed, passedWith, failedBehind, untestedLandings: known?.untestedLandings ?? 0 };
}

/**
 * A failed run accuses every entry in it. For each group: by how much likelier the failures behind it are if it is bad
 * than if it is sound.
 */
function accuse(
  found: readonly Findings[],
  priors: Float64Array,
  indexes: ReadonlyMap<number, number>,
  flakeOdds: number,
): Float64Array {
  const ratios = new Float64Array(found.length).fill(1);
  for (const [index, { failedBehind }] of found.entries())
    for (const assumed of failedBehind) {
      const ahead = assumed.flatMap((pr) => indexes.get(pr) ?? []);
      for (const one of ahead) {
        if (found[one]!.passed) continue;
        let clean = priors[index]! * (1 - flakeOdds);
        for (const other of ahead) if (other !== one) clean *= 1 - spill * (1 - priors[other]!);
        const ifSound = Math.max(1e-3, 1 - clean);
        ratios[one]! *= (spill + (1 - spill) * ifSound) / ifSound;
      }
    }
  return ratios;
}

// The likeliest outcomes of the groups ahead of an entry. A path is the set of those that land; a run of the entry on
// top of exactly these counts if the path comes true.

export type LandingPath = {
  /** The groups ahead that land, by index, in queue order. */
  readonly landing: readonly number[];
  readonly odds: number;
};

/** Less probable paths are never worth a run. */
const oddsMin = 0.02;
const pathsMax = 6;

type TurnedPath = {
  readonly odds: number;
  /** The turns away from the likeliest path, rising, by their place among all turns. */
  readonly turned: readonly number[];
};

/** The likeliest paths first; the first has the likelier outcome of each group, however improbable all of it is. */
export function likeliestPaths(ahead: readonly number[], lands: Float64Array): LandingPath[] {
  let odds = 1;
  const turns = ahead.map((index, at) => {
    const likelier = Math.max(lands[index]!, 1 - lands[index]!);
    odds *= likelier;
    return { at, ratio: (1 - likelier) / likelier };
  });
  turns.sort((a, b) => b.ratio - a.ratio);
  const found: TurnedPath[] = [{ odds, turned: [] }];
  const open: TurnedPath[] = turns.length === 0 ? [] : [{ odds: odds * turns[0]!.ratio, turned: [0] }];
  while (open.length > 0 && found.length < pathsMax) {
    let best = 0;
    for (let at = 1; at < open.length; at++) if (open[at]!.odds > open[best]!.odds) best = at;
    const [next] = open.splice(best, 1);
    if (next!.odds < oddsMin) break;
    found.push(next!);
    // Each set of turns is reached once: by one more turn behind the last, or by moving the last one on.
    const last = next!.turned.at(-1)!;
    if (last + 1 === turns.length) continue;
    const more = next!.odds * turns[last + 1]!.ratio;
    open.push({ odds: more, turned: [...next!.turned, last + 1] });
    open.push({ odds: more / turns[last]!.ratio, turned: [...next!.turned.slice(0, -1), last + 1] });
  }
  return found.map((candidate) => {
    const turned = new Set(candidate.turned.map((turn) => turns[turn]!.at));
    const landing = ahead.filter((index, at) => lands[index]! >= 0.5 !== turned.has(at));
    return { landing, odds: candidate.odds };
  });
}

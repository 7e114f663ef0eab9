// A strategy that bets on every path, so that small worlds reach every rule about direct dependencies: each group has a run
// for every subset of what it depends on, the largest first. It looks at no finding and at no time.
import { prefixTrain } from '#core/queue/planner/strategy/prefix-train.ts';
import type { Proposal, Strategy } from '#core/queue/planner/strategy.ts';

function subsets(all: readonly number[]): number[][] {
  const found: number[][] = [];
  for (let bits = 0; bits < 2 ** all.length; bits++)
    found.push(all.filter((_, at) => (bits >> at) % 2 === 1));
  return found.toSorted((a, b) => a.length - b.length);
}

export const betOnEverything: Strategy = {
  screens: false,
  hasDirectDependencies: true,
  propose: (view) => {
    const { queue, dependencies } = view;
    if (queue.settings.mode === 'single') return prefixTrain.propose(view);
    const proposals = queue.line.flatMap(({ id }, index): Proposal[] => {
      const ahead = dependencies[index]!.flatMap((each) => queue.line[each]!.members);
      return subsets(ahead).map((without) => ({ group: id, without }));
    });
    return { proposals, wakeAt: null };
  },
};

// A strategy that screens as eagerly as it can, so that small worlds reach every rule about screens: entries that are not
// screened are screened by twos, and all that passed are one group of the line as soon as no screen is under way.
import { mustBeAlone } from '#core/queue/planner/batch.ts';
import { isScreened, type Item } from '#core/queue/planner/model.ts';
import type { Strategy } from '#core/queue/planner/strategy.ts';

/** Its batch gave no result: only the line ends that. */
const isGivenUp = ({ place }: Item) => place.kind === 'pending' && place.alone;

/** An entry that is to be alone has no other beside it. */
function inGroups(items: readonly Item[], size: number): Item[][] {
  const together = items.filter((item) => !mustBeAlone(item));
  const groups = items.filter(mustBeAlone).map((item) => [item]);
  for (let at = 0; at < together.length; at += size) groups.push(together.slice(at, at + size));
  return groups;
}

export const screenByTwos: Strategy = {
  screens: true,
  propose: ({ queue, pending }) => {
    // If an entry must join the line while a screen is under way, the others that passed join it as well.
    const joins = queue.searches.length === 0 || pending.some(isGivenUp);
    const ready = pending.filter((item) => isGivenUp(item) || (isScreened(item) && joins));
    const fresh = pending.filter((item) => !isGivenUp(item) && !isScreened(item));
    const groups = inGroups(ready, 9).map((items) => ({ items, isScreen: false }));
    const screens = inGroups(fresh, 2).map((items) => ({ items, isScreen: true }));
    // By their first entries: an entry that has waited for hours is not overtaken by younger ones.
    const inTurn = [...groups, ...screens].toSorted(
      (one, other) => pending.indexOf(one.items[0]!) - pending.indexOf(other.items[0]!),
    );
    const proposals = inTurn.map(({ items, isScreen }) => {
      const members = items.map(({ pr }) => pr);
      return isScreen ? { screen: members } : { members };
    });
    return { proposals, wakeAt: null };
  },
};

// How a landing reaches its branch, and whether the rules of the branch let it.

import type { IntendedLanding } from '#db/landing-store.ts';
import { uncheckedRulesReason } from '#host/rule.ts';
import type { Place } from './at-host.ts';

export const modeOf = (
  { queue, method }: Pick<IntendedLanding, 'queue' | 'method'>,
  { host }: Pick<Place, 'host'>,
): 'fast_forward' | 'host' =>
  queue.settings.landingMode === 'auto'
    ? host.showsPushedAsMerged(method)
      ? 'fast_forward'
      : 'host'
    : queue.settings.landingMode;

/** Why the rules of the branch keep everything from landing; null: they do not. Nothing that was read before `asOf` counts. */
export async function ruleReason(
  landing: IntendedLanding,
  place: Place,
  asOf: number,
): Promise<string | null> {
  const { repository, queue, method } = landing;
  const way = modeOf(landing, place) === 'host' ? 'merge' : 'push';
  const rules = await place.host.readRules(repository, queue.targetBranch, { method, way, asOf });
  return uncheckedRulesReason(queue.targetBranch, rules);
}

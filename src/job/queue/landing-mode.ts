// How a landing reaches its branch, and whether the rules of the branch let it.

import type { IntendedLanding } from '#db/run/landing-store.ts';
import { uncheckedRulesReason } from '#host/rule.ts';
import type { HostSession } from '../at-host.ts';

export const resolveLandingMode = (
  { queue, method }: Pick<IntendedLanding, 'queue' | 'method'>,
  { host }: Pick<HostSession, 'host'>,
): 'fast_forward' | 'host' =>
  queue.settings.landingMode === 'auto'
    ? host.showsPushedAsMerged(method)
      ? 'fast_forward'
      : 'host'
    : queue.settings.landingMode;

/**
 * Why the rules of the branch prevent every landing; null: they do not. Nothing that was read before `asOf`
 * counts.
 */
export async function ruleReason(
  landing: IntendedLanding,
  place: HostSession,
  asOf: number,
): Promise<string | null> {
  const { repository, queue, method } = landing;
  const way = resolveLandingMode(landing, place) === 'host' ? 'merge' : 'push';
  const rules = await place.host.readRules(repository, queue.targetBranch, { method, way, asOf });
  return uncheckedRulesReason(queue.targetBranch, rules);
}

// Whether the rules of the branch let a landing reach it.

import type { IntendedLanding } from '#db/run/landing-store.ts';
import { landingWay, resolveLandingMode } from '#host/landing-mode.ts';
import { uncheckedRulesReason } from '#host/rule.ts';
import type { HostSession } from '../at-host.ts';

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
  const way = landingWay(resolveLandingMode(place.host, queue.settings, method));
  const rules = await place.host.readRules(repository, queue.targetBranch, { method, way, asOf });
  return uncheckedRulesReason(queue.targetBranch, rules);
}

// How the landings of a queue reach its branch.

import type { QueueSettings } from '#core/queue/settings.ts';
import type { Host } from './host.ts';
import type { LandingWay } from './rule.ts';

export type ResolvedLandingMode = Exclude<QueueSettings['landingMode'], 'auto'>;

/** `auto` pushes where the Git host shows pushed commits of this method as merged. */
export function resolveLandingMode(
  host: Pick<Host, 'showsPushedAsMerged'>,
  { landingMode }: Pick<QueueSettings, 'landingMode'>,
  method: QueueSettings['mergeMethod'],
): ResolvedLandingMode {
  if (landingMode !== 'auto') return landingMode;
  return host.showsPushedAsMerged(method) ? 'fast_forward' : 'host';
}

export const landingWay = (mode: ResolvedLandingMode): LandingWay => (mode === 'host' ? 'merge' : 'push');

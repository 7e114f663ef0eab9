// Settings of test health between the wire's snake_case and ours.

import { monitorIds } from '#core/health/monitor/monitors.ts';
import {
  defaultHealthSettings,
  type ResolvedHealthSettings,
  type HealthSettingsOverrides,
} from '#core/health/settings.ts';
import type { HealthSettings as Wire, HealthSettingsChange as WireChange } from './quarantine.ts';
import { camelKeys, snakeKeys } from './snake-case.ts';

export function settingsToWire({
  defaultBranches,
  monitors,
  quarantine,
  fixes,
}: ResolvedHealthSettings): Wire {
  return {
    default_branches: defaultBranches === null ? null : [...defaultBranches],
    monitors: Object.fromEntries(monitorIds.map((id) => [id, snakeKeys(monitors[id])])),
    quarantine: snakeKeys(quarantine),
    fixes: snakeKeys(fixes),
  } as Wire;
}

/** The default settings. */
export const healthSettingDefaults: Wire = settingsToWire(defaultHealthSettings);

/** The settings that the request names. */
export function settingsFromWire({
  default_branches,
  monitors = {},
  quarantine,
  fixes,
}: WireChange): HealthSettingsOverrides {
  const chosen = monitorIds.flatMap((id) => {
    const monitor = monitors[id];
    return monitor === undefined ? [] : [[id, camelKeys(monitor)] as const];
  });
  return {
    ...(default_branches === undefined ? {} : { defaultBranches: default_branches }),
    monitors: Object.fromEntries(chosen),
    quarantine: camelKeys(quarantine ?? {}),
    ...(fixes === undefined ? {} : { fixes: camelKeys(fixes) }),
  };
}

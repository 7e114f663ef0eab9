// Settings of test health between the wire's snake_case and ours.

import {
  defaultHealthSettings,
  type HealthSettings,
  type HealthSettingsChange,
  monitorIds,
} from '#core/health/settings.ts';
import type { HealthSettings as Wire, HealthSettingsChange as WireChange } from './quarantine.ts';

type Plain = Readonly<Record<string, unknown>>;

const renamed = (rename: (key: string) => string, value: Plain): Plain =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [rename(key), inner]),
  );

const toSnake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toCamel = (key: string): string =>
  key.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

export function settingsToWire({ defaultBranches, monitors, quarantine }: HealthSettings): Wire {
  return {
    default_branches: defaultBranches === null ? null : [...defaultBranches],
    monitors: Object.fromEntries(monitorIds.map((id) => [id, renamed(toSnake, monitors[id])])),
    quarantine: renamed(toSnake, quarantine),
  } as Wire;
}

/** What holds where a repository chose nothing. */
export const healthSettingDefaults: Wire = settingsToWire(defaultHealthSettings);

/** Only what the request names. */
export function settingsFromWire({
  default_branches,
  monitors = {},
  quarantine,
}: WireChange): HealthSettingsChange {
  const chosen = monitorIds.flatMap((id) => {
    const monitor = monitors[id];
    return monitor === undefined ? [] : [[id, renamed(toCamel, monitor)] as const];
  });
  return {
    ...(default_branches === undefined ? {} : { defaultBranches: default_branches }),
    monitors: Object.fromEntries(chosen),
    quarantine: renamed(toCamel, quarantine ?? {}),
  };
}

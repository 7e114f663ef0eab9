// How a repository classifies and quarantines its tests. Only differences from these defaults are stored, so
// an improved default reaches every repository that did not choose otherwise.

import { initialValues } from '../setting.ts';
import { fixSettings, type FixSettings } from './fix/fix-settings.ts';
import { quarantineSettings, type QuarantineSettings } from './quarantine/quarantine-settings.ts';
import { type MonitorId, monitorIds, monitors, type MonitorSettings } from './monitor/monitors.ts';

export type ResolvedHealthSettings = {
  /** Names or patterns of shared branches, at most 10; null: the repository's own default branch. */
  readonly defaultBranches: readonly string[] | null;
  readonly monitors: MonitorSettings;
  readonly quarantine: QuarantineSettings;
  readonly fixes: FixSettings;
};

/** The stored settings: any part of them, at any depth of monitors. */
export type HealthSettingsOverrides = {
  readonly defaultBranches?: readonly string[] | null | undefined;
  readonly monitors?: { readonly [id in MonitorId]?: Partial<MonitorSettings[id]> | undefined } | undefined;
  readonly quarantine?: Partial<QuarantineSettings> | undefined;
  readonly fixes?: Partial<FixSettings> | undefined;
};

export const defaultHealthSettings: ResolvedHealthSettings = {
  defaultBranches: null,
  monitors: Object.fromEntries(
    monitorIds.map((id) => [id, initialValues(monitors[id].settings)]),
  ) as unknown as MonitorSettings,
  quarantine: initialValues(quarantineSettings),
  fixes: initialValues(fixSettings),
};

/** The defaults with the repository's own choices applied. */
export function completeSettings(change: HealthSettingsOverrides | null): ResolvedHealthSettings {
  if (change === null) return defaultHealthSettings;
  const chosen: Record<string, unknown> = {};
  for (const id of monitorIds)
    chosen[id] = { ...defaultHealthSettings.monitors[id], ...change.monitors?.[id] };
  return {
    defaultBranches: change.defaultBranches ?? defaultHealthSettings.defaultBranches,
    monitors: chosen as unknown as MonitorSettings,
    quarantine: { ...defaultHealthSettings.quarantine, ...change.quarantine },
    fixes: { ...defaultHealthSettings.fixes, ...change.fixes },
  };
}

// Settings of test health as they are typed: `monitors.pass_on_retry.sources_min=3 quarantine.enabled=on`.

import type { z } from 'zod';
import { healthSettingDefaults } from '#contract/health/health-settings.ts';
import {
  DefaultBranches,
  fixSettingFields,
  healthMonitors,
  type HealthSettings,
  type HealthSettingsChange,
  quarantineSettingFields,
} from '#contract/health/quarantine.ts';
import { nested, valueAt } from '#contract/setting-path.ts';
import { parseSettingPairs } from '../setting-pair.ts';
import { didYouMean } from '../suggestion.ts';

const schemas: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(
    Object.entries<z.ZodType>(quarantineSettingFields).map(([name, schema]) => [
      `quarantine.${name}`,
      schema,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries<z.ZodType>(fixSettingFields).map(([name, schema]) => [`fixes.${name}`, schema]),
  ),
  default_branches: DefaultBranches,
  ...Object.fromEntries(
    Object.entries(healthMonitors).flatMap(([id, { shape }]) =>
      Object.entries<z.ZodType>(shape).map(([name, schema]) => [`monitors.${id}.${name}`, schema]),
    ),
  ),
};

export const healthSettingNames = Object.keys(schemas);

/** The value of every setting, by its name. */
export const flattenSettings = (settings: HealthSettings): Readonly<Record<string, unknown>> =>
  Object.fromEntries(healthSettingNames.map((name) => [name, valueAt(settings, name)]));

export const healthSettingInitials = flattenSettings(healthSettingDefaults);

const typed = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [name, { schema, initial: healthSettingInitials[name] }]),
);

const hint = (name: string): string =>
  didYouMean(name, healthSettingNames) || ' List the settings with: signalbox tests settings';

type TypedChange = { readonly names: readonly string[]; readonly change: HealthSettingsChange };

/** Reports all problems at once. */
export function healthSettingsIn(pairs: readonly string[]): TypedChange {
  const values = parseSettingPairs(pairs, typed, hint);
  return { names: Object.keys(values), change: nested(values) };
}

// The test-health settings of a repository for people: their labels and groups.

import type { z } from 'zod';
import { healthSettingDefaults } from '#contract/health/health-settings.ts';
import { monitorTexts } from '#contract/health/monitor-text.ts';
import {
  DefaultBranches,
  fixSettingFields,
  fixSettingLabels,
  healthMonitors,
  quarantineSettingFields,
  quarantineSettingLabels,
} from '#contract/health/quarantine.ts';
import { valueAt } from '#contract/setting-path.ts';
import type { SettingGroup } from './setting-form.tsx';
import { type Field, createField } from './setting.ts';

const field = (path: string, schema: z.ZodType, label: string, nullText?: string): Field =>
  createField(path, schema, valueAt(healthSettingDefaults, path), {
    label,
    ...(nullText !== undefined && { nullText }),
  });

const monitorGroups = Object.entries(monitorTexts).map(([id, { heading, intro, labels }]): SettingGroup => ({
  title: heading,
  intro,
  fields: Object.entries<z.ZodType>(healthMonitors[id as keyof typeof healthMonitors].shape).map(
    ([key, schema]) => field(`monitors.${id}.${key}`, schema, labels[key]!),
  ),
}));

export const healthSettingGroups: readonly SettingGroup[] = [
  {
    title: 'Quarantine',
    intro: 'A failure of a quarantined test is reported, but does not fail the run.',
    fields: Object.entries<z.ZodType>(quarantineSettingFields).map(([key, schema]) =>
      field(`quarantine.${key}`, schema, quarantineSettingLabels[key]!),
    ),
  },
  {
    title: 'Verification of fixes',
    intro: 'Signalbox asks CI to repeat a test that a person has fixed, in slots of the queue that are free.',
    fields: Object.entries<z.ZodType>(fixSettingFields).map(([key, schema]) =>
      field(`fixes.${key}`, schema, fixSettingLabels[key]!),
    ),
  },
  {
    title: 'Branches',
    fields: [
      field('default_branches', DefaultBranches, 'Default branches', 'the default branch of the repository'),
    ],
  },
  ...monitorGroups,
];

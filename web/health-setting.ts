// The test-health settings of a repository for people: what each is called, and which belong together.

import type { z } from 'zod';
import { healthSettingDefaults } from '#contract/health-settings.ts';
import { DefaultBranches, healthMonitors, quarantineSettingFields } from '#contract/quarantine.ts';
import type { SettingGroup } from './component/setting-form.tsx';
import { type Field, fieldOf, valueAt } from './setting.ts';

type MonitorId = keyof typeof healthMonitors;
type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never;
type MonitorKey = KeysOf<z.output<(typeof healthMonitors)[MonitorId]>>;

const labels: Readonly<Record<MonitorKey, string>> = {
  is_on: 'On',
  window_days: 'Days looked at',
  sources_min: 'Sources needed',
  chance_max: 'Chance allowed',
  quiet_days: 'Quiet days until it is over',
  branches: 'Branches',
  rate_min: 'Failure rate from which it fires',
  resolve_below: 'Failure rate below which it is over',
  runs_min: 'Runs needed',
  failures_min: 'Failures needed',
  prior: 'Chance of a change',
  broken_rate: 'Failure rate that counts as broken',
};

const monitorWords: Readonly<Record<MonitorId, { readonly title: string; readonly intro: string }>> = {
  pass_on_retry: {
    title: 'Flaky: passes and fails on the same commit',
    intro: 'The surest sign of a flaky test: nothing changed, and the outcome did.',
  },
  failure_rate_flaky: {
    title: 'Flaky: failure rate',
    intro: 'A test that fails in a share of its runs is flaky.',
  },
  failure_count_flaky: {
    title: 'Flaky: number of failures',
    intro: 'A test that fails so many times is flaky.',
  },
  failure_rate_broken: {
    title: 'Broken: failure rate',
    intro: 'A test that fails in most of its runs is broken.',
  },
  failure_count_broken: {
    title: 'Broken: number of failures',
    intro: 'A test that fails so many times is broken.',
  },
  changepoint: {
    title: 'Broken: since a change',
    intro: 'Finds the run from which on a test fails more often than before.',
  },
};

const field = (path: string, schema: z.ZodType, label: string, nullWords?: string): Field =>
  fieldOf(path, schema, valueAt(healthSettingDefaults, path), {
    label,
    ...(nullWords !== undefined && { nullWords }),
  });

const monitorGroup = (id: MonitorId): SettingGroup => ({
  ...monitorWords[id],
  fields: Object.entries<z.ZodType>(healthMonitors[id].shape).map(([key, schema]) =>
    field(`monitors.${id}.${key}`, schema, labels[key as MonitorKey]),
  ),
});

export const healthSettingGroups: readonly SettingGroup[] = [
  {
    title: 'Quarantine',
    intro: 'A failure of a quarantined test is told, and fails no run.',
    fields: [
      field('quarantine.enabled', quarantineSettingFields.enabled, 'Quarantine'),
      field('quarantine.auto', quarantineSettingFields.auto, 'Quarantine flaky tests by themselves'),
    ],
  },
  {
    title: 'Branches',
    fields: [
      field(
        'default_branches',
        DefaultBranches,
        'Branches that everybody builds on',
        'the repository’s own default branch',
      ),
    ],
  },
  ...(Object.keys(healthMonitors) as MonitorId[]).map(monitorGroup),
];

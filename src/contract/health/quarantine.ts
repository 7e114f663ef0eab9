// Requests and responses about settings of test health: of a repository, and overrides of one test. They keep the
// snake_case of test health.

import { z } from 'zod';
import { branchPatternsMax } from '#core/health/branch.ts';
import { fixSettings } from '#core/health/fix/fix-settings.ts';
import {
  type MonitorId,
  monitorIds,
  monitors,
  type MonitorSettingTables,
} from '#core/health/monitor/monitors.ts';
import { quarantineSettings } from '#core/health/quarantine/quarantine-settings.ts';
import type { Setting, SettingValues } from '#core/setting.ts';
import { InstantIn, InstantOut, lenientEnum, line, Repository, Uuid } from '../common.ts';
import { type SettingSchemas, settingSchemas } from '../setting-schema.ts';
import { HeldBack, QuarantineOwners } from '../test-health.ts';
import { snakeKeys, type SnakeKeys } from './snake-case.ts';

const Slug = z.string().min(1).max(100);
const repositoryOfOrganization = { repo: Repository, org_url_slug: Slug };
const ofTest = { ...repositoryOfOrganization, test_case_id: Uuid };

const quarantineChoices = ['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE', 'NEVER_QUARANTINE'] as const;
const healthStatuses = ['healthy', 'flaky', 'broken'] as const;

export const SetQuarantineRequest = z.object({
  ...ofTest,
  quarantine_setting: lenientEnum(quarantineChoices),
  expires_at: InstantIn.nullish().meta({
    description:
      'At this time the setting returns to AUTO_QUARANTINE, and an automatic quarantine ends. Absent: a quarantine ends after the days of the settings, and NEVER_QUARANTINE holds until someone changes it.',
  }),
  owner: line(1, 255).nullish().meta({ description: 'Who is responsible for fixing the test.' }),
  note: line(1, 2_000).nullish().meta({ description: 'Why.' }),
});

/** A test as the overrides leave it. */
export const QuarantineResponse = z.object({
  test_case_id: Uuid,
  status: z.enum(healthStatuses),
  manual_status: z.enum(healthStatuses).nullable(),
  quarantine_setting: z.enum(quarantineChoices),
  quarantined: z.boolean(),
  held_back: HeldBack,
  expires_at: InstantOut.nullable(),
  owner: z.string().nullable(),
  owners: QuarantineOwners,
  note: z.string().nullable(),
});

export const FlagTestRequest = z.object({
  ...ofTest,
  status: lenientEnum(healthStatuses).nullable().meta({ description: 'Null: the monitors decide again.' }),
  note: line(1, 2_000).nullish().meta({ description: 'The reason, kept in the audit log.' }),
});

const muteHoursMax = 24 * 365;

export const MuteMonitorRequest = z
  .object({
    ...ofTest,
    monitor: lenientEnum([...monitorIds, '*']).meta({
      description: 'The name of a monitor, as get-settings returns it; `*`: all monitors.',
    }),
    until: InstantIn.nullish(),
    hours: z
      .number()
      .min(0)
      .max(muteHoursMax)
      .nullish()
      .meta({ description: 'Hours from now, instead of until. 0: unmute.' }),
    reason: line(0, 2_000).default(''),
  })
  .superRefine(({ until, hours }, context) => {
    if ((until ?? null) === null && (hours ?? null) === null)
      context.addIssue({ code: 'custom', path: ['until'], message: 'must have either until or hours' });
  });

export const MuteMonitorResponse = z.object({
  test_case_id: Uuid,
  monitor: z.string(),
  muted_until: InstantOut.nullable(),
});

export const SetTestRenameRequest = z.object({
  ...ofTest,
  former_test_case_id: Uuid.meta({ description: 'The test under its former name.' }),
  is_rename: z.boolean().meta({
    description:
      'True: they are one test, so its history, quarantine and settings are carried over. False: they are two tests; what was carried over is taken back, and this pair is never found again.',
  }),
});

export const SetTestRenameResponse = z.object({
  test_case_id: Uuid,
  former_test_case_id: Uuid,
  is_rename: z.boolean(),
});

export const GetSettingsRequest = z.object(repositoryOfOrganization);

/** The settings of each monitor with their bounds, from the table of monitors. */
export const healthMonitors = Object.fromEntries(
  monitorIds.map((id) => [id, z.object(snakeKeys(settingSchemas(monitors[id].settings)))]),
) as unknown as {
  readonly [Id in MonitorId]: z.ZodObject<SnakeKeys<SettingSchemas<MonitorSettingTables[Id]>>>;
};

export const DefaultBranches = z.array(line(1, 255)).max(branchPatternsMax).nullable().meta({
  description:
    'Names or patterns (`*`, `?`) of the stable branches; null: the default branch of the repository.',
});

/** The settings of quarantine with their bounds, from their table. */
export const quarantineSettingFields = snakeKeys(settingSchemas(quarantineSettings));
export const quarantineSettingLabels: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<Setting>(snakeKeys(quarantineSettings)).map(([key, { label }]) => [key, label]),
);

/** The settings of the verification of fixes with their bounds, from their table. */
export const fixSettingFields = snakeKeys(settingSchemas(fixSettings));
export const fixSettingLabels: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<Setting>(snakeKeys(fixSettings)).map(([key, { label }]) => [key, label]),
);

export const HealthSettings = z
  .object({
    default_branches: DefaultBranches,
    monitors: z.object(healthMonitors),
    quarantine: z.object(quarantineSettingFields),
    fixes: z.object(fixSettingFields),
  })
  .meta({ id: 'HealthSettings' });
export type HealthSettings = z.infer<typeof HealthSettings>;

type WireSettings = { readonly [Id in MonitorId]: SnakeKeys<SettingValues<MonitorSettingTables[Id]>> };

type MonitorChanges = {
  readonly [Id in MonitorId]: z.ZodOptional<
    z.ZodType<{ [Key in keyof WireSettings[Id]]?: WireSettings[Id][Key] | undefined }>
  >;
};

const monitorChanges = Object.fromEntries(
  Object.entries(healthMonitors).map(([id, schema]) => [id, schema.partial().optional()]),
) as unknown as MonitorChanges;

export const HealthSettingsChange = z
  .object({
    default_branches: DefaultBranches.optional(),
    monitors: z.object(monitorChanges).optional(),
    quarantine: z.object(quarantineSettingFields).partial().optional(),
    fixes: z.object(fixSettingFields).partial().optional(),
  })
  .meta({ id: 'HealthSettingsChange' });
export type HealthSettingsChange = z.infer<typeof HealthSettingsChange>;

export const UpdateSettingsRequest = z.object({
  ...repositoryOfOrganization,
  settings: HealthSettingsChange,
});
export const SettingsResponse = z.object({ settings: HealthSettings });

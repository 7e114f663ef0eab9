// Requests and responses about what people decide on tests: settings of a repository and overrides of one test. They keep
// the snake_case of test health.

import { z } from 'zod';
import { branchPatternsMax } from '#core/health/branch.ts';
import { monitorIds } from '#core/health/settings.ts';
import { InstantIn, InstantOut, lenientEnum, line, Repository, Uuid } from './common.ts';

const Slug = z.string().min(1).max(100);
const repositoryOfOrganization = { repo: Repository, org_url_slug: Slug };
const ofTest = { ...repositoryOfOrganization, test_case_id: Uuid };

const quarantineSettings = ['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE', 'NEVER_QUARANTINE'] as const;
const healthStatuses = ['healthy', 'flaky', 'broken'] as const;

export const SetQuarantineRequest = z.object({
  ...ofTest,
  quarantine_setting: lenientEnum(quarantineSettings),
  expires_at: InstantIn.nullish().meta({
    description: 'Then it is AUTO_QUARANTINE again. Absent: it holds until it is changed.',
  }),
  owner: line(1, 255).nullish().meta({ description: 'Who looks after it meanwhile.' }),
  note: line(1, 2_000).nullish().meta({ description: 'Why.' }),
});

/** A test as the overrides leave it. */
export const QuarantineResponse = z.object({
  test_case_id: Uuid,
  status: z.enum(healthStatuses),
  manual_status: z.enum(healthStatuses).nullable(),
  quarantine_setting: z.enum(quarantineSettings),
  quarantined: z.boolean(),
  expires_at: InstantOut.nullable(),
  owner: z.string().nullable(),
  note: z.string().nullable(),
});

export const FlagTestRequest = z.object({
  ...ofTest,
  status: lenientEnum(healthStatuses)
    .nullable()
    .meta({ description: 'Null: what the monitors say counts again.' }),
  note: line(1, 2_000).nullish().meta({ description: 'Why; kept in the audit log.' }),
});

const muteHoursMax = 24 * 365;

export const MuteMonitorRequest = z
  .object({
    ...ofTest,
    monitor: lenientEnum([...monitorIds, '*']).meta({
      description: 'As get-settings names it; `*`: all of them.',
    }),
    until: InstantIn.nullish(),
    hours: z
      .number()
      .min(0)
      .max(muteHoursMax)
      .nullish()
      .meta({ description: 'In place of until, from now. 0: unmute.' }),
    reason: line(0, 2_000).default(''),
  })
  .superRefine(({ until, hours }, context) => {
    if ((until ?? null) === null && (hours ?? null) === null)
      context.addIssue({ code: 'custom', path: ['until'], message: 'give either until or hours' });
  });

export const MuteMonitorResponse = z.object({
  test_case_id: Uuid,
  monitor: z.string(),
  muted_until: InstantOut.nullable(),
});

export const GetSettingsRequest = z.object(repositoryOfOrganization);

const IsOn = z.boolean().describe('Whether it says anything.');
const BranchClasses = z
  .array(lenientEnum(['default', 'queue', 'pull_request', 'other']))
  .max(4)
  .describe('Runs on these branches count; none: no run does.');
const Days = (max: number) => z.number().min(0.04).max(max);
const WindowDays = Days(14).describe('Days that are looked at.');
const QuietDays = Days(15).describe('Days without a new one after which it is over.');
const Rate = z.number().min(0).max(1);
const Count = z.int().min(1).max(100_000);

const FailureRate = z.object({
  is_on: IsOn,
  rate_min: Rate.describe('It fires when the failure rate is surely no less than this, 0 to 1.'),
  resolve_below: Rate.describe('It is over when the failure rate is below this, at most rate_min.'),
  window_days: WindowDays,
  runs_min: Count.describe('Fewer runs than this decide nothing, either way.'),
  branches: BranchClasses,
});

const FailureCount = z.object({
  is_on: IsOn,
  failures_min: Count.describe('It fires with this many failures.'),
  window_days: WindowDays,
  quiet_days: QuietDays,
  branches: BranchClasses,
});

export const healthMonitors = {
  pass_on_retry: z.object({
    is_on: IsOn,
    window_days: WindowDays,
    sources_min: z.int().min(2).max(20).describe('Sources that must have seen it pass and fail.'),
    chance_max: z
      .number()
      .min(0.0001)
      .max(1)
      .describe('How many tests of the suite may look as flaky as this one by chance.'),
    quiet_days: QuietDays,
    branches: BranchClasses,
  }),
  failure_rate_flaky: FailureRate,
  failure_count_flaky: FailureCount,
  failure_rate_broken: FailureRate,
  failure_count_broken: FailureCount,
  changepoint: z.object({
    is_on: IsOn,
    prior: z.number().min(1e-9).max(0.1).describe('How probable a change at any given run is beforehand.'),
    broken_rate: z
      .number()
      .min(0.1)
      .max(1)
      .describe('Broken when it fails this often since the last change, 0 to 1.'),
  }),
};

export const DefaultBranches = z.array(line(1, 255)).max(branchPatternsMax).nullable().meta({
  description:
    'Names or patterns (`*`, `?`) of what everybody builds on; null: the repository’s own default branch.',
});

export const quarantineSettingFields = {
  enabled: z.boolean().meta({ description: 'Off: no test is quarantined, whatever is set for it.' }),
  auto: z.boolean().meta({ description: 'Flaky tests are quarantined by themselves; broken ones never.' }),
};

export const HealthSettings = z
  .object({
    default_branches: DefaultBranches,
    monitors: z.object(healthMonitors),
    quarantine: z.object(quarantineSettingFields),
  })
  .meta({ id: 'HealthSettings' });
export type HealthSettings = z.infer<typeof HealthSettings>;

const some = <Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) => schema.partial().optional();

export const HealthSettingsChange = z
  .object({
    default_branches: DefaultBranches.optional(),
    monitors: z
      .object({
        pass_on_retry: some(healthMonitors.pass_on_retry),
        failure_rate_flaky: some(FailureRate),
        failure_count_flaky: some(FailureCount),
        failure_rate_broken: some(FailureRate),
        failure_count_broken: some(FailureCount),
        changepoint: some(healthMonitors.changepoint),
      })
      .optional(),
    quarantine: z.object(quarantineSettingFields).partial().optional(),
  })
  .meta({ id: 'HealthSettingsChange' });
export type HealthSettingsChange = z.infer<typeof HealthSettingsChange>;

export const UpdateSettingsRequest = z.object({
  ...repositoryOfOrganization,
  settings: HealthSettingsChange,
});
export const SettingsResponse = z.object({ settings: HealthSettings });

// Settings of test health tried on the last days, before they are saved. Snake_case, as all of test health.

import { z } from 'zod';
import { InstantOut, Uuid } from '../common.ts';
import { UpdateSettingsRequest } from './quarantine.ts';

/** The same as an update; nothing is saved. */
export const TrySettingsRequest = UpdateSettingsRequest;

/** Most tests that one list names. */
export const triedTestsMax = 100;

const HealthState = z.object({ status: z.enum(['healthy', 'flaky', 'broken']), quarantined: z.boolean() });

const TriedTest = z
  .object({
    id: Uuid,
    html_url: z.string(),
    name: z.string(),
    variant: z.string(),
    file_path: z.string().optional(),
    at: InstantOut.meta({ description: 'When it would have been so for the first time in these days.' }),
    reason: z.string().meta({ description: 'Why, in a sentence.' }),
    current: HealthState.meta({ description: 'The test as it is.' }),
    if_saved: HealthState.meta({
      description: 'The test as it would be at once if the settings were saved now.',
    }),
  })
  .meta({ id: 'TriedTest' });

const TrialDifference = z
  .object({
    saved: z.int().meta({ description: 'Tests that were so at some time, with the saved settings.' }),
    tried: z.int().meta({ description: 'The same with the tried settings.' }),
    more: z.int().meta({ description: 'Tests only with the tried settings.' }),
    fewer: z.int().meta({ description: 'Tests only with the saved settings.' }),
    tests_more: z
      .array(TriedTest)
      .meta({ description: `Those of \`more\`, the latest first, at most ${triedTestsMax}.` }),
    tests_fewer: z.array(TriedTest).meta({ description: `Those of \`fewer\`, at most ${triedTestsMax}.` }),
  })
  .meta({ id: 'TrialDifference' });

export const TrySettingsResponse = z
  .object({
    days: z.int().meta({ description: 'How many days back the settings were tried.' }),
    since: InstantOut,
    tests: z.int().meta({ description: 'Tests with a failure in these days that were tried.' }),
    is_cut: z.boolean().meta({
      description:
        'True: the repository has more tests with failures; the answer is about a random part of them.',
    }),
    changes_on_save: z.int().meta({
      description: 'Tests whose status or quarantine would change at once if the settings were saved now.',
    }),
    not_tried: z.array(z.string()).meta({
      description: 'Changed settings that apply to new uploads only, so that they cannot be tried.',
    }),
    flaky: TrialDifference,
    broken: TrialDifference,
    quarantined: TrialDifference.meta({ description: 'Automatic quarantine only.' }),
  })
  .meta({ id: 'SettingsTrial' });
export type SettingsTrial = z.infer<typeof TrySettingsResponse>;

// How often verdicts on tests were confirmed or overturned. Snake_case, as all of test health.

import { z } from 'zod';
import { accuracyKinds, decidedMin } from '#core/health/accuracy/accuracy.ts';
import { InstantOut } from '../common.ts';
import { GetSettingsRequest } from './quarantine.ts';

/** The repository, and nothing else. */
export const AccuracyRequest = GetSettingsRequest;

const VerdictAccuracy = z
  .object({
    kind: z.enum(accuracyKinds).meta({
      description:
        'Tests that became flaky, broken or healthy again; runs that the queue ran again because only flaky tests had failed; flaky or broken tests on which a person acted.',
    }),
    confirmed: z.int(),
    overturned: z.int(),
    open: z.int().meta({ description: 'Neither has happened yet.' }),
    share: z
      .object({ value: z.number(), low: z.number(), high: z.number() })
      .nullable()
      .meta({
        description: `The share of confirmed verdicts among those confirmed or overturned, with its 95 % interval (Wilson). Null: there are fewer than ${decidedMin}.`,
      }),
  })
  .meta({ id: 'VerdictAccuracy' });

export const AccuracyResponse = z
  .object({
    days: z.int().meta({ description: 'Verdicts of so many days are counted.' }),
    since: InstantOut,
    is_cut: z.boolean().meta({ description: 'True: there are more verdicts, and the newest were counted.' }),
    verdicts: z.array(VerdictAccuracy),
  })
  .meta({ id: 'TestAccuracy' });

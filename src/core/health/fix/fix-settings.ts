// The settings of the verification of fixes: how much CI it may use, and for how long.

import { type SettingValues, whole } from '../../setting.ts';

export const fixSettings = {
  runsPerDay: whole({
    min: 0,
    max: 1_000,
    initial: 24,
    label: 'Verification runs per day',
    description:
      'How many runs Signalbox starts in 24 hours to verify fixes, for all tests of the repository together. 0: none; verifications wait for the usual runs.',
  }),
  days: whole({
    min: 1,
    max: 60,
    initial: 14,
    label: 'Days until a verification ends',
    description: 'A verification that shows nothing ends after so many days.',
  }),
};

export type FixSettings = SettingValues<typeof fixSettings>;

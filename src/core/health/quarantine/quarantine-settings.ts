// The settings of quarantine: whether there is one, how long it lasts, how many tests it may hold, and which never.

import { fraction, onOff, type SettingValues, texts, whole } from '../../setting.ts';

/** A small suite may quarantine so many tests, whatever its share allows. */
export const quarantinedMin = 5;

export const quarantineSettings = {
  enabled: onOff({
    initial: false,
    label: 'Quarantine',
    description: 'False: no test is quarantined, whatever its own setting is.',
  }),
  auto: onOff({
    initial: true,
    label: 'Quarantine flaky tests automatically',
    description: 'True: flaky tests are quarantined automatically; broken tests never are.',
  }),
  days: whole({
    min: 1,
    max: 365,
    initial: 30,
    label: 'Days until a quarantine ends',
    description:
      'A quarantine ends after so many days, unless it was given an end of its own. An automatic one ends earlier if the test is no longer flaky.',
  }),
  maxTests: whole({
    min: 0,
    max: 100_000,
    initial: 500,
    label: 'Most quarantined tests',
    description:
      'If so many tests are quarantined, no other test is. A lower number does not end a quarantine.',
  }),
  maxShare: fraction({
    min: 0,
    max: 1,
    initial: 0.05,
    label: 'Largest share of quarantined tests',
    description: `If so large a share of the tests of the repository is quarantined, no other test is. ${quarantinedMin} tests always may be.`,
  }),
  criticalTests: texts({
    lengthMax: 255,
    max: 100,
    initial: [],
    label: 'Critical tests',
    description:
      'Patterns of test files or test names that are never quarantined, not even by hand; `*` is any text, slashes too, and `?` is one character.',
  }),
  openIssues: onOff({
    initial: false,
    label: 'Open issues at the Git host',
    description:
      'True: quarantined tests that fail together get one issue at the Git host. It is closed once they are healthy.',
  }),
  defaultOwners: texts({
    lengthMax: 255,
    max: 10,
    initial: [],
    label: 'Owners of tests without one',
    description: 'Who owns the quarantine of a test for which CODEOWNERS names no owner.',
  }),
};

export type QuarantineSettings = SettingValues<typeof quarantineSettings>;

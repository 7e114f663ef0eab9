// What `signalbox tests settings` and `signalbox tests set` do.

import type { SettingsTrial } from '#contract/health/settings-trial.ts';
import { describeDifferences, describeTrial } from '#contract/text/settings-trial.ts';
import type { CliContext, Given } from '../command.ts';
import { settingText } from '../setting-pair.ts';
import {
  clockText,
  penFor,
  type Pen,
  printJson,
  printLines,
  type TableCell,
  tableLines,
} from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { changeLines } from '../terminal/setting-change.ts';
import {
  flattenSettings,
  healthSettingInitials,
  healthSettingNames,
  healthSettingsIn,
} from './health-setting.ts';
import { openTests } from './tests-action.ts';

const pen = penFor(process.stdout);

export async function showSettings(context: CliContext, given: Given): Promise<number> {
  const { api, scope, isJson } = await openTests(context, given);
  const answer = await api.call('getHealthSettings', scope);
  const values = flattenSettings(answer.settings);
  const rows = healthSettingNames.map((name): readonly TableCell[] => {
    const [value, initial] = [settingText(values[name]), settingText(healthSettingInitials[name])];
    return [name, value, { text: value === initial ? '' : `default ${initial}`, tone: 'quiet' }];
  });
  if (isJson) printJson(answer);
  else printLines(tableLines(['setting', 'value', ''], rows, pen));
  return 0;
}

export async function setSettings(context: CliContext, given: Given): Promise<number> {
  const { names, change } = healthSettingsIn(given.args[0] as readonly string[]);
  const { api, scope, isJson } = await openTests(context, given);
  if (given.options['try'] === true) {
    const trial = await api.call('tryHealthSettings', { ...scope, settings: change });
    if (isJson) printJson(trial);
    else printLines(trialLines(trial, pen, new Date()));
    return 0;
  }
  const before = await api.call('getHealthSettings', scope);
  const answer = await api.call('updateHealthSettings', { ...scope, settings: change });
  if (isJson) printJson(answer);
  else
    printLines(changeLines(flattenSettings(before.settings), flattenSettings(answer.settings), names, pen));
  return 0;
}

/** Tests that one list shows. */
const shownMax = 20;

function trialLines(trial: SettingsTrial, pencil: Pen, now: Date): readonly string[] {
  return [
    ...describeTrial(trial),
    ...describeDifferences(trial).flatMap(({ kind, text }) => {
      const { more, fewer, tests_more: added, tests_fewer: removed } = trial[kind];
      return [
        '',
        pencil('strong', text),
        ...listLines('more', added, more, pencil, now),
        ...listLines('fewer', removed, fewer, pencil, now),
      ];
    }),
    '',
    'Nothing was saved. To save these settings, run the command without --try.',
  ];
}

function listLines(
  sign: 'more' | 'fewer',
  tests: SettingsTrial['flaky']['tests_more'],
  total: number,
  pencil: Pen,
  now: Date,
): readonly string[] {
  const left = total - Math.min(tests.length, shownMax);
  return [
    ...tests.slice(0, shownMax).flatMap((test) => {
      const name = plainLine(`${test.name}${test.variant === '' ? '' : ` (${test.variant})`}`, 100);
      return [
        `  ${sign === 'more' ? '+' : '−'} ${name}  ${pencil('quiet', test.id)}`,
        pencil('quiet', `    ${clockText(test.at, now)}: ${plainLine(test.reason, 200)}`),
      ];
    }),
    ...(left > 0 ? [pencil('quiet', `  … and ${left} more; --json lists up to 100`)] : []),
  ];
}

// Queue settings as they are typed: `concurrency=8 batch=on requiredStatuses=ci/test,ci/lint`. The contract's
// own schema decides which values are valid.

import type { z } from 'zod';
import { queueSettingDefaults, queueSettings, type QueueSetting } from '#contract/queue-settings.ts';
import { CliError } from '../exit-codes.ts';
import { didYouMean } from '../suggestion.ts';

export type SettingChange = { readonly [Name in QueueSetting]?: z.output<(typeof queueSettings)[Name]> };

const names = Object.keys(queueSettings) as readonly QueueSetting[];

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};

/** Converts text to the type of the setting; the schema refuses an invalid value. */
function parseSettingValue(name: QueueSetting, text: string): unknown {
  const initial: unknown = queueSettingDefaults[name];
  if (typeof initial === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (typeof initial === 'boolean') return switches[text.toLowerCase()] ?? text;
  if (typeof initial === 'string') return text;
  if (text === 'null') return null;
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}

/** Reports all problems at once. */
export function settingsIn(pairs: readonly string[]): SettingChange {
  const problems: string[] = [];
  const change: Partial<Record<QueueSetting, unknown>> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const typed = at < 0 ? pair : pair.slice(0, at);
    const name = names.find((known) => known.toLowerCase() === typed.toLowerCase());
    if (name === undefined) problems.push(`There is no setting ${typed}.${hint(typed)}`);
    else if (at < 0)
      problems.push(`${name} has no value. Use for example ${name}=${formatSettingExample(name)}.`);
    else {
      const parsed = queueSettings[name].safeParse(parseSettingValue(name, pair.slice(at + 1)));
      if (parsed.success) change[name] = parsed.data;
      else problems.push(`${name}: ${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
    }
  }
  if (problems.length > 0) throw new CliError(problems.join(' '), 'usage');
  // Each value was parsed by its own schema.
  return change as SettingChange;
}

function hint(typed: string): string {
  if (typed.toLowerCase() === 'state') return ' Use signalbox queue pause, resume or drain.';
  return didYouMean(typed, names) || ' List the settings with: signalbox queue show';
}

const formatSettingExample = (name: QueueSetting): string => settingText(queueSettingDefaults[name]);

/** A value as the user would type it. */
export function settingText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

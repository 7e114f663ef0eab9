// Settings as they are typed: `concurrency=8 batch=on requiredStatuses=ci/test,ci/lint`. The contract's own schema of each
// setting decides which values are valid.

import type { z } from 'zod';
import { CliError } from './exit-codes.ts';

type TypedSetting = {
  readonly schema: z.ZodType;
  /** The default; its type decides how a value is read. */
  readonly initial: unknown;
};

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};

/** Converts text to the type of the setting; the schema refuses an invalid value. */
function parseSettingValue(initial: unknown, text: string): unknown {
  if (typeof initial === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (typeof initial === 'boolean') return switches[text.toLowerCase()] ?? text;
  if (typeof initial === 'string') return text;
  if (text === 'null') return null;
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}

/** By their names, each value parsed by its own schema. Reports all problems at once; `hint` is for an unknown name. */
export function parseSettingPairs(
  pairs: readonly string[],
  settings: Readonly<Record<string, TypedSetting>>,
  hint: (typed: string) => string,
): Readonly<Record<string, unknown>> {
  const problems: string[] = [];
  const change: Record<string, unknown> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const typed = at < 0 ? pair : pair.slice(0, at);
    const name = Object.keys(settings).find((known) => known.toLowerCase() === typed.toLowerCase());
    const setting = name === undefined ? undefined : settings[name];
    if (name === undefined || setting === undefined)
      problems.push(`There is no setting ${typed}.${hint(typed)}`);
    else if (at < 0)
      problems.push(`${name} has no value. Use for example ${name}=${settingText(setting.initial)}.`);
    else {
      const parsed = setting.schema.safeParse(parseSettingValue(setting.initial, pair.slice(at + 1)));
      if (parsed.success) change[name] = parsed.data;
      else problems.push(`${name}: ${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
    }
  }
  if (problems.length > 0) throw new CliError(problems.join(' '), 'usage');
  return change;
}

/** A value as the user would type it. */
export function settingText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

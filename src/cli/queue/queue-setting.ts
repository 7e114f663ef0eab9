// Queue settings as they are typed: `concurrency=8 batch=on requiredStatuses=ci/test,ci/lint`.

import type { z } from 'zod';
import { queueSettingDefaults, queueSettings, type QueueSetting } from '#contract/queue-settings.ts';
import { parseSettingPairs } from '../setting-pair.ts';
import { didYouMean } from '../suggestion.ts';

export type SettingChange = { readonly [Name in QueueSetting]?: z.output<(typeof queueSettings)[Name]> };

const names = Object.keys(queueSettings) as readonly QueueSetting[];

const typed = Object.fromEntries(
  names.map((name) => [name, { schema: queueSettings[name], initial: queueSettingDefaults[name] }]),
);

/** Reports all problems at once. */
export const settingsIn = (pairs: readonly string[]): SettingChange => parseSettingPairs(pairs, typed, hint);

function hint(name: string): string {
  if (name.toLowerCase() === 'state') return ' Use signalbox queue pause, resume or drain.';
  return didYouMean(name, names) || ' List the settings with: signalbox queue show';
}

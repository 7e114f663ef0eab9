// A change of settings, as the command line shows it.

import { settingText } from '../setting-pair.ts';
import type { Pen } from './output.ts';
import { plainLine } from './plain-text.ts';

/** What a change changed: old → new. */
export function changeLines(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  names: readonly string[],
  pen: Pen,
): readonly string[] {
  return names.map((name) => {
    const [old, now] = [settingText(before[name]), settingText(after[name])].map((text) => plainLine(text));
    return old === now
      ? `${name}: ${now} ${pen('quiet', '(unchanged)')}`
      : `${name}: ${old} → ${pen('strong', now!)}`;
  });
}

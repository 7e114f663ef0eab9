// The name of a test in logs, summaries and annotations.

import type { ReportedCase } from '#core/health/reported-case.ts';
import { plainLine } from '../terminal/plain-text.ts';

export function formatTestName({
  file,
  parent,
  classname,
  name,
}: Pick<ReportedCase, 'file' | 'parent' | 'classname' | 'name'>): string {
  const parts = [file, parent === '' ? classname : parent, name];
  return plainLine(parts.filter((part, at) => part !== '' && part !== parts[at - 1]).join(' › '));
}

// Repeats the tests of a run that verifies a fix, as often as the service asks: until one fails, or too much time has passed.
// The reports of all repeats are uploaded together: each repeat is a clean run, and one failure refutes the fix.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countText } from '#base/number-text.ts';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { plainLine } from '../../terminal/plain-text.ts';
import type { Ending } from '../decide-exit-code.ts';
import type { Printer } from '../printer.ts';
import { keepReports, type RepeatDeps, repeatOnce } from './repeat.ts';
import type { ReportFile } from '../report-files.ts';

/** The run must leave its slot soon; one repeat is always made. */
const budgetMs = 10 * 60_000;

type FixedDeps = RepeatDeps & {
  readonly tests: readonly SelectedTest[];
  /** How often the tests run in all. */
  readonly repeats: number;
  /** The reports of the first time. */
  readonly reports: readonly ReportFile[];
  readonly printer: Printer;
};

export type RepeatedFix = {
  /** How often the tests ran in all. */
  readonly repeats: number;
  /** The reports of the repeats, in a temporary folder. */
  readonly files: readonly ReportFile[];
  /** How a repeat ended that did not pass; null: all passed. */
  readonly failed: Ending | null;
  /** Removes the folder. */
  readonly close: () => Promise<void>;
};

/** Never throws: what keeps it from repeating the tests is printed. */
export async function repeatFixed(deps: FixedDeps): Promise<RepeatedFix> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-repeat-'));
  const close = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  const files: ReportFile[] = [];
  let repeats = 1;
  let failed: Ending | null = null;
  const startedAt = performance.now();
  const repeat = async (): Promise<string> => {
    while (repeats < deps.repeats) {
      const leftMs = budgetMs - (performance.now() - startedAt);
      if (leftMs <= 0 && repeats > 1) return 'More would take too long.';
      const into = join(folder, `repeat-${repeats}`);
      const repeated = await repeatOnce(deps, {
        tests: deps.tests,
        timeoutMs: Math.max(leftMs, 1_000),
        folder: into,
      });
      if (repeated === null) return 'The command cannot run only these tests.';
      if (typeof repeated === 'string') return repeated;
      if (repeated.end.isTimedOut) return 'More would take too long.';
      if (repeated.cases.every(({ outcome }) => outcome === 'skipped'))
        return 'The reports of the repeat have none of the tests.';
      files.push(...repeated.files);
      repeats += 1;
      const { ending } = repeated.end;
      if (ending.code === 0) continue;
      failed = ending;
      return 'The last time failed.';
    }
    return '';
  };
  const why = await keepReports(deps.cwd, deps.reports, folder, repeat).catch(
    (error: unknown) => (error as Error).message,
  );
  const ran = `${countText(deps.tests.length, 'test')} ran ${countText(repeats, 'time')} to verify a fix.`;
  const line = plainLine(`Signalbox: ${ran} ${why}`.trim(), 1_000);
  deps.printer.print([{ tone: failed === null ? 'plain' : 'bad', text: line }]);
  return { repeats, files, failed, close };
}

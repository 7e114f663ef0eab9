// Repeats the tests that the default branch has never seen, to find those that are flaky before they merge.
//
//   1. The service is asked which of the tests that ran are new. Without an answer, none is repeated.
//   2. The command is narrowed to these tests, as for a search of the queue, and run again and again: until the budget
//      is used up, 20 times at most. The budget is a share of the time that the suite took.
//   3. The reports of the repeats are uploaded together with those of the suite: as further attempts of the same run, so
//      that a test that passed and failed is evidence of flakiness like any retry.
//
// Repeats overwrite the reports of the suite. These are kept aside, and put back at the end: other steps of the job may
// read them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countText } from '#base/number-text.ts';
import { namedTestsMax } from '#core/queue/planner/targeted.ts';
import { findJobToken, noTokenText } from '../../client/ci-identity.ts';
import { plainLine } from '../../terminal/plain-text.ts';
import { findPlace, type ShakeBudget } from '../ci-options.ts';
import { createClient } from '../client.ts';
import type { Printer } from '../printer.ts';
import { casesMax, keepReports, readCases, type Repeat, type RepeatDeps, repeatOnce } from './repeat.ts';
import type { ReportFile } from '../report-files.ts';
import { canSelect } from '../selection/select-tests.ts';
import { type CaseFields, countOutcomes, isFlaky, type ShakeResult } from './shake-result.ts';
import { formatTestName } from '../test-name.ts';

const repeatsMax = 20;
/** A share of a short suite would not be enough to start the runner. */
const budgetMsMin = 10_000;

export type ShakeDeps = RepeatDeps & {
  readonly budget: ShakeBudget;
  /** The reports of the suite, and how long it took. */
  readonly reports: readonly ReportFile[];
  readonly suiteMs: number;
  readonly printer: Printer;
};

export type Shaken = {
  /** Null: no test was repeated. */
  readonly result: ShakeResult | null;
  /** The reports of the repeats, in a temporary folder. */
  readonly files: readonly ReportFile[];
  /** Removes them. */
  readonly close: () => Promise<void>;
};

/** Never throws: what keeps it from repeating tests is printed. */
export async function shakeNew(deps: ShakeDeps): Promise<Shaken> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-repeat-'));
  const close = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  const nothing: Shaken = { result: null, files: [], close };
  const say = (text: string) =>
    deps.printer.print([{ tone: 'plain', text: `Signalbox: ${plainLine(text, 1_000)}` }]);
  try {
    const found = await findNew(deps);
    if (typeof found === 'string') {
      say(`repeats no test. ${found}`);
      return nothing;
    }
    if (found.tests.length === 0) {
      say('repeats no test: the default branch has seen all of them.');
      return nothing;
    }
    const shaken = await keepReports(deps.cwd, deps.reports, folder, () =>
      repeatTests(deps, found, folder, say),
    );
    return { ...shaken, close };
  } catch (error) {
    say(`repeats no test. ${(error as Error).message}`);
    return nothing;
  }
}

type NewCases = {
  readonly tests: readonly CaseFields[];
  readonly leftOut: number;
  /** All cases of the suite. */
  readonly suite: readonly CaseFields[];
};

/** The new tests; a text: why they are not known. */
async function findNew({ command, cwd, env, ciOptions, reports }: ShakeDeps): Promise<NewCases | string> {
  const { url } = ciOptions.client;
  if (url === null) return 'The URL of Signalbox is not known. Set SIGNALBOX_URL.';
  if (!canSelect(command)) return 'The command cannot run single tests.';
  const { repository, sha } = await findPlace(ciOptions, env, cwd);
  if (repository === null) return 'The repository is not known. Use --repo host/owner/name.';
  const suite = await readCases(cwd, reports);
  if (suite.length > casesMax) return `The reports have more than ${casesMax} tests.`;
  const executed = suite.filter(({ outcome }) => outcome !== 'skipped');
  if (executed.length === 0) return 'The reports have no test.';
  const asked = executed.map(({ name, classname, parent, file, ownId, variant }) => ({
    name,
    classname,
    parent,
    file,
    variant: ciOptions.variant === '' ? variant : ciOptions.variant,
    ...(ownId === null ? {} : { id: ownId }),
  }));
  const token = await findJobToken(ciOptions.client, url, env, { repository, sha });
  if (token === null) return noTokenText;
  const places = await createClient({ url, token }).listNewTests(repository, asked);
  if (places === null) return 'The default branch has no reports yet, so every test would be new.';
  const tests = places.map((place) => executed[place]!);
  return { tests: tests.slice(0, namedTestsMax), leftOut: Math.max(0, tests.length - namedTestsMax), suite };
}

const listNames = (tests: readonly CaseFields[]): string =>
  tests.length > 3
    ? `${tests.slice(0, 3).map(formatTestName).join(', ')}, …`
    : tests.map(formatTestName).join(', ');

async function repeatTests(
  deps: ShakeDeps,
  { tests, leftOut, suite }: NewCases,
  folder: string,
  say: (text: string) => void,
): Promise<Omit<Shaken, 'close'>> {
  const { suiteMs, budget } = deps;
  const budgetMs = 'ms' in budget ? budget.ms : Math.max(budgetMsMin, suiteMs * budget.share);
  say(
    `repeats ${countText(tests.length, 'new test')} for ${(budgetMs / 1_000).toFixed(1)} s: ${listNames(tests)}.`,
  );
  const startedAt = performance.now();
  const spentMs = () => performance.now() - startedAt;
  const cases: CaseFields[] = [...suite];
  const files: ReportFile[] = [];
  let repeats = 0;
  let longestMs = 0;
  while (repeats < repeatsMax && spentMs() + longestMs < budgetMs) {
    const beganAt = performance.now();
    const into = join(folder, `repeat-${repeats + 1}`);
    const repeated = await repeatNew(deps, tests, budgetMs - spentMs(), into);
    if (typeof repeated === 'string') {
      if (repeats === 0) say(`repeats no test. ${repeated}`);
      break;
    }
    longestMs = Math.max(longestMs, performance.now() - beganAt);
    repeats += 1;
    files.push(...repeated.files);
    cases.push(...repeated.cases);
    if (countOutcomes(tests, cases).every(isFlaky)) break;
  }
  if (repeats === 0) return { result: null, files: [] };
  const result = { tests: countOutcomes(tests, cases), leftOut, repeats, spentMs: spentMs(), budgetMs };
  return { result, files };
}

/** The reports of one repeat; a text: why there are none. */
async function repeatNew(
  deps: ShakeDeps,
  tests: readonly CaseFields[],
  timeoutMs: number,
  folder: string,
): Promise<Repeat | string> {
  const repeat = await repeatOnce(deps, { tests, timeoutMs, folder });
  if (repeat === null) return 'The command cannot run only the new tests.';
  if (typeof repeat === 'string') return repeat;
  if (repeat.end.isTimedOut) return 'One repeat takes longer than the budget. Raise --budget.';
  const isAnyRun = countOutcomes(tests, repeat.cases).some(({ passed, failed }) => passed + failed > 0);
  return isAnyRun ? repeat : 'The reports of the repeat have none of the new tests.';
}

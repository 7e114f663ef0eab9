// Check results and the verdict on a commit.
//
// A check result is what CI reports for one commit under one name: a check run, which an app reports and which belongs to
// a check suite, or a commit status, which any account with write access can post. A required check is a name and, where
// it is known, the source that must report it.
//
// The verdict:
// - Every required check must pass, from its source. `success` and `neutral` pass. `skipped` passes only for a name in
//   the queue's `skippableStatuses`: a job whose condition was false tested nothing.
// - `cancelled`, `stale`, `startup_failure`, `action_required` and `timed_out` are infrastructure failures: they say
//   nothing about the change. A check that was skipped because a job of its suite was cancelled is one as well.
// - A commit status never satisfies a required check that is reported as a check run: GitHub keeps the two apart, and
//   posting a status needs far less than being the app (GitHub Docs, "About protected branches", "Require status checks
//   before merging": the expected source of a required check is an app).
// - A failure decides once its suite is complete, because a suite that is still running may run the check
//   again. A commit status belongs to no suite and decides at once.
// - With several results of one name and source, a failure counts before everything else, then a running one,
//   then one that passed: a duplicate run that was cancelled or skipped does not invalidate the one that
//   passed.
//
// Example: `build` is required from app 15368. A commit status `build: success` leaves the verdict open, with `build`
// missing. A check run `build` of app 15368 that ends `cancelled` makes it an infrastructure failure.

/** A commit status, or a check run. Names are compared as they are. */
export type Check =
  | {
      readonly kind: 'status';
      readonly name: string;
      /** `skipped` is a state of Gitea's; GitHub has the other four. */
      readonly state: 'pending' | 'success' | 'failure' | 'error' | 'skipped';
      readonly url: string;
      /** Milliseconds, by the host's clock: of two results of one check the later counts. */
      readonly at: number;
      /** The account that posted it; absent where the host does not report it. */
      readonly creator?: string;
    }
  | {
      readonly kind: 'check';
      readonly suite: string;
      readonly name: string;
      readonly status: 'queued' | 'in_progress' | 'completed';
      /** As the host reports it; null until the check run is completed. */
      readonly conclusion: string | null;
      readonly url: string;
      readonly at: number;
      /** The id of the app that reported it; absent where the host has no apps. */
      readonly app?: string;
    };

/** The source of a required check: one app, any check run, or a commit status. Only the first two bind. */
export type CheckSource = `app:${string}` | 'check_run' | 'commit_status';

export type RequiredCheck = {
  readonly name: string;
  /** Null: no source is known, and any may report it. */
  readonly source: CheckSource | null;
};

type Infrastructure = { readonly name: string; readonly conclusion: string };

export type Verdict =
  /** Everything required has passed. */
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'failed';
      /** Required checks that failed; empty if some were only skipped. */
      readonly by: readonly string[];
      readonly skipped: readonly string[];
    }
  /** CI's own trouble: nothing is known about the change. */
  | { readonly kind: 'infrastructure'; readonly by: readonly Infrastructure[] }
  | {
      readonly kind: 'open';
      /** Required checks that are running, and those that have not reported. */
      readonly running: readonly string[];
      readonly missing: readonly string[];
      /** CI has reported something for this commit. */
      readonly begun: boolean;
    };

const passingConclusions: ReadonlySet<string> = new Set(['success', 'neutral']);

/** GitHub REST docs, "Check runs", `conclusion`: everything that neither passes nor reports a result of the tests. */
const infrastructureConclusions: ReadonlySet<string> = new Set([
  'cancelled',
  'stale',
  'startup_failure',
  'action_required',
  'timed_out',
]);

type CheckOutcome = 'open' | 'passed' | 'failed' | 'skipped' | 'infrastructure';

export function classifyCheck(check: Check): CheckOutcome {
  if (check.kind === 'status') {
    if (check.state === 'success') return 'passed';
    if (check.state === 'pending') return 'open';
    return check.state === 'skipped' ? 'skipped' : 'failed';
  }
  if (check.status !== 'completed') return 'open';
  const conclusion = check.conclusion ?? '';
  if (passingConclusions.has(conclusion)) return 'passed';
  if (infrastructureConclusions.has(conclusion)) return 'infrastructure';
  return conclusion === 'skipped' ? 'skipped' : 'failed';
}

/** Whether a result can end an open verdict: a running check leaves every open verdict open. */
export const canDecide = (check: Check): boolean => classifyCheck(check) !== 'open';

/** The results that count for a required check. */
export function countedChecks({ name, source }: RequiredCheck, checks: readonly Check[]): readonly Check[] {
  const named = checks.filter((check) => check.name === name);
  const runs = named.filter((check) => check.kind === 'check');
  if (source === 'check_run') return runs;
  // A check run needs more rights than a commit status, so a check may move from statuses to check runs.
  if (source === null || source === 'commit_status') return runs.length > 0 ? runs : named;
  return runs.filter(({ app }) => source === `app:${app ?? ''}`);
}

/** The outcome of one required check, and the result that shows it; null: nothing was reported. */
function resolveRequiredCheck(
  required: RequiredCheck,
  checks: readonly Check[],
  skippable: readonly string[],
): { readonly outcome: CheckOutcome; readonly check: Check } | null {
  const suites = new Map<string, ReadonlySet<CheckOutcome>>();
  const outcomesIn = (suite: string): ReadonlySet<CheckOutcome> => {
    const known =
      suites.get(suite) ??
      new Set(
        checks.flatMap((check) =>
          check.kind === 'check' && check.suite === suite ? classifyCheck(check) : [],
        ),
      );
    suites.set(suite, known);
    return known;
  };
  const settled = (check: Check): CheckOutcome => {
    const outcome = classifyCheck(check);
    if (outcome === 'passed' || outcome === 'open') return outcome;
    if (outcome === 'skipped' && skippable.includes(required.name)) return 'passed';
    if (check.kind === 'status') return outcome;
    const suite = outcomesIn(check.suite);
    if (suite.has('open')) return 'open';
    return outcome === 'skipped' && suite.has('infrastructure') && !suite.has('failed')
      ? 'infrastructure'
      : outcome;
  };
  const results = countedChecks(required, checks).map((check) => ({ outcome: settled(check), check }));
  for (const outcome of ['failed', 'open', 'passed', 'infrastructure', 'skipped'] as const) {
    const found = results.find((result) => result.outcome === outcome);
    if (found !== undefined) return found;
  }
  return null;
}

export function evaluateChecks(
  required: readonly RequiredCheck[],
  checks: readonly Check[],
  skippable: readonly string[],
): Verdict {
  const names: { readonly [Each in CheckOutcome | 'missing']: Set<string> } = {
    open: new Set(),
    passed: new Set(),
    failed: new Set(),
    skipped: new Set(),
    infrastructure: new Set(),
    missing: new Set(),
  };
  const infrastructure: Infrastructure[] = [];
  for (const each of required) {
    const result = resolveRequiredCheck(each, checks, skippable);
    names[result?.outcome ?? 'missing'].add(each.name);
    if (result?.outcome !== 'infrastructure') continue;
    const { check } = result;
    infrastructure.push({ name: each.name, conclusion: (check.kind === 'check' && check.conclusion) || '' });
  }
  if (names.failed.size > 0) return { kind: 'failed', by: [...names.failed], skipped: [...names.skipped] };
  if (infrastructure.length > 0) return { kind: 'infrastructure', by: infrastructure };
  if (names.skipped.size > 0) return { kind: 'failed', by: [], skipped: [...names.skipped] };
  if (names.open.size === 0 && names.missing.size === 0) return { kind: 'passed' };
  return {
    kind: 'open',
    running: [...names.open],
    missing: [...names.missing],
    begun: checks.length > 0,
  };
}

/** The required checks that have not passed. None exactly if the verdict is `passed`. */
export const unpassedChecks = (
  required: readonly RequiredCheck[],
  checks: readonly Check[],
  skippable: readonly string[],
): readonly RequiredCheck[] =>
  required.filter((each) => resolveRequiredCheck(each, checks, skippable)?.outcome !== 'passed');

export type FailedCheck = {
  readonly name: string;
  readonly url: string;
  readonly outcome: 'failed' | 'skipped' | 'infrastructure';
};

/** The required checks that kept a run from passing, each once, with a URL for details. */
export function failedChecks(
  required: readonly RequiredCheck[],
  checks: readonly Check[],
  skippable: readonly string[],
): readonly FailedCheck[] {
  const failed = new Map<string, FailedCheck>();
  for (const each of required) {
    const result = resolveRequiredCheck(each, checks, skippable);
    if (result === null || result.outcome === 'passed' || result.outcome === 'open') continue;
    const { outcome, check } = result;
    if (!failed.has(each.name)) failed.set(each.name, { name: each.name, url: check.url, outcome });
  }
  return [...failed.values()];
}

/** The source of a check result. */
export const identifyCheckSource = (check: Check): CheckSource =>
  check.kind === 'status' ? 'commit_status' : check.app === undefined ? 'check_run' : `app:${check.app}`;

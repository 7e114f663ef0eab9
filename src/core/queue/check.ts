// What CI says of a commit, and what that makes of a run: every required check must have passed. One that failed decides
// when the attempt it belongs to is over: a suite that is still under way may run it again. A commit status belongs to no
// suite and decides at once. A check that has not reported is named: it is the commonest wait of all.

/** A commit status, or a run of a check suite. Names are compared as they are. */
export type Check =
  | {
      readonly kind: 'status';
      readonly name: string;
      readonly state: 'pending' | 'success' | 'failure' | 'error';
      readonly url: string;
      /** Milliseconds, by the host's clock: of two words on one check the later counts. */
      readonly at: number;
    }
  | {
      readonly kind: 'check';
      readonly suite: string;
      readonly name: string;
      readonly status: 'queued' | 'in_progress' | 'completed';
      /** As the host says it; null until it is completed. */
      readonly conclusion: string | null;
      readonly url: string;
      readonly at: number;
    };

export type Verdict =
  /** Everything required has passed. */
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly by: readonly string[] }
  | {
      readonly kind: 'open';
      /** Required checks under way, and those that nobody has heard of. */
      readonly running: readonly string[];
      readonly missing: readonly string[];
      /** CI has said something of this commit. */
      readonly begun: boolean;
    };

/** Conclusions that do not hold anything up: a check that was skipped was not needed. */
const passingConclusions: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

function stateOf(check: Check): 'open' | 'passed' | 'failed' {
  if (check.kind === 'status')
    return check.state === 'success' ? 'passed' : check.state === 'pending' ? 'open' : 'failed';
  if (check.status !== 'completed') return 'open';
  return passingConclusions.has(check.conclusion ?? '') ? 'passed' : 'failed';
}

/** With several checks of one name all of them count. */
export function verdictOf(required: readonly string[], checks: readonly Check[]): Verdict {
  const failed: string[] = [];
  const running: string[] = [];
  const missing: string[] = [];
  const openSuites = new Set(
    checks.flatMap((check) => (check.kind === 'check' && stateOf(check) === 'open' ? [check.suite] : [])),
  );
  const isAttemptOver = (check: Check) => check.kind === 'status' || !openSuites.has(check.suite);
  for (const name of required) {
    const states = checks
      .filter((check) => check.name === name)
      .map((check) => (stateOf(check) === 'failed' && !isAttemptOver(check) ? 'open' : stateOf(check)));
    if (states.includes('failed')) failed.push(name);
    else if (states.includes('open')) running.push(name);
    else if (states.length === 0) missing.push(name);
  }
  if (failed.length > 0) return { kind: 'failed', by: failed };
  if (running.length === 0 && missing.length === 0) return { kind: 'passed' };
  return { kind: 'open', running, missing, begun: checks.length > 0 };
}

/** The required checks that failed, each once, with where to read more. */
export function failedChecks(
  required: readonly string[],
  checks: readonly Check[],
): readonly { readonly name: string; readonly url: string }[] {
  return required.flatMap((name) => {
    const failed = checks.find((check) => check.name === name && stateOf(check) === 'failed');
    return failed === undefined ? [] : [{ name, url: failed.url }];
  });
}

// One repository in a replay: what the service decides with each upload, in the order in which it decides.
//
//   1. CI asks which failures are excused, before it uploads.
//   2. The guard compares the upload with what its job usually shows.
//   3. The runs are recorded in the histories of the watched tests. A test is watched from its first failure on.
//   4. Tests with new evidence are classified, and their quarantine follows, with its end and its limits.
//   5. Once an hour tests that are not healthy, or have an active monitor, are classified again.

import { dayMs, hourMs } from '#base/duration.ts';
import { isMassFailure, isUnusual, type JobBaseline, nextBaseline } from '#core/health/guard.ts';
import { emptyHistory, record, type TestCaseHistory } from '#core/health/history.ts';
import { evaluate } from '#core/health/monitor/monitor.ts';
import type { MonitorId } from '#core/health/monitor/monitors.ts';
import {
  type DecidedQuarantine,
  decideQuarantine,
  type HeldBackReason,
} from '#core/health/quarantine/quarantine-contract.ts';
import type { RunFact } from '#core/health/recent-run.ts';
import type { ResolvedHealthSettings } from '#core/health/settings.ts';
import type { HealthStatus } from '#core/health/status.ts';
import {
  createExcuseReader,
  createFingerprinter,
  createFlakeTable,
  type FlakeTable,
  learnFlakes,
} from './known-flake.ts';
import { createTestNumbers, type NumberedTest } from './test-number.ts';
import type { ReplayUpload, TestResult } from './upload.ts';
import { createUploadLog, hasExecuted, type LoggedUpload } from './upload-log.ts';

type VerdictChange = {
  readonly at: number;
  /** The number of the test in its repository. */
  readonly number: number;
  readonly test: NumberedTest;
  readonly before: HealthStatus;
  readonly status: HealthStatus;
  readonly reason: string;
  readonly isQuarantined: boolean;
  readonly heldBack: HeldBackReason | null;
  readonly activeMonitors: readonly MonitorId[];
};

export type ReplayListener = {
  /** The status, the quarantine or the active monitors of a test changed. */
  readonly onVerdict: (change: VerdictChange) => void;
  /** A failure was excused when CI asked. */
  readonly onExcuse: (upload: ReplayUpload, result: TestResult, number: number) => void;
};

type QuarantineState = Omit<DecidedQuarantine, 'warning'>;

const notQuarantined: QuarantineState = {
  setting: 'AUTO_QUARANTINE',
  isQuarantined: false,
  expiresAt: null,
  heldBack: null,
  warnedDays: null,
};

type WatchedTest = {
  history: TestCaseHistory;
  /** The first upload that may be missing in the history; of no meaning while it is recorded with every upload. */
  upTo: number;
  status: HealthStatus;
  quarantine: QuarantineState;
  activeMonitors: readonly MonitorId[];
  lastFailedAt: number;
  readonly table: FlakeTable;
};

/**
 * What happens soon after a failure may change what it means, above all the next runs of the default branch. Until then a test is
 * recorded with every upload.
 */
const recentMs = 2 * hourMs;
const restMs = 8 * dayMs;
const defaultRunsMin = 8;

function isAtRest({ history, lastFailedAt }: WatchedTest, now: number): boolean {
  if (lastFailedAt >= now - recentMs) return false;
  const { onDefault } = history;
  return (onDefault.at(-defaultRunsMin)?.at ?? 0) > lastFailedAt || lastFailedAt < now - restMs;
}

/** A result that was executed, with its number. */
type NumberedResult = TestResult & {
  readonly number: number;
  readonly fingerprint: string;
  readonly summary: string;
};

type Options = {
  readonly settings: ResolvedHealthSettings;
  /** Every watched test is recorded with every upload, as the service does it. Slower, with the same verdicts. */
  readonly isEager: boolean;
};

export type RepositoryReplay = ReturnType<typeof createRepositoryReplay>;

export function createRepositoryReplay(repository: string, listener: ReplayListener, options: Options) {
  const { settings, isEager } = options;
  const numbers = createTestNumbers(repository);
  const log = createUploadLog();
  const watched = new Map<number, WatchedTest>();
  /** Tests that are recorded with every upload. */
  const lively = new Set<number>();
  const baselines = new Map<string, JobBaseline>();
  const fingerprint = createFingerprinter();
  const isKnown = createExcuseReader();
  let revisitedAt: number | null = null;
  /** How many tests are quarantined. */
  let quarantined = 0;

  const numberResults = (upload: ReplayUpload): NumberedResult[] => {
    const found = numbers.numberAll(
      upload.results.map(({ test }) => test),
      upload.variant,
    );
    return upload.results.map((result, index) => {
      const number = found[index]!;
      if (result.outcome === 'passed' || result.outcome === 'skipped')
        return { ...result, number, fingerprint: '', summary: '' };
      const { key, summary } = fingerprint(result.failures.at(-1), result.test.name);
      return { ...result, number, fingerprint: key, summary };
    });
  };

  const askExcuses = (upload: ReplayUpload, results: readonly NumberedResult[]): void => {
    for (const [index, { number, outcome, failures, test }] of results.entries()) {
      if (outcome !== 'failed') continue;
      const state = watched.get(number);
      if (state === undefined || !state.quarantine.isQuarantined) continue;
      if (isKnown(state.table, state.history, failures.at(-1), test.name))
        listener.onExcuse(upload, upload.results[index]!, number);
    }
  };

  const guard = (upload: ReplayUpload, failing: number, tests: number) => {
    const key = JSON.stringify([upload.job, upload.shard, upload.variant, upload.branchClass]);
    const baseline = baselines.get(key) ?? null;
    const isSuspect = isMassFailure(baseline, failing, tests);
    if (upload.isTrusted && !isSuspect && tests > 0) baselines.set(key, nextBaseline(baseline, failing));
    return { isSuspect, isUnusual: isUnusual(baseline, failing) };
  };

  const classify = (number: number, state: WatchedTest, now: number): void => {
    const before = {
      mutes: [],
      manualStatus: null,
      wasActive: state.activeMonitors,
      wasQuarantined: state.quarantine.isQuarantined,
    };
    const { status, monitors, mayAutoQuarantine } = evaluate(state.history, settings, before, now);
    const activeMonitors = monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor);
    const test = numbers.testAt(number);
    const room = { quarantined, suite: numbers.count() };
    const contract = { settings, before: state.quarantine, status: status.value, mayAutoQuarantine, test };
    const quarantine = decideQuarantine(contract, room, now);
    const { isQuarantined, heldBack } = quarantine;
    quarantined += Number(isQuarantined) - Number(state.quarantine.isQuarantined);
    const isChanged =
      status.value !== state.status ||
      isQuarantined !== state.quarantine.isQuarantined ||
      heldBack !== state.quarantine.heldBack ||
      activeMonitors.join() !== state.activeMonitors.join();
    const change = { at: now, number, test, before: state.status };
    state.status = status.value;
    state.quarantine = quarantine;
    state.activeMonitors = activeMonitors;
    if (isChanged)
      listener.onVerdict({
        ...change,
        status: status.value,
        reason: status.reason,
        isQuarantined,
        heldBack,
        activeMonitors,
      });
  };

  const isUnsettled = ({ status, activeMonitors }: WatchedTest): boolean =>
    status !== 'healthy' || activeMonitors.length > 0;

  const revisit = (now: number): void => {
    revisitedAt ??= Math.floor(now / hourMs) * hourMs;
    for (; revisitedAt + hourMs <= now; revisitedAt += hourMs)
      for (const number of lively) {
        const state = watched.get(number)!;
        if (isUnsettled(state)) classify(number, state, revisitedAt + hourMs);
        else if (!isEager && isAtRest(state, now)) {
          lively.delete(number);
          state.upTo = log.end();
        }
      }
  };

  const recordRun = (number: number, fact: RunFact, result: NumberedResult | undefined): void => {
    const place = log.end();
    const known = watched.get(number);
    const state = known ?? {
      history: log.fillEarlier(emptyHistory, number, fact.at, fact.source),
      upTo: place,
      status: 'healthy' as const,
      quarantine: notQuarantined,
      activeMonitors: [],
      lastFailedAt: fact.at,
      table: createFlakeTable(),
    };
    if (known === undefined) watched.set(number, state);
    const isCurrent = known === undefined || lively.has(number);
    const before = isCurrent ? state.history : log.catchUp(state.history, number, state.upTo);
    state.history = record(before, fact);
    state.upTo = place + 1;
    if (result !== undefined) {
      state.lastFailedAt = fact.at;
      state.table.summaries.set(result.fingerprint, result.summary);
    }
    learnFlakes(state.table, before, state.history);
    const canChange = state.history.contradictions !== before.contradictions;
    if (result !== undefined || canChange || state.activeMonitors.length > 0)
      classify(number, state, fact.at);
    if (isEager || isUnsettled(state) || !isAtRest(state, fact.at)) lively.add(number);
  };

  return {
    numbers,
    log,
    ingest: (upload: ReplayUpload): void => {
      revisit(upload.at);
      // Tests of the suite get their numbers first, in the order of the report.
      numbers.suiteOf(upload);
      const results = numberResults(upload);
      askExcuses(upload, results);
      const failing = new Map<number, NumberedResult>();
      for (const result of results)
        if (result.outcome === 'failed' || result.outcome === 'flaky') failing.set(result.number, result);
      const { logged, tests } = describeUpload(upload, results, numbers);
      const guarded = guard(upload, failing.size, tests);
      if (!upload.isTrusted) return;
      const touched = new Set(failing.keys());
      for (const number of log.failedOn(upload.head)) if (hasExecuted(logged, number)) touched.add(number);
      for (const number of lively) if (hasExecuted(logged, number)) touched.add(number);
      const alike = countAlike(failing);
      const common = { ...guarded, failing: failing.size, tests, suite: numbers.count() };
      for (const number of touched) {
        const result = failing.get(number);
        const fact: RunFact =
          result === undefined
            ? logged.passed
            : {
                ...logged.passed,
                ...common,
                outcome: result.outcome === 'flaky' ? 'flaky' : 'failed',
                fingerprint: result.fingerprint || null,
                alike: alike.get(result.fingerprint) ?? 1,
              };
        recordRun(number, fact, result);
      }
      log.add(logged, failing.keys());
    },
  };
}

function countAlike(failing: ReadonlyMap<number, NumberedResult>): ReadonlyMap<string, number> {
  const alike = new Map<string, number>();
  for (const { fingerprint } of failing.values()) alike.set(fingerprint, (alike.get(fingerprint) ?? 0) + 1);
  return alike;
}

/** An upload that names so many tests is kept as a shape. */
const shapeMin = 16;

/** What of an upload is kept for tests that pass in it, and how many tests it executed. */
function describeUpload(
  upload: ReplayUpload,
  results: readonly NumberedResult[],
  numbers: ReturnType<typeof createTestNumbers>,
): { readonly logged: LoggedUpload; readonly tests: number } {
  const { count, has } = numbers.suiteOf(upload);
  const missing = new Set<number>();
  const extra = new Set<number>();
  for (const number of numbers.numberAll(upload.missing, upload.variant))
    if (has[number] === 1) missing.add(number);
  for (const { number, outcome } of results)
    if (outcome === 'skipped') {
      if (has[number] === 1) missing.add(number);
    } else if (has[number] === 1) missing.delete(number);
    else extra.add(number);
  const { at, branchClass, prNumber, head, job } = upload;
  const passed: RunFact = {
    at,
    source: head,
    branchClass,
    prNumber,
    outcome: 'passed',
    isSuspect: false,
    fingerprint: null,
    failing: 0,
    tests: 0,
    job,
  };
  const tests = count - missing.size + extra.size;
  if (count > 0 || extra.size < shapeMin) return { logged: { passed, suite: has, missing, extra }, tests };
  const shape = numbers.shapeOf(extra);
  return { logged: { passed, suite: shape.has, missing, extra: new Set() }, tests };
}

// Our own classification on a replay: the same record and evaluate that the service runs. A test that never failed has the
// history of all that never did. One that is thought nothing of is brought up to date when it fails again: what its rings
// would have dropped by then is only counted. That gives the same history as one fact after the other, and a test sees
// to it.

import type { BranchClass } from '#core/health/branch.ts';
import { addPasses, emptyHistory, type TestCaseHistory, record } from '#core/health/history.ts';
import type { RunFact } from '#core/health/recent-run.ts';
import { evaluate, type Evaluation } from '#core/health/monitor/monitor.ts';
import type { MonitorId } from '#core/health/monitor/monitors.ts';
import { completeSettings, type ResolvedHealthSettings } from '#core/health/settings.ts';
import { markSuspects, type Span } from './detector.ts';
import type { Replay, Upload } from './generate.ts';

export type ReplayClassification = {
  readonly flaky: ReadonlyMap<number, readonly Span[]>;
  readonly quarantined: ReadonlyMap<number, readonly Span[]>;
  readonly broken: ReadonlyMap<number, readonly Span[]>;
};

export const replaySettings: ResolvedHealthSettings = completeSettings({
  quarantine: { enabled: true, auto: true },
});

/** Some day; nothing depends on which. */
const begunAt = Date.UTC(2026, 0, 5);
const dayMs = 86_400_000;
/** More than a ring holds. */
const ringMax = 64;

export const instantOf = (at: number): number => begunAt + Math.round(at * dayMs);

/** 40 digits, as a commit has. */
const sources: string[] = [];
export const sourceOf = (source: number): string =>
  (sources[source] ??= source.toString(16).padStart(40, '0'));

const passed = { outcome: 'passed', isSuspect: false, failing: 0, tests: 0 } as const;

type Watched = { history: TestCaseHistory; upTo: number; active: readonly MonitorId[] };

type Spans = Map<number, Span[]>;

function mark(spans: Spans, test: number, isOn: boolean, at: number): void {
  const list = spans.get(test) ?? [];
  const isOpen = list.at(-1)?.[1] === Infinity;
  if (isOn === isOpen) return;
  spans.set(test, list);
  if (isOn) list.push([at, Infinity]);
  else list[list.length - 1] = [list.at(-1)![0], at];
}

export function classifyReplay(
  replay: Replay,
  settings: ResolvedHealthSettings = replaySettings,
): ReplayClassification {
  const classification = { flaky: new Map(), quarantined: new Map(), broken: new Map() } satisfies {
    [key: string]: Spans;
  };
  const suspects = markSuspects(replay);
  const passes = createPasses(replay.uploads);
  let untouched = emptyHistory;
  const failedBefore = new Map<number, Int32Array>();
  const watched = new Map<number, Watched>();
  const lively = new Set<number>();
  const tests = replay.project.rates.length;
  for (const [place, upload] of replay.uploads.entries()) {
    const outcomes = new Map<number, 'failed' | 'flaky'>();
    for (const test of upload.failed) outcomes.set(test, 'failed');
    for (const test of upload.flaky) outcomes.set(test, 'flaky');
    const failing = outcomes.size;
    // A pass where the test failed before is what a contradiction is made of.
    const contradicted = failedBefore.get(upload.source) ?? [];
    failedBefore.set(upload.source, upload.failed);
    for (const test of new Set([...outcomes.keys(), ...contradicted, ...lively])) {
      const state = watched.get(test) ?? { history: untouched, upTo: place, active: [] };
      const outcome = outcomes.get(test) ?? 'passed';
      const fact = factOf(upload, { outcome, isSuspect: suspects.has(upload), failing, tests });
      state.history = record(passes.catchUp(state.history, state.upTo, place), fact);
      state.upTo = place + 1;
      watched.set(test, state);
      const before = { mutes: [], manualStatus: null, wasActive: state.active };
      const evaluation = evaluate(state.history, settings, before, instantOf(upload.at));
      state.active = evaluation.monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor);
      if (state.active.length > 0) lively.add(test);
      else lively.delete(test);
      note(classification, test, evaluation, upload.at);
    }
    untouched = record(untouched, factOf(upload, passed));
  }
  return classification;
}

/** A test that is broken for the time being is not less flaky for that. */
function note(
  classification: { readonly [key in keyof ReplayClassification]: Spans },
  test: number,
  { monitors, status, mayAutoQuarantine }: Evaluation,
  at: number,
): void {
  const isFlaky = monitors.some(({ monitor, isActive }) => monitor === 'pass_on_retry' && isActive);
  mark(classification.flaky, test, isFlaky, at);
  mark(classification.broken, test, status.value === 'broken', at);
  mark(classification.quarantined, test, mayAutoQuarantine, at);
}

function factOf(
  { at, source, branchClass, pullRequest }: Upload,
  own: Pick<RunFact, 'outcome' | 'isSuspect' | 'failing' | 'tests'>,
): RunFact {
  const where = { at: instantOf(at), source: sourceOf(source), branchClass, prNumber: pullRequest };
  return { ...where, ...own, fingerprint: null };
}

/** What a test did between two failures: it passed, in every upload. */
function createPasses(uploads: readonly Upload[]): {
  readonly catchUp: (history: TestCaseHistory, from: number, to: number) => TestCaseHistory;
} {
  const isFirst = new Uint8Array(uploads.length);
  const seen = new Set<number>();
  for (const [at, { source }] of uploads.entries()) {
    isFirst[at] = seen.has(source) ? 0 : 1;
    seen.add(source);
  }
  return {
    catchUp: (before, from, to) => {
      const counts = new Map<
        number,
        { at: number; branchClass: BranchClass; runs: number; sources: number }
      >();
      const recent: Upload[] = [];
      const room = { default: ringMax, pull_request: ringMax };
      for (let place = to - 1; place >= from; place--) {
        const upload = uploads[place]!;
        if (room[upload.branchClass]-- > 0) {
          recent.push(upload);
          continue;
        }
        const key = Math.floor(upload.at) * 2 + (upload.branchClass === 'default' ? 1 : 0);
        const count = counts.get(key) ?? {
          at: instantOf(upload.at),
          branchClass: upload.branchClass,
          runs: 0,
          sources: 0,
        };
        counts.set(key, count);
        count.runs++;
        count.sources += isFirst[place]!;
      }
      let history = before;
      for (const count of counts.values()) history = addPasses(history, count);
      for (const upload of recent.toReversed()) history = record(history, factOf(upload, passed));
      return history;
    },
  };
}

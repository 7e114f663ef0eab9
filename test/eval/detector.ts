// The rules of others, as they publish them, on the same uploads. Each sees one upload after another and says of which
// tests it thinks that they are flaky, from when to when.
//
//   one event        a test that passed and failed on one commit; over after 7 days without another
//   80 % rule        the same, without uploads in which 80 % or more failed
//   transition rate  results of the default branch that differ from the one before, of the last 100: from 10 % on, until
//                    5 %
//   30 passes        any failure; over after 30 passes in a row
//   LUCI             two or more contradicted commits, and at least 1 % of all; judged with every upload. As it is
//                    published it looks back two weeks, so it is also shown from 100 commits on
//   two and guard    two or more contradicted commits outside of mass failures, and at least 1 % of them from 100 on

import { isMassFailure, type JobBaseline, nextBaseline } from '#core/health/guard.ts';
import { days, type Replay, type Upload } from './generate.ts';
import type { Verdicts } from './metric.ts';

export type Span = readonly [from: number, to: number];

/** A test passed and failed on a commit, and this is the upload that shows it. */
type Event = {
  readonly at: number;
  /** Commits that were seen until then. */
  readonly sources: number;
};

export type Reference = { readonly name: string; readonly detect: (replay: Replay) => Verdicts };

const quietDays = 7;

/** Contradictions by test; `counts` says of an upload whether what it shows counts. */
function eventsOf(replay: Replay, counts: (upload: Upload) => boolean): Map<number, Event[]> {
  const events = new Map<number, Event[]>();
  const firsts = new Map<number, Upload>();
  let sources = 0;
  for (const upload of replay.uploads) {
    const first = firsts.get(upload.source);
    if (first === undefined) {
      firsts.set(upload.source, upload);
      sources++;
    }
    const isCounted = counts(upload) && (first === undefined || counts(first));
    if (!isCounted) continue;
    const failed = new Set(upload.failed);
    const before = new Set(first?.failed);
    const mixed = new Set(upload.flaky);
    if (first !== undefined) {
      for (const test of upload.failed) if (!before.has(test)) mixed.add(test);
      for (const test of first.failed) if (!failed.has(test)) mixed.add(test);
      // What was flaky in the first upload is one event of this commit already.
      for (const test of first.flaky) mixed.delete(test);
    }
    for (const test of mixed) {
      const list = events.get(test) ?? [];
      events.set(test, list);
      list.push({ at: upload.at, sources });
    }
  }
  return events;
}

function mapEvents(events: ReadonlyMap<number, Event[]>, spansOf: (events: Event[]) => Span[]): Verdicts {
  const verdicts = new Map<number, readonly Span[]>();
  for (const [test, list] of events) {
    const spans = spansOf(list);
    if (spans.length > 0) verdicts.set(test, spans);
  }
  return verdicts;
}

function untilQuiet(events: readonly Event[]): Span[] {
  const spans: Span[] = [];
  for (const { at } of events) {
    const open = spans.at(-1);
    if (open !== undefined && at <= open[1]) spans[spans.length - 1] = [open[0], at + quietDays];
    else spans.push([at, at + quietDays]);
  }
  return spans.map(([from, to]) => [from, to >= days ? Infinity : to]);
}

const shareOf = (replay: Replay, upload: Upload): number =>
  (upload.failed.length + upload.flaky.length) / replay.project.rates.length;

/** While c contradicted commits are at least the floor's share of all, for as many as `from` commits or more. */
function whileAbove(replay: Replay, floor: number, from: number): (events: Event[]) => Span[] {
  const instants: number[] = [];
  const seen = new Set<number>();
  for (const { source, at } of replay.uploads) {
    if (!seen.has(source)) instants.push(at);
    seen.add(source);
  }
  return (events) => {
    const spans: Span[] = [];
    for (const [place, event] of events.entries()) {
      const count = place + 1;
      if (count < 2) continue;
      const last = floor === 0 ? Infinity : Math.floor(count / floor + 1e-9);
      const begun = Math.max(event.sources, from);
      const next = events[place + 1];
      if (begun > last || begun > (next?.sources ?? instants.length)) continue;
      const fromAt = begun === event.sources ? event.at : instants[begun - 1]!;
      const endAt = last >= instants.length ? Infinity : instants[last]!;
      const to = Math.min(endAt, next?.at ?? Infinity);
      const open = spans.at(-1);
      if (open !== undefined && open[1] >= fromAt) spans[spans.length - 1] = [open[0], to];
      else spans.push([fromAt, to]);
    }
    return spans;
  };
}

/** Marks of all uploads: is it a mass failure for its job, as far as is known by then? */
export function markSuspects(replay: Replay): ReadonlySet<Upload> {
  const suspects = new Set<Upload>();
  let baseline: JobBaseline = { mean: 0, uploads: 0 };
  for (const upload of replay.uploads) {
    const failing = upload.failed.length + upload.flaky.length;
    if (isMassFailure(baseline, failing, replay.project.rates.length)) suspects.add(upload);
    else baseline = nextBaseline(baseline, failing);
  }
  return suspects;
}

function detectTransitions(replay: Replay): Verdicts {
  const window = 100;
  const failedAt = new Map<number, Set<number>>();
  const runs = replay.uploads.filter(({ branchClass }) => branchClass === 'default');
  for (const [at, { failed }] of runs.entries())
    for (const test of failed) failedAt.set(test, (failedAt.get(test) ?? new Set()).add(at));
  const verdicts = new Map<number, readonly Span[]>();
  for (const [test, failures] of failedAt) {
    const spans: Span[] = [];
    const hasChanged = (at: number): boolean => at > 0 && failures.has(at) !== failures.has(at - 1);
    let changes = 0;
    let from: number | null = null;
    for (const [at, run] of runs.entries()) {
      if (hasChanged(at)) changes++;
      if (hasChanged(at - window)) changes--;
      if (from === null && changes >= 0.1 * window) from = run.at;
      if (from !== null && changes < 0.05 * window) {
        spans.push([from, run.at]);
        from = null;
      }
    }
    if (from !== null) spans.push([from, Infinity]);
    if (spans.length > 0) verdicts.set(test, spans);
  }
  return verdicts;
}

function detectUntilPasses(replay: Replay): Verdicts {
  const passesMin = 30;
  const lastFailed = new Map<number, number>();
  const verdicts = new Map<number, Span[]>();
  for (const [at, upload] of replay.uploads.entries())
    for (const test of [...upload.failed, ...upload.flaky]) {
      const before = lastFailed.get(test);
      lastFailed.set(test, at);
      const spans = verdicts.get(test) ?? [];
      verdicts.set(test, spans);
      if (before !== undefined && at - before <= passesMin) continue;
      if (before !== undefined)
        spans[spans.length - 1] = [spans.at(-1)![0], replay.uploads[before + passesMin]!.at];
      spans.push([upload.at, Infinity]);
    }
  for (const [test, at] of lastFailed) {
    const over = replay.uploads[at + passesMin];
    const spans = verdicts.get(test)!;
    if (over !== undefined) spans[spans.length - 1] = [spans.at(-1)![0], over.at];
  }
  return verdicts;
}

export const references: readonly Reference[] = [
  {
    name: 'one event',
    detect: (replay) =>
      mapEvents(
        eventsOf(replay, () => true),
        untilQuiet,
      ),
  },
  {
    name: 'one event, 80 % rule',
    detect: (replay) =>
      mapEvents(
        eventsOf(replay, (upload) => shareOf(replay, upload) < 0.8),
        untilQuiet,
      ),
  },
  { name: 'transition rate', detect: detectTransitions },
  { name: 'any failure, 30 passes', detect: detectUntilPasses },
  {
    name: 'LUCI, with every upload',
    detect: (replay) =>
      mapEvents(
        eventsOf(replay, () => true),
        whileAbove(replay, 0.01, 0),
      ),
  },
  {
    name: 'LUCI, from 100 commits on',
    detect: (replay) =>
      mapEvents(
        eventsOf(replay, () => true),
        whileAbove(replay, 0.01, 100),
      ),
  },
  {
    name: 'LUCI, after two weeks',
    detect: (replay) => {
      const commits = new Set(replay.uploads.map(({ source }) => source)).size;
      return mapEvents(
        eventsOf(replay, () => true),
        whileAbove(replay, 0.01, commits),
      );
    },
  },
  {
    name: 'two and guard, 1 % from 100 on',
    detect: (replay) => {
      const suspects = markSuspects(replay);
      const events = eventsOf(replay, (upload) => !suspects.has(upload));
      const early = whileAbove(replay, 0, 0);
      const late = whileAbove(replay, 0.01, 100);
      // Below 100 commits two are enough.
      return mapEvents(events, (list) => [
        ...early(list.filter(({ sources }) => sources < 100)).map(([from]): Span => [from, from]),
        ...late(list),
      ]);
    },
  },
  {
    name: 'two and guard',
    detect: (replay) => {
      const suspects = markSuspects(replay);
      return mapEvents(
        eventsOf(replay, (upload) => !suspects.has(upload)),
        whileAbove(replay, 0, 0),
      );
    },
  },
];

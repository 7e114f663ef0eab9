// What is counted after a replay, and the figures that follow.
//
//   precision        verdicts "flaky" that begin while the test is flaky, or within a day after, of all
//   recall           flaky tests that have such a verdict; of those shown: that failed on two sources or more by chance
//   mass             own failures of flaky tests: those of tests that were found, and those while the verdict held (covered)
//   excused on main  failures of a regression on the default branch that a quarantine excused
//   benefit          own flakes on pull requests that a quarantine excused
//   broken           pairs of a regression and a test, with three commits of the default branch or more, that were found
//   flaps            verdicts that were withdrawn while the test was flaky, for 100 days of flaky tests

import { dayMs, hourMs } from '#base/duration.ts';
import { median, percentile } from '../../bench/figure.ts';
import { type Cause, type FlakyTest, type Interval, isOwn, isReal, type Truth } from './truth.ts';

/** A failure of one test as it was uploaded. */
export type SeenFailure = {
  readonly at: number;
  readonly head: string;
  readonly cause: Cause;
  readonly isFailed: boolean;
  readonly isDefault: boolean;
  readonly isPullRequest: boolean;
  isExcused: boolean;
};

/** One test as the detector knows it: a rename or another variant makes another. */
export type SeenTest = {
  /** The number in the generator. */
  readonly truth: number;
  readonly variant: string;
  readonly failures: SeenFailure[];
  readonly flaky: Span[];
  readonly quarantined: Span[];
  readonly broken: Span[];
};

/** Open: Infinity. */
export type Span = { readonly from: number; to: number; readonly reason: string };

export const createSeenTest = (truth: number, variant: string): SeenTest => ({
  truth,
  variant,
  failures: [],
  flaky: [],
  quarantined: [],
  broken: [],
});

export function markSpan(spans: Span[], isOn: boolean, at: number, reason: string): void {
  const last = spans.at(-1);
  const isOpen = last !== undefined && last.to === Infinity;
  if (isOn && !isOpen) spans.push({ from: at, to: Infinity, reason });
  if (!isOn && isOpen) last.to = at;
}

type Share = { part: number; whole: number };
const emptyShare = (): Share => ({ part: 0, whole: 0 });

export const brokenKinds = ['regression', 'platform with a variant', 'platform without a variant'] as const;

export type RealTally = ReturnType<typeof emptyRealTally>;

export const emptyRealTally = () => ({
  verdicts: emptyShare(),
  quarantines: emptyShare(),
  recall: emptyShare(),
  shown: emptyShare(),
  mass: emptyShare(),
  covered: emptyShare(),
  mainReal: emptyShare(),
  mainOutages: emptyShare(),
  pullRequestOwn: emptyShare(),
  pullRequestOther: emptyShare(),
  broken: Object.fromEntries(brokenKinds.map((kind) => [kind, emptyShare()])) as Record<
    (typeof brokenKinds)[number],
    Share
  >,
  /** Found of all, by kind of flaky test. */
  kinds: {} as Record<string, Share>,
  /** Excused of all failures, by class of branch and cause. */
  excused: {} as Record<string, Share>,
  falseVerdicts: {} as Record<string, number>,
  falseQuarantines: {} as Record<string, number>,
  flaps: 0,
  quarantineFlaps: 0,
  flakyDays: 0,
  detectDays: [] as number[],
});

const count = (share: Share, isPart: boolean): void => {
  share.whole++;
  if (isPart) share.part++;
};

export type FalseVerdict = {
  readonly test: number;
  readonly variant: string;
  readonly at: number;
  readonly isQuarantine: boolean;
  readonly cause: string;
  readonly counts: { readonly [cause: string]: number };
  readonly reason: string;
};

/** The verdict may come this much later than the last failure of a test that was fixed. */
const graceMs = dayMs;

const isRight = (flaky: readonly Interval[], at: number): boolean =>
  flaky.some(([from, to]) => from <= at && at < to + graceMs);

export function tallyReal(tally: RealTally, truth: Truth, tests: readonly SeenTest[]): FalseVerdict[] {
  const losses: FalseVerdict[] = [];
  const byTruth = Map.groupBy(tests, (test) => test.truth);
  for (const test of tests) {
    const flaky = intervalsOf(truth.flaky.get(test.truth), byTruth.get(test.truth) ?? []);
    losses.push(...tallySpans(tally, truth, test, flaky));
    tallyExcuses(tally, test);
  }
  for (const flaky of truth.flaky.values()) tallyRecall(tally, truth, flaky, byTruth.get(flaky.test) ?? []);
  tallyBroken(tally, truth, byTruth);
  return losses;
}

/** A test that fails under load counts as flaky from its first failures on. */
function intervalsOf(flaky: FlakyTest | undefined, tests: readonly SeenTest[]): readonly Interval[] {
  if (flaky === undefined) return [];
  if (flaky.kind !== 'load') return flaky.flaky;
  const first = Math.min(
    ...tests.flatMap(({ failures }) => failures.filter(({ cause }) => isOwn(cause)).map(({ at }) => at)),
  );
  return flaky.flaky.map(([from, to]) => [Math.max(from, first), Math.max(to, first)]);
}

function tallySpans(
  tally: RealTally,
  truth: Truth,
  test: SeenTest,
  flaky: readonly Interval[],
): readonly FalseVerdict[] {
  const losses: FalseVerdict[] = [];
  for (const isQuarantine of [false, true])
    for (const { from, to, reason } of isQuarantine ? test.quarantined : test.flaky) {
      const right = isRight(flaky, from);
      count(isQuarantine ? tally.quarantines : tally.verdicts, right);
      if (right && to < truth.to && isRight(flaky, to)) {
        if (isQuarantine) tally.quarantineFlaps++;
        else if (flaky.some(([start, end]) => start <= to && to < end)) tally.flaps++;
      }
      if (right) continue;
      const { cause, counts } = blame(test, from);
      const sums = isQuarantine ? tally.falseQuarantines : tally.falseVerdicts;
      sums[cause] = (sums[cause] ?? 0) + 1;
      losses.push({ test: test.truth, variant: test.variant, at: from, isQuarantine, cause, counts, reason });
    }
  return losses;
}

/** The commonest cause of the failures of two weeks before a false verdict. */
function blame(test: SeenTest, at: number): Pick<FalseVerdict, 'cause' | 'counts'> {
  const counts: Record<string, number> = {};
  for (const failure of test.failures)
    if (failure.at <= at && failure.at > at - 14 * dayMs)
      counts[failure.cause] = (counts[failure.cause] ?? 0) + 1;
  const [cause = 'none'] = Object.entries(counts).toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return { cause, counts };
}

function tallyExcuses(tally: RealTally, { failures }: SeenTest): void {
  for (const { cause, isDefault, isPullRequest, isFailed, isExcused } of failures) {
    if (!isFailed) continue;
    if (isDefault && isReal(cause)) count(tally.mainReal, isExcused);
    if (isDefault && cause === 'outage') count(tally.mainOutages, isExcused);
    if (isPullRequest) count(isOwn(cause) ? tally.pullRequestOwn : tally.pullRequestOther, isExcused);
    const key = `${isDefault ? 'main' : isPullRequest ? 'pull request' : 'queue'}: ${cause}`;
    count((tally.excused[key] ??= emptyShare()), isExcused);
  }
}

function tallyRecall(tally: RealTally, truth: Truth, flaky: FlakyTest, tests: readonly SeenTest[]): void {
  const intervals = intervalsOf(flaky, tests);
  const right = tests.flatMap((test) => test.flaky.filter(({ from }) => isRight(intervals, from)));
  const isFound = right.length > 0;
  const own = tests.flatMap(({ failures, flaky: spans }) =>
    failures.filter(({ cause }) => isOwn(cause)).map((failure) => ({ failure, spans })),
  );
  count(tally.recall, isFound);
  count((tally.kinds[flaky.kind] ??= emptyShare()), isFound);
  if (new Set(own.map(({ failure }) => failure.head)).size >= 2) count(tally.shown, isFound);
  for (const { failure, spans } of own) {
    count(tally.mass, isFound);
    count(
      tally.covered,
      spans.some(({ from, to }) => from < failure.at && failure.at <= to),
    );
  }
  for (const [from, to] of flaky.flaky) tally.flakyDays += (Math.min(to, truth.to) - from) / dayMs;
  if (!isFound || own.length === 0) return;
  const first = Math.min(...own.map(({ failure }) => failure.at));
  tally.detectDays.push(Math.max(0, Math.min(...right.map(({ from }) => from)) - first) / dayMs);
}

/** Runs of one commit again are no further evidence. */
const commitsMin = 3;

function tallyBroken(
  tally: RealTally,
  truth: Truth,
  byTruth: ReadonlyMap<number, readonly SeenTest[]>,
): void {
  for (const { tests, from, to, isPlatform } of truth.regressions)
    for (const number of tests) {
      const seen = byTruth.get(number) ?? [];
      const cause: Cause = isPlatform ? 'platform' : 'regression';
      const failed = seen
        .flatMap(({ failures }) => failures)
        .filter((one) => one.isDefault && one.cause === cause && one.at >= from && one.at < to + hourMs);
      if (new Set(failed.map(({ head }) => head)).size < commitsMin) continue;
      const begun = Math.min(...failed.map(({ at }) => at));
      const last = Math.max(...failed.map(({ at }) => at)) + 2 * hourMs;
      const isFound = seen.some(({ broken }) => broken.some((span) => span.from <= last && span.to >= begun));
      const kind = isPlatform
        ? truth.hasVariant
          ? 'platform with a variant'
          : 'platform without a variant'
        : 'regression';
      count(tally.broken[kind], isFound);
    }
}

/** The sum of several seeds. */
export function addRealTallies(tallies: readonly RealTally[]): RealTally {
  const sum = emptyRealTally();
  for (const tally of tallies) addInto(sum, tally);
  return sum;
}

type Tree = { [key: string]: number | number[] | Tree };

function addInto(sum: Tree, more: Tree): void {
  for (const [key, value] of Object.entries(more)) {
    const before = sum[key];
    if (typeof value === 'number') sum[key] = ((before as number | undefined) ?? 0) + value;
    else if (Array.isArray(value)) sum[key] = [...((before as number[] | undefined) ?? []), ...value];
    else addInto((sum[key] = (before as Tree | undefined) ?? {}), value);
  }
}

export const shareOf = ({ part, whole }: Share): number => (whole === 0 ? 1 : part / whole);

export function scoresOfReal(tally: RealTally) {
  const days = tally.detectDays.length === 0 ? [0] : tally.detectDays;
  return {
    precision: shareOf(tally.verdicts),
    quarantinePrecision: shareOf(tally.quarantines),
    recall: shareOf(tally.recall),
    recallOfShown: shareOf(tally.shown),
    massRecall: shareOf(tally.mass),
    covered: shareOf(tally.covered),
    benefit: shareOf(tally.pullRequestOwn),
    mainExcused: tally.mainReal.part / Math.max(1, tally.mainReal.whole),
    falseVerdicts: tally.verdicts.whole - tally.verdicts.part,
    detectDays: { median: median(days), p90: percentile(days, 0.9) },
    flaps: (tally.flaps / Math.max(1, tally.flakyDays)) * 100,
    quarantineFlaps: (tally.quarantineFlaps / Math.max(1, tally.flakyDays)) * 100,
  };
}

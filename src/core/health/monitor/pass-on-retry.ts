// Flaky is a test that passes and fails where nothing changed. One contradiction alone never makes it so: most of them
// are outages. It takes contradictions of at least two sources that chance does not explain (chance.ts); several of one
// pull request are one, since its change may bring a race of its own; and several within two hours are one, since they
// may be one outage that lasts, unless the test passed twenty times in between or failed nearly alone in the whole suite.
//
// It is over after a week without a new one, or as soon as so many runs passed in a row that the test would have failed
// in them with 95 % had it stayed as it was.

import { dayMs } from '#base/duration.ts';
import { countText } from '#base/number-text.ts';
import { fraction, type SettingValues, whole } from '../../setting.ts';
import { branchClasses } from '../branch.ts';
import { type Contradiction, dayNumber, incidentMs, type TestCaseHistory } from '../history.ts';
import { testsByChance } from './chance.ts';
import { branches, isOn, monitor, quietDays, windowDays } from './monitor-type.ts';
import { daysText, instantText, percentText, shortSource, timesText } from './monitor-text.ts';
import { passesToTrust } from './statistics.ts';

const settingTable = {
  isOn: isOn(true),
  windowDays: windowDays(14),
  sourcesMin: whole({
    min: 2,
    max: 20,
    initial: 2,
    label: 'Minimum number of sources',
    description: 'Number of commits on which the test must have passed and failed.',
  }),
  chanceMax: fraction({
    min: 0.0001,
    max: 1,
    initial: 0.05,
    label: 'Maximum probability by chance',
    description: 'How many tests of the suite would appear this flaky by chance alone, at most.',
  }),
  quietDays: quietDays(7),
  branches: branches(branchClasses),
};

export const passOnRetry = monitor({
  says: 'flaky',
  title: 'Pass on retry',
  heading: 'Flaky: passes and fails on the same commit',
  intro: 'The strongest evidence of a flaky test: the same commit has different results.',
  settings: settingTable,
  classify: (history, settings, wasActive, now) => {
    const view = viewPassOnRetry(history, settings, now);
    if (view.isOver || !(view.fires || wasActive)) return null;
    return {
      evidence: describeRetry(view, settings.windowDays),
      isCertain: view.isCertain,
      culprit: null,
    };
  },
  describe: (history, settings, now) => {
    const { windowDays: days, sourcesMin } = settings;
    const { contradicted, verdicts } = viewPassOnRetry(history, settings, now);
    return `Passed and failed on ${contradicted} of ${countText(verdicts, 'commit')} in ${daysText(days)}; fires at ${sourcesMin} that chance does not explain.`;
  },
  recovery: (history, settings, now) => {
    const { passesMin, quietAt } = viewPassOnRetry(history, settings, now);
    return {
      cleanRuns: history.cleanPasses,
      cleanRunsNeeded: Number.isFinite(passesMin) ? passesMin : null,
      quietAt,
    };
  },
});

function describeRetry({ contradicted, verdicts, last }: PassOnRetryView, days: number): string {
  const share = percentText(contradicted / Math.max(verdicts, 1));
  const where = last === null ? '' : `, last on ${shortSource(last.source)} at ${instantText(last.at)}`;
  return `passed and failed on the same commit ${timesText(contradicted)} in ${daysText(days)} (${share} of ${verdicts} verdicts)${where}`;
}

type PassOnRetryView = {
  readonly fires: boolean;
  readonly isOver: boolean;
  /** It is over after so many passes in a row, or from this instant on without a new contradiction. */
  readonly passesMin: number;
  readonly quietAt: number;
  /** Even by a measure ten times as strict: good enough for what happens without a person. */
  readonly isCertain: boolean;
  /** Contradicted sources of the window, and all sources. */
  readonly contradicted: number;
  readonly verdicts: number;
  readonly last: Contradiction | null;
};

/** Fewer passes in a row never end it: a test that fails every other time has such runs of luck. */
const cleanPassesMin = 30;
const certainty = 10;

function viewPassOnRetry(
  history: TestCaseHistory,
  settings: SettingValues<typeof settingTable>,
  now: number,
): PassOnRetryView {
  const from = now - settings.windowDays * dayMs;
  const seen = history.contradictions.filter(
    ({ at, branchClass, isExplained }) =>
      !isExplained && at > from && settings.branches.includes(branchClass),
  );
  let verdicts = 0;
  let contradicted = 0;
  for (const count of history.days)
    if (count.day >= dayNumber(from) && settings.branches.includes(count.branchClass)) {
      verdicts += count.sources;
      contradicted += count.contradicted;
    }
  contradicted = Math.max(contradicted, seen.length);
  verdicts = Math.max(verdicts, contradicted);
  const last = seen.at(-1) ?? history.contradictions.at(-1) ?? null;
  const votes = selectIndependentEvidence(seen, history);
  const isBursty = comesInBursts(seen);
  const shares = votes.map((vote) => Math.max(shareOf(vote), isBursty ? sharedCause : 0));
  const shareAmid = votes.map((vote, index) =>
    Math.max(shares[index]!, isAmidFailures(vote, history) ? amidShare : 0),
  );
  const tests = votes.reduce((most, vote) => Math.max(most, vote.tests), 1);
  const chance = testsByChance({ shares: shareAmid, verdicts, tests });
  // An upload may contain only a shard: what happens without a person is measured on all tests of the repository.
  const chanceInSuite = testsByChance({ shares, verdicts, tests: Math.max(tests, history.suite) });
  const quietAt = last === null ? now : last.at + settings.quietDays * dayMs;
  const passesMin = Math.max(cleanPassesMin, passesToTrust(contradicted / verdicts, contradicted));
  return {
    fires: votes.length >= settings.sourcesMin && chance <= settings.chanceMax,
    isOver: now >= quietAt || history.cleanPasses >= passesMin,
    passesMin,
    quietAt,
    isCertain: votes.length >= settings.sourcesMin && chanceInSuite <= settings.chanceMax / certainty,
    contradicted,
    verdicts,
    last,
  };
}

/**
 * Tests that fail together and say the same have one cause, and most often it is not in them: something they all need
 * is unreachable, and they fail each time, however few they are. Such an outage counts as half as wide as the suite.
 */
const sharedCause = 0.5;

function shareOf({ failing, tests, isShared }: Contradiction): number {
  const share = Math.min(1, Math.max(failing, 1) / Math.max(tests, 1));
  return isShared ? Math.max(share, sharedCause) : share;
}

/**
 * A flaky test fails between passes. One that fails again within two hours and twenty passes is in the midst of
 * something: of an outage too, of which its shard may show one or two tests only. It counts as one of so many of the tests.
 */
const amidShare = 0.01;

const isAmidFailures = (one: Contradiction, { suite }: TestCaseHistory): boolean =>
  !one.isSeparate && !isAlone(one, suite);

const burstShare = 1 / 3;

/**
 * Do contradictions come in bursts? A flaky test is contradicted at any time. A test that needs something that is
 * unreachable now and then is contradicted several times within hours, and then not for days. It is so if at least a third of the
 * contradictions share their two hours with an earlier one, twice as many as if they lay anywhere between the first and
 * the last.
 */
function comesInBursts(seen: readonly Contradiction[]): boolean {
  const count = seen.length;
  if (count < 3) return false;
  let incidents = 0;
  let begunAt = -Infinity;
  for (const { at, isSeparate } of seen)
    if (isSeparate || at - begunAt >= incidentMs) {
      incidents++;
      begunAt = at;
    }
  const slots = (seen.at(-1)!.at - seen[0]!.at) / incidentMs + 1;
  const together = count - incidents;
  const byChance = count - slots * (1 - Math.exp(-count / slots));
  return together >= count * burstShare && together > 2 * byChance;
}

/**
 * What counts as independent of the others, ascending by instant: one contradiction of a pull request, one of an incident,
 * and of those of pull requests that fail in the same way one between two runs of the default branch, on which all of
 * them are based.
 */
function selectIndependentEvidence(
  seen: readonly Contradiction[],
  history: TestCaseHistory,
): Contradiction[] {
  const votes: Contradiction[] = [];
  const pullRequests = new Set<number>();
  for (const one of seen) {
    if (one.prNumber !== null) {
      if (pullRequests.has(one.prNumber)) continue;
      pullRequests.add(one.prNumber);
    }
    const before = votes.at(-1);
    if (before === undefined || !isSameIncident(before, one, history)) votes.push(one);
  }
  return votes;
}

/** From so many failing tests on they may have one cause. */
const crowdMin = 3;
/** An upload with this share of the repository's tests is no shard: other tests would show an outage too. */
const wholeShare = 0.8;

const isAlone = ({ failing, tests, isShared }: Contradiction, suite: number): boolean =>
  failing < crowdMin && !isShared && tests >= suite * wholeShare;

function isSameIncident(
  before: Contradiction,
  one: Contradiction,
  { onDefault, suite }: TestCaseHistory,
): boolean {
  const { at, branchClass, cause } = one;
  if (at - before.at < incidentMs && !one.isSeparate && !isAlone(one, suite)) return true;
  if (branchClass !== 'pull_request' || before.branchClass !== 'pull_request') return false;
  if (cause === null || cause !== before.cause || before.at < (onDefault[0]?.at ?? Infinity)) return false;
  return !onDefault.some((run) => run.at > before.at && run.at < at);
}

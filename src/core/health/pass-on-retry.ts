// Flaky is a test that passes and fails where nothing changed. One contradiction alone never makes it so: most of them
// are outages. It takes contradictions of at least two sources that chance does not explain (chance.ts); several of one
// pull request are one, since its change may bring a race of its own; and several within two hours in which the same
// crowd failed are one outage that lasts.
//
// It is over after a week without a new one, or as soon as so many runs passed in a row that the test would have failed
// in them with 95 % had it stayed as it was.

import { testsByChance } from './chance.ts';
import { type Contradiction, dayMs, dayOf, type History } from './history.ts';
import type { PassOnRetrySettings } from './settings.ts';
import { passesToTrust } from './statistics.ts';

export type PassOnRetryView = {
  readonly fires: boolean;
  readonly isOver: boolean;
  /** Even by a measure ten times as strict: good enough for what happens without a person. */
  readonly isCertain: boolean;
  /** Contradicted sources of the window, and all sources. */
  readonly contradicted: number;
  readonly verdicts: number;
  readonly last: Contradiction | null;
};

/** Contradictions of crowds that are closer than this are one. */
const incidentMs = 2 * 60 * 60 * 1_000;
/** From so many failing tests on it is a crowd. */
const crowdMin = 3;
/** Fewer passes in a row never end it: a test that fails every other time has such runs of luck. */
const cleanPassesMin = 30;
const certainty = 10;

export function viewPassOnRetry(
  history: History,
  settings: PassOnRetrySettings,
  now: number,
): PassOnRetryView {
  const from = now - settings.windowDays * dayMs;
  const seen = history.contradictions.filter(
    ({ at, branchClass }) => at > from && settings.branches.includes(branchClass),
  );
  let verdicts = 0;
  let contradicted = 0;
  for (const count of history.days)
    if (count.day >= dayOf(from) && settings.branches.includes(count.branchClass)) {
      verdicts += count.sources;
      contradicted += count.contradicted;
    }
  contradicted = Math.max(contradicted, seen.length);
  verdicts = Math.max(verdicts, contradicted);
  const last = seen.at(-1) ?? history.contradictions.at(-1) ?? null;
  const votes = votesOf(seen);
  const shares = votes.map(({ failing, tests }) => Math.min(1, Math.max(failing, 1) / Math.max(tests, 1)));
  const tests = votes.reduce((most, vote) => Math.max(most, vote.tests), 1);
  const chance = testsByChance({ shares, verdicts, tests });
  const isQuiet = last === null || now - last.at >= settings.quietDays * dayMs;
  const passesMin = Math.max(cleanPassesMin, passesToTrust(contradicted / verdicts, contradicted));
  return {
    fires: votes.length >= settings.sourcesMin && chance <= settings.chanceMax,
    isOver: isQuiet || history.cleanPasses >= passesMin,
    isCertain: votes.length >= settings.sourcesMin && chance <= settings.chanceMax / certainty,
    contradicted,
    verdicts,
    last,
  };
}

/** What counts as independent of the others. Ascending by instant, as they come. */
function votesOf(seen: readonly Contradiction[]): Contradiction[] {
  const votes: Contradiction[] = [];
  const pullRequests = new Set<number>();
  let crowdAt = -Infinity;
  for (const one of seen) {
    if (one.prNumber !== null) {
      if (pullRequests.has(one.prNumber)) continue;
      pullRequests.add(one.prNumber);
    }
    const isCrowd = one.failing >= crowdMin;
    if (isCrowd && one.at - crowdAt < incidentMs) continue;
    if (isCrowd) crowdAt = one.at;
    votes.push(one);
  }
  return votes;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EntryId, RunId } from '#base/id.ts';
import { anEntry, later, noon } from '../../../../test/fixture/entry.ts';
import { evolve } from '../evolve.ts';
import type { FactBody } from '../fact.ts';
import { type Entry, isEnded, isUnderTest, type Stage } from '../model.ts';
import { sumMilliseconds, type Moment, type Pause, timeSpent } from './time-spent.ts';

const minute = 60_000;
const at = (minutes: number) => later(minutes * minute);

const moment = (minutes: number, overrides: Partial<Moment>): Moment => ({
  at: at(minutes),
  kind: 'moved',
  state: null,
  reason: null,
  actor: 'queue',
  runId: null,
  culprit: null,
  ...overrides,
});

const submitted = moment(0, { kind: 'submitted', state: 'not_ready' });

/** As `kind minutes (why)`. */
const formatTimeSpent = (moments: readonly Moment[], until: number, pauses: readonly Pause[] = []) =>
  timeSpent(moments, pauses, at(until)).map(({ kind, from, to, because, isPaused }) => {
    const text = `${isPaused ? 'paused ' : ''}${kind} ${(to.getTime() - from.getTime()) / minute}`;
    if (because === null) return text;
    return `${text} (${because.reason}${because.prNumber === null ? '' : ` #${because.prNumber}`})`;
  });

describe('the time of an attempt', () => {
  it('is shown by what it was spent on, with why it was tested again', () => {
    const moments = [
      submitted,
      moment(1, { state: 'pending', reason: 'MERGE_ITEM_NOW_READY' }),
      moment(4, { state: 'testing', runId: 'a' }),
      moment(14, { state: 'pending', reason: 'PREREQUISITE_MERGE_ITEM_FAILED', culprit: 12 }),
      moment(15, { state: 'testing', runId: 'b' }),
      moment(29, { state: 'tests_passed', runId: 'b' }),
      moment(31, { kind: 'landing_begun' }),
      moment(32, { state: 'merged', reason: 'MERGE_GRAPH_MERGE', runId: 'b' }),
    ];
    expect(formatTimeSpent(moments, 99)).toEqual([
      'not_ready 1',
      'waiting 3',
      'testing 10',
      'waiting 1 (PREREQUISITE_MERGE_ITEM_FAILED #12)',
      'testing 14 (PREREQUISITE_MERGE_ITEM_FAILED #12)',
      'passed 2',
      'landing 1',
    ]);
  });

  it('distinguishes a requested restart from an automatic one', () => {
    const moments = [
      submitted,
      moment(0, { state: 'pending' }),
      moment(0, { state: 'testing', runId: 'a' }),
      moment(5, {
        kind: 'restart_requested',
        state: 'testing',
        runId: 'a',
        reason: 'TESTS_RESTARTED_BY_USER',
      }),
      moment(6, { state: 'testing', runId: 'b' }),
      moment(9, { state: 'testing', runId: 'c' }),
    ];
    expect(formatTimeSpent(moments, 12)).toEqual([
      'testing 5',
      'testing 1 (TESTS_RESTARTED_BY_USER)',
      'testing 3 (TESTS_RESTARTED_BY_USER)',
      'testing 3 (null)',
    ]);
  });

  it('keeps one cause for all steps of a search', () => {
    const moments = [
      submitted,
      moment(0, { state: 'testing', runId: 'a' }),
      moment(3, { state: 'pending', reason: 'BISECTION_REQUIRED' }),
      moment(3, { state: 'testing', runId: 'b' }),
      moment(5, { state: 'testing', runId: 'c' }),
    ];
    expect(formatTimeSpent(moments, 9)).toEqual([
      'testing 3',
      'testing 2 (BISECTION_REQUIRED)',
      'testing 4 (BISECTION_REQUIRED)',
    ]);
  });

  it('shows waiting in a paused queue separately, and counts the current step until now', () => {
    const moments = [submitted, moment(2, { state: 'pending' })];
    const pauses = [
      { from: at(-5), to: at(1) },
      { from: at(4), to: at(6) },
      { from: at(8), to: null },
    ];
    expect(formatTimeSpent(moments, 10, pauses)).toEqual([
      'paused not_ready 1',
      'not_ready 1',
      'waiting 2',
      'paused waiting 2',
      'waiting 2',
      'paused waiting 2',
    ]);
  });

  it('goes back to waiting for the branch where a landing did not happen', () => {
    const moments = [
      submitted,
      moment(0, { state: 'tests_passed', runId: 'a' }),
      moment(1, { kind: 'landing_begun' }),
      moment(3, { kind: 'landing_ended' }),
    ];
    expect(formatTimeSpent(moments, 6)).toEqual(['passed 1', 'landing 2', 'passed 3']);
  });
});

const stages: readonly Stage[] = [
  { kind: 'not_ready' },
  { kind: 'pending' },
  { kind: 'testing', runId: 'a' as RunId },
  { kind: 'testing', runId: 'b' as RunId },
  { kind: 'tests_passed', runId: 'a' as RunId },
  { kind: 'pending_failure', runId: 'b' as RunId },
];
const ends: readonly Stage[] = [
  { kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId: 'a' as RunId },
  { kind: 'cancelled', reason: 'USER_REQUESTED' },
];

const someFact: fc.Arbitrary<FactBody> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...stages).map((to) => ({ kind: 'moved', to, reason: null }) as const),
  },
  fc.constantFrom<FactBody>(
    { kind: 'restart_requested', reason: 'TESTS_RESTARTED_BY_USER' },
    { kind: 'landing_begun' },
    { kind: 'landing_ended' },
  ),
);
const someStep = fc.record({ afterMs: fc.nat({ max: 20 * minute }), fact: someFact });
const someEnd = fc.option(fc.constantFrom(...ends));
const somePauses = fc
  .array(fc.nat({ max: 300 * minute }), { maxLength: 9 })
  .map((instants): Pause[] =>
    instants
      .toSorted((a, b) => a - b)
      .flatMap((from, index, { [index + 1]: to }) =>
        index % 2 === 0 ? [{ from: later(from), to: to === undefined ? null : later(to) }] : [],
      ),
  );

it('adds up to the whole attempt, without gaps, and to what the entry counts', () => {
  fc.assert(
    fc.property(
      fc.array(someStep, { maxLength: 30 }),
      someEnd,
      somePauses,
      fc.nat(),
      (steps, end, pauses, tail) => {
        let entry: Entry = {
          ...anEntry(),
          stage: { kind: 'not_ready' },
          stageChangedAt: noon,
          submittedAt: noon,
        };
        const moments: Moment[] = [{ ...submitted, at: noon }];
        let now = noon.getTime();
        const recordFact = (fact: FactBody) => {
          if (fact.kind === 'restart_requested' && !isUnderTest(entry.stage)) return;
          const instant = new Date(now);
          entry = evolve(entry, { ...fact, at: instant, actor: 'queue' }, 'id' as EntryId);
          const isAboutLanding = fact.kind === 'landing_begun' || fact.kind === 'landing_ended';
          moments.push({
            ...submitted,
            at: instant,
            kind: fact.kind,
            state: isAboutLanding ? null : entry.stage.kind,
            runId: 'runId' in entry.stage ? entry.stage.runId : null,
          });
        };
        for (const { afterMs, fact } of steps) {
          now += afterMs;
          recordFact(fact);
        }
        now += tail % (30 * minute);
        // What is under way is counted up to its last move by the entry: a move to where it is brings that up to now.
        recordFact({ kind: 'moved', to: end ?? entry.stage, reason: null });
        const segments = timeSpent(moments, pauses, new Date(isEnded(entry.stage) ? now + minute : now));

        expect(sumMilliseconds(segments)).toBe(now - noon.getTime());
        segments.forEach(({ from, to }, index) => {
          expect(from < to).toBe(true);
          expect(from).toEqual(segments[index - 1]?.to ?? noon);
        });
        expect(sumMilliseconds(segments, 'waiting')).toBe(entry.waitMs);
        expect(sumMilliseconds(segments, 'testing')).toBe(entry.testMs);
        expect(sumMilliseconds(segments) - sumMilliseconds(segments, 'not_ready')).toBe(entry.inQueueMs);
      },
    ),
  );
});

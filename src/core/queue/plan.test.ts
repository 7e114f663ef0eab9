import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aQueue,
  anEntry,
  anEntryId,
  aStage,
  hourMs,
  later,
  liveStates,
  noon,
  underTestStates,
} from '../../../test/fixture/entry.ts';
import { evolve } from './evolve.ts';
import { type Queue, isEnded, queueStates } from './model.ts';
import { type Plan, planQueue, type Snapshot, type SnapshotEntry } from './plan.ts';

const now = later(hourMs);
const ready = (overrides: Parameters<typeof anEntry>[0] = {}): SnapshotEntry => ({
  entry: anEntry(overrides),
  hasImpactedTargets: true,
});
const unready = (overrides: Parameters<typeof anEntry>[0] = {}): SnapshotEntry =>
  ready({ ...overrides, pullRequest: { mergeability: 'not_mergeable', ...overrides.pullRequest } });

const planOf = (queue: Queue, ...entries: SnapshotEntry[]): Plan => planQueue({ queue, entries }, now);

const admitted = {
  prNumber: 7,
  fact: {
    kind: 'moved',
    to: { kind: 'pending' },
    reason: 'MERGE_ITEM_NOW_READY',
    at: now,
    actor: 'queue',
  },
};
const putBack = {
  prNumber: 7,
  fact: { kind: 'moved', to: { kind: 'not_ready' }, reason: null, at: now, actor: 'queue' },
};
const givenUp = {
  prNumber: 7,
  fact: {
    kind: 'moved',
    to: { kind: 'cancelled', reason: 'NOT_READY_TIMEOUT_EXPIRED' },
    reason: 'NOT_READY_TIMEOUT_EXPIRED',
    at: now,
    actor: 'queue',
  },
};

/** A queue in that state; one that is switching has something under test beside it, so that it goes on switching. */
const inState = (state: Queue['state']): { queue: Queue; beside: SnapshotEntry[] } =>
  state === 'SWITCHING_MODES'
    ? {
        queue: aQueue({ state, switching: { mode: 'parallel', returnTo: 'RUNNING' } }),
        beside: [ready({ stage: 'testing', pullRequest: { number: 1 } })],
      }
    : { queue: aQueue({ state }), beside: [] };

describe('admission', () => {
  it.each([
    ['RUNNING', [admitted]],
    ['PAUSED', []],
    ['DRAINING', []],
    ['SWITCHING_MODES', []],
  ] as const)('of a ready entry to a %s queue', (state, facts) => {
    const { queue, beside } = inState(state);
    const plan = planOf(queue, ...beside, ready({ stage: 'not_ready' }));
    expect(plan).toEqual({ queue, facts, wakeAt: null });
  });

  it.each(queueStates)('never takes in what is not ready, in a %s queue', (state) => {
    const { queue, beside } = inState(state);
    expect(planOf(queue, ...beside, unready({ stage: 'not_ready' })).facts).toEqual([]);
  });

  it.each(queueStates)('is taken back from what is pending and no longer ready, in a %s queue', (state) => {
    const { queue, beside } = inState(state);
    expect(planOf(queue, ...beside, unready({ stage: 'pending' })).facts).toEqual([putBack]);
  });

  it.each(queueStates)('stays with what is pending and ready, in a %s queue', (state) => {
    const { queue, beside } = inState(state);
    expect(planOf(queue, ...beside, ready({ stage: 'pending' })).facts).toEqual([]);
  });

  it.each([
    ['its base is another branch', { baseBranch: 'other' }],
    ['its host does not know yet', { mergeability: 'unspecified' }],
    ['its host is still looking', { mergeability: 'in_progress' }],
    ['it is a draft', { draft: true }],
  ] as const)('waits while %s', (_what, pullRequest) => {
    expect(planOf(aQueue(), ready({ stage: 'not_ready', pullRequest })).facts).toEqual([]);
  });

  it('asks a parallel queue’s entries for their impacted targets, and only those', () => {
    const entry = { entry: anEntry({ stage: 'not_ready' }), hasImpactedTargets: false };
    expect(planOf(aQueue({ settings: { mode: 'parallel' } }), entry).facts).toEqual([]);
    expect(planOf(aQueue(), entry).facts).toEqual([admitted]);
  });

  it('takes in a forced entry that its host calls not mergeable', () => {
    expect(planOf(aQueue(), unready({ stage: 'not_ready', forced: true })).facts).toEqual([admitted]);
  });

  it('takes in all that are ready, in the order of the snapshot', () => {
    const numbers = [4, 3, 9];
    const entries = numbers.map((number) => ready({ stage: 'not_ready', pullRequest: { number } }));
    expect(planOf(aQueue(), ...entries).facts.map(({ prNumber }) => prNumber)).toEqual(numbers);
  });

  it.each(underTestStates)('is no matter for what is %s, ready or not', (stage) => {
    expect(planOf(aQueue(), ready({ stage }), unready({ stage })).facts).toEqual([]);
  });
});

describe('patience', () => {
  const patient = (hours: number) => aQueue({ settings: { notReadyTimeoutHours: hours } });
  const waiting = (hoursAgo: number) =>
    unready({ stage: 'not_ready', submittedAt: later(-hoursAgo * hourMs, now) });

  it('ends exactly at its hour, and not a millisecond before', () => {
    expect(planOf(patient(2), waiting(2))).toMatchObject({ facts: [givenUp], wakeAt: null });
    const almost = unready({ stage: 'not_ready', submittedAt: later(-2 * hourMs + 1, now) });
    expect(planOf(patient(2), almost)).toMatchObject({ facts: [], wakeAt: later(1, now) });
  });

  it('has no end when it is set to 0', () => {
    expect(planOf(patient(0), waiting(10_000))).toMatchObject({ facts: [], wakeAt: null });
  });

  it('does not end for what was in the line before, or is ready and only not admitted', () => {
    const old = later(-100 * hourMs, now);
    const once = unready({ stage: 'not_ready', submittedAt: old, queuedAt: old });
    expect(planOf(patient(2), once)).toMatchObject({ facts: [], wakeAt: null });
    const held = ready({ stage: 'not_ready', submittedAt: old });
    expect(planQueue({ queue: { ...patient(2), state: 'PAUSED' }, entries: [held] }, now)).toMatchObject({
      facts: [],
      wakeAt: null,
    });
  });

  it('admits what became ready in time to be looked at, however late that is', () => {
    const entry = ready({ stage: 'not_ready', submittedAt: later(-100 * hourMs, now) });
    expect(planOf(patient(2), entry).facts).toEqual([admitted]);
  });

  it.each([[[1, 3, 2]], [[3, 2, 1]], [[2, 1, 3]]])(
    'wakes the plan when the first of those submitted %j hours ago runs out',
    (hoursAgo) => {
      const plan = planOf(patient(5), ...hoursAgo.map(waiting));
      expect(plan).toMatchObject({ facts: [], wakeAt: later(2 * hourMs, now) });
    },
  );

  it('wakes the plan for those that go on waiting when one is given up', () => {
    expect(planOf(patient(5), waiting(6), waiting(4))).toMatchObject({
      facts: [givenUp],
      wakeAt: later(hourMs, now),
    });
  });
});

describe('a switch of modes', () => {
  const switching = (returnTo: 'RUNNING' | 'PAUSED'): Queue =>
    aQueue({ state: 'SWITCHING_MODES', switching: { mode: 'parallel', returnTo } });

  it.each(underTestStates)('goes on while something is %s', (stage) => {
    const queue = switching('RUNNING');
    expect(planOf(queue, ready({ stage: 'pending' }), ready({ stage }))).toEqual({
      queue,
      facts: [],
      wakeAt: null,
    });
  });

  it('is finished once nothing is under test, and the new mode holds in the same plan', () => {
    const known = ready({ stage: 'not_ready', pullRequest: { number: 3 } });
    const unknown = { ...ready({ stage: 'pending' }), hasImpactedTargets: false };
    const plan = planOf(switching('RUNNING'), known, unknown);
    expect(plan.queue).toEqual(aQueue({ state: 'RUNNING', settings: { mode: 'parallel' } }));
    expect(plan.facts).toEqual([{ ...admitted, prNumber: 3 }, putBack]);
  });

  it('back to a paused queue admits nothing', () => {
    const plan = planOf(switching('PAUSED'), ready({ stage: 'not_ready' }));
    expect(plan).toMatchObject({ queue: { state: 'PAUSED', switching: null }, facts: [] });
  });
});

const snapshots: fc.Arbitrary<Snapshot> = fc
  .record({
    state: fc.constantFrom(...queueStates),
    mode: fc.constantFrom('single', 'parallel'),
    target: fc.constantFrom('single', 'parallel'),
    notReadyTimeoutHours: fc.nat(3),
    entries: fc.array(
      fc.record({
        stage: fc.constantFrom(...liveStates),
        mergeability: fc.constantFrom('mergeable', 'not_mergeable', 'unspecified'),
        baseBranch: fc.constantFrom('main', 'main', 'other'),
        forced: fc.boolean(),
        wasQueued: fc.boolean(),
        hasImpactedTargets: fc.boolean(),
        ageMs: fc.nat(5 * hourMs),
      }),
      { maxLength: 8 },
    ),
  })
  .map(({ state, mode, target, notReadyTimeoutHours, entries }) => ({
    queue: aQueue({
      state,
      settings: { mode, notReadyTimeoutHours },
      switching: state === 'SWITCHING_MODES' ? { mode: target, returnTo: 'RUNNING' } : null,
    }),
    entries: entries.map(
      ({ stage, mergeability, baseBranch, forced, wasQueued, hasImpactedTargets, ageMs }, i) => ({
        entry: anEntry({
          stage,
          forced,
          submittedAt: later(-ageMs, now),
          queuedAt: stage === 'not_ready' && !wasQueued ? null : noon,
          pullRequest: { number: i + 1, mergeability, baseBranch },
        }),
        hasImpactedTargets,
      }),
    ),
  }));

function applied(snapshot: Snapshot, plan: Plan): Snapshot {
  const entries = snapshot.entries
    .map((item) => ({
      ...item,
      entry: plan.facts
        .filter(({ prNumber }) => prNumber === item.entry.pullRequest.number)
        .reduce((entry, { fact }) => evolve(entry, fact, anEntryId), item.entry),
    }))
    .filter(({ entry }) => !isEnded(entry.stage));
  return { queue: plan.queue, entries };
}

describe('whatever the queue looks like', () => {
  it('a plan that was carried out leaves nothing to plan', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const first = planQueue(snapshot, now);
        const second = planQueue(applied(snapshot, first), now);
        expect(second).toEqual({ queue: first.queue, facts: [], wakeAt: first.wakeAt });
      }),
      { numRuns: 500 },
    );
  });

  it('the plan changes by time alone at wakeAt, and not before', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const plan = planQueue(snapshot, now);
        const settled = applied(snapshot, plan);
        const planAt = (at: Date) => planQueue(settled, at).facts.length;
        const never = later(10_000 * hourMs, now);
        const wakeAt = plan.wakeAt ?? never;
        expect(wakeAt > now).toBe(true);
        expect(planAt(later(-1, wakeAt))).toBe(0);
        expect(planAt(wakeAt) > 0).toBe(plan.wakeAt !== null);
      }),
      { numRuns: 500 },
    );
  });

  it('each entry has one fact at most, and nothing under test is moved', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const numbers = planQueue(snapshot, now).facts.map(({ prNumber }) => prNumber);
        expect(new Set(numbers).size).toBe(numbers.length);
        const underTest = snapshot.entries.filter(({ entry }) =>
          underTestStates.some((state) => state === entry.stage.kind),
        );
        for (const { entry } of underTest) expect(numbers).not.toContain(entry.pullRequest.number);
      }),
    );
  });
});

it('leaves an entry that has ended alone should one be in the snapshot', () => {
  const entries = (['merged', 'failed', 'cancelled'] as const).map((kind) => ready({ stage: aStage(kind) }));
  expect(planQueue({ queue: aQueue(), entries }, now)).toMatchObject({ facts: [], wakeAt: null });
});

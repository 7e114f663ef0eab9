import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aQueue, anEntry, endedStates, liveStates } from '../../../../test/fixture/entry.ts';
import { explainWaiting } from './explain.ts';
import { type Entry, mergeabilities, type Queue, queueStates } from '../model.ts';
import { assessReadiness } from '../rule/readiness.ts';
import type { BatchRule, QueueSituation, Situation, SituationContext } from '../situation.ts';

type Asked = {
  readonly queue?: Queue;
  readonly entry?: Entry;
  readonly hasImpactedTargets?: boolean;
  readonly situation?: Situation | null;
  readonly context?: Partial<Omit<SituationContext, 'settings'>>;
  readonly isHostAway?: boolean;
};

const minuteMs = 60_000;
const allTaken: QueueSituation = { underTest: 5, firstPending: [7, 8, 9], slotsTaken: 5, frozenAt: null };

function explained({
  queue = aQueue(),
  entry = anEntry(),
  hasImpactedTargets = true,
  situation = pending(),
  context = {},
  isHostAway = false,
}: Asked) {
  const readiness = assessReadiness(queue, entry, hasImpactedTargets);
  const whole = { position: 5, queueSituation: allTaken, run: null, now: 2 * minuteMs, ...context };
  return explainWaiting(queue, entry, { readiness, situation, context: whole, isHostAway });
}

type Pending = Extract<Situation, { kind: 'pending' }>;

const pending = (overrides: Partial<Pending> = {}): Pending => ({
  kind: 'pending',
  conflictsWith: null,
  startsAlone: false,
  ...overrides,
});

const none = { first: [], count: 0 };
const one = { first: [4], count: 1 };
const two = { first: [4, 5], count: 2 };

type Testing = Extract<Situation, { kind: 'testing' }>;

/** Asked for at 0; `now` is two minutes later. */
const testing = (overrides: Partial<Testing> = {}): Testing => ({
  kind: 'testing',
  ahead: none,
  times: { requestedAt: 0, pushedAt: null, startedAt: null },
  limits: null,
  ...overrides,
});

const notReady = (pullRequest: NonNullable<Parameters<typeof anEntry>[0]>['pullRequest'] = {}) =>
  anEntry({ stage: 'not_ready', pullRequest });

describe('an entry that is not ready', () => {
  it('says that it must be retargeted, with both branches', () => {
    expect(explained({ entry: notReady({ baseBranch: 'other' }) })).toEqual([
      'Its base branch is other, but this queue merges into main. Retarget the pull request to main.',
    ]);
  });

  it.each([
    ['a draft', { draft: true }, /draft.*ready for review/],
    ['a draft that its host calls not mergeable', { draft: true, mergeability: 'not_mergeable' }, /draft/],
    ['not mergeable', { mergeability: 'not_mergeable' }, /cannot be merged.*Resolve conflicts/],
    ['not computed yet', { mergeability: 'unspecified' }, /not reported yet.*asks again/],
    ['being computed', { mergeability: 'in_progress' }, /not reported yet.*asks again/],
  ] as const)('says what to do when it is %s', (_what, pullRequest, expectedText) => {
    const sentences = explained({ entry: notReady(pullRequest) });
    expect(sentences).toEqual([expect.stringMatching(expectedText)]);
  });

  it('says how to send its impacted targets, for the very commit, in parallel mode only', () => {
    const entry = notReady({ headSha: '0123456789abcdef0123456789abcdef01234567' });
    const parallel = aQueue({ settings: { mode: 'parallel' } });
    expect(explained({ queue: parallel, entry, hasImpactedTargets: false })).toEqual([
      expect.stringMatching(/0123456789ab\. Upload them with setImpactedTargets, or send "ALL"/),
    ]);
    expect(explained({ entry, hasImpactedTargets: false })).toEqual([expect.stringContaining('It is ready')]);
  });

  it('says everything that is missing at once', () => {
    const queue = aQueue({ state: 'PAUSED', settings: { mode: 'parallel' } });
    const entry = notReady({ baseBranch: 'other', mergeability: 'not_mergeable' });
    expect(explained({ queue, entry, hasImpactedTargets: false })).toEqual([
      expect.stringContaining('Retarget'),
      expect.stringContaining('cannot be merged'),
      expect.stringContaining('setImpactedTargets'),
      expect.stringContaining('paused'),
    ]);
  });

  it('says that it enters the queue when it is ready and the queue runs', () => {
    expect(explained({ entry: notReady() })).toEqual([
      expect.stringMatching(/ready and enters the queue within seconds/),
    ]);
  });

  it('that was forced does not mention mergeability', () => {
    const entry = anEntry({
      stage: 'not_ready',
      forced: true,
      pullRequest: { mergeability: 'not_mergeable', baseBranch: 'other' },
    });
    expect(explained({ entry })).toEqual([expect.stringContaining('Retarget')]);
  });

  it.each([
    ['PAUSED', /paused.*until its state is RUNNING again/],
    ['SWITCHING_MODES', /switching modes.*until the running tests have finished/],
  ] as const)('and waits only for a %s queue says what that queue waits for', (state, expectedText) => {
    const sentences = explained({ queue: aQueue({ state }), entry: notReady() });
    expect(sentences).toEqual([expect.stringMatching(expectedText)]);
  });

  it('and waits only for a DRAINING queue says that it is draining', () => {
    const sentences = explained({ queue: aQueue({ state: 'DRAINING' }), entry: notReady() });
    expect(sentences).toEqual([expect.stringMatching(/draining.*admits nothing new/)]);
  });

  it('and waits only for a DRAINING queue says that the queue must be RUNNING again', () => {
    const sentences = explained({ queue: aQueue({ state: 'DRAINING' }), entry: notReady() });
    expect(sentences.join(' ')).toMatch(/RUNNING/);
  });
});

describe('a pending entry', () => {
  const oneFree = { queueSituation: { ...allTaken, slotsTaken: 4 } };
  const bySettings = { size: 4, waitMs: 300_000, failureShare: null };
  const bySharing = { size: 6, waitMs: 60_000, failureShare: 0.0512 };
  const filling = (batches: BatchRule) => ({ queueSituation: { ...allTaken, slotsTaken: 4, batches } });

  it.each([
    [{}, 'It is next, but all 5 test slots are taken. Its tests start when a slot is free.'],
    [{ context: { position: 6 } }, '#7 is ahead of it, and all 5 test slots are taken.'],
    [{ context: { position: 17 } }, '#7, #8, #9 and 9 more are ahead of it, and all 5 test slots are taken.'],
    [{ context: oneFree }, 'It is next; tests start within seconds.'],
    [{ context: { ...oneFree, position: 6 } }, 'It waits for #7, ahead of it in the queue.'],
    [
      { context: filling(bySettings) },
      'Its batch is filling. Tests start with 4 pull requests, or when the oldest has waited 5 min.',
    ],
    [
      { context: filling(bySharing) },
      'Its batch is filling. Tests start with 6 pull requests, or when the oldest has waited 1 min. Batches of 6: 5 % of pull requests fail here.',
    ],
    [
      { context: filling({ ...bySharing, isPredicted: true }) },
      'Its batch is filling. Tests start with 6 pull requests, or when the oldest has waited 1 min. Batches of 6: 5 % of pull requests fail here. A batch is smaller if failures are predicted for its pull requests.',
    ],
    [
      { context: filling({ ...bySharing, waitMs: 12_000 }) },
      'Its batch is filling. Tests start with 6 pull requests, or when the oldest has waited 12 s. Batches of 6: 5 % of pull requests fail here.',
    ],
    [
      { context: { queueSituation: { ...allTaken, batches: bySharing } } },
      'It is next, but all 5 test slots are taken. Its tests start when a slot is free. Batches of 6: 5 % of pull requests fail here.',
    ],
    [
      { context: filling(bySharing), situation: pending({ isScreened: true }) },
      'Its batch passed its tests on the branch. It is tested once more, together with everything that merges before it, in the next group.',
    ],
    [
      { context: filling(bySettings), situation: pending({ startsAlone: true }) },
      'It is next; tests start within seconds.',
    ],
    [
      { situation: pending({ conflictsWith: 3 }) },
      'It conflicts with #3, which is ahead of it. It waits until #3 merges or is removed from the queue.',
    ],
    [
      { situation: pending({ conflictsWith: 3, failedTogether: true }) },
      'Its tests passed alone and failed on top of others, of which #3 is the last. It is tested again once #3 has merged or is removed from the queue.',
    ],
    // An entry ahead left the queue since it was evaluated.
    [
      { context: { position: 4 } },
      'It is next, but all 5 test slots are taken. Its tests start when a slot is free.',
    ],
    [{ situation: null }, 'The queue has not evaluated it yet. That usually takes a few seconds.'],
    [
      { context: { queueSituation: null } },
      'The queue has not evaluated it yet. That usually takes a few seconds.',
    ],
  ] satisfies [Asked, string][])('says what is ahead of it (%#)', (asked, sentence) => {
    expect(explained(asked)).toEqual([sentence]);
  });

  it.each([
    ['PAUSED', /paused/],
    ['DRAINING', /draining/],
    ['SWITCHING_MODES', /switching modes/],
  ] as const)('of a %s queue says that too', (state, expectedText) => {
    expect(explained({ queue: aQueue({ state }) })).toEqual([
      expect.stringContaining('It is next'),
      expect.stringMatching(expectedText),
    ]);
  });
});

describe('an entry under test', () => {
  const entry = anEntry({ stage: 'testing' });

  const limits = { pushMs: 60 * minuteMs, startMs: 3 * minuteMs, finishMs: 10 * minuteMs };
  const begun = { requestedAt: 0, pushedAt: 0, startedAt: minuteMs };
  const open = {
    pushedAt: 0,
    startedAt: 2 * minuteMs,
    required: ['ci/test', 'a', 'b', 'c', 'd'].map((name) => ({ name, source: null })),
    checks: [{ kind: 'status', name: 'ci/test', state: 'pending', url: '', at: 0 }],
  } as const;

  it.each([
    [
      {},
      'Its tests were requested 2 min ago and have not started. It is tested with the branch as it is now.',
    ],
    [
      { situation: testing({ limits }) },
      'Its tests were requested 2 min ago and have not started. It times out in 58 min. It is tested with the branch as it is now.',
    ],
    [
      { situation: testing({ ahead: one, times: begun, limits }), context: { now: 5 * minuteMs } },
      'Its tests have been running for 4 min. It times out in 6 min. It is tested with the branch and #4 ahead of it.',
    ],
    // The test branch was pushed, and CI began, since the queue was evaluated.
    [
      { situation: testing({ limits }), context: { run: { ...open, startedAt: null, checks: [] } } },
      'Its tests were requested 2 min ago and have not started. Not reported yet: ci/test, a, b and 2 more. It times out in 1 min. It is tested with the branch as it is now.',
    ],
    [
      { situation: testing({ limits }), context: { run: open } },
      'Its tests have been running for 0 min. Running: ci/test. Not reported yet: a, b, c and 1 more. It times out in 10 min. It is tested with the branch as it is now.',
    ],
    // No clock runs while the Git host does not answer.
    [
      {
        situation: testing({ times: begun, limits }),
        context: { now: 50 * minuteMs, queueSituation: { ...allTaken, frozenAt: 3 * minuteMs } },
      },
      'Its tests have been running for 2 min. It times out in 8 min. It is tested with the branch as it is now.',
    ],
  ] satisfies [Asked, string][])('says how far its tests are (%#)', (asked, sentence) => {
    expect(explained({ entry, situation: testing(), ...asked })).toEqual([sentence]);
  });

  it.each([
    [{ kind: 'passed', ahead: none }, 'Its tests passed. It merges next.'],
    [{ kind: 'passed', ahead: one }, 'Its tests passed with #4 ahead of it. It merges as soon as #4 can.'],
    [{ kind: 'landing' }, 'Signalbox is merging it now.'],
    [{ kind: 'retrying' }, 'CI gave no result. Signalbox repeats its tests after a pause.'],
    [
      { kind: 'retrying', isAfterFlake: true },
      'Its last tests failed, and every test that failed is known to be flaky. They run again as soon as a slot is free.',
    ],
    [
      testing({ isAfterFlake: true }),
      'Its tests were requested 2 min ago and have not started. It is tested with the branch as it is now. Its last tests failed, and every test that failed is known to be flaky. They run again.',
    ],
    [
      { kind: 'failed', ahead: one, isBatch: false },
      'Its tests failed with #4 ahead of it. Signalbox knows whether this pull request is the cause once #4 has merged.',
    ],
    [
      { kind: 'failed', ahead: two, isBatch: false },
      'Its tests failed with #4, #5 ahead of it. Signalbox knows whether this pull request is the cause once #4, #5 have merged.',
    ],
    [
      { kind: 'failed', ahead: none, isBatch: true },
      'The tests of its batch failed. Signalbox bisects the batch next.',
    ],
    [
      { kind: 'failed', ahead: none, isBatch: false },
      'Its tests failed. Signalbox waits for the pull requests behind it before it decides.',
    ],
    [
      { kind: 'bisected', suspects: one, cleared: none },
      'The tests of its batch failed, and Signalbox bisects the batch: #4 is suspected. All but the culprit return to the queue.',
    ],
    [
      { kind: 'bisected', suspects: two, cleared: { first: [1, 2, 3], count: 4 } },
      'The tests of its batch failed, and Signalbox bisects the batch: #4, #5 are suspected, #1, #2, #3 and 1 more are cleared. All but the culprit return to the queue.',
    ],
    [
      { kind: 'bisected', suspects: one, cleared: none, isAlone: true },
      'Its batch passed without this pull request and failed with it. It is tested alone, and removed if it fails again.',
    ],
  ] satisfies [Situation, string][])('says what its result waits for (%#)', (situation, sentence) => {
    expect(explained({ entry, situation })).toEqual([sentence]);
  });

  it.each([
    [1, 'Only the test that failed runs now. All tests run before it merges.'],
    [3, 'Only the 3 tests that failed run now. All tests run before it merges.'],
  ])('says that only some tests run (%d)', (selectedTests, sentence) => {
    const run = { pushedAt: null, startedAt: null, required: [], checks: [], selectedTests };
    for (const situation of [
      { kind: 'bisected', suspects: one, cleared: none },
      {
        kind: 'testing',
        ahead: none,
        times: { requestedAt: 0, pushedAt: null, startedAt: null },
        limits: null,
      },
    ] satisfies Situation[]) {
      expect(explained({ entry, situation, context: { run } })[0]).toMatch(new RegExp(`${sentence}$`));
      expect(
        explained({ entry, situation, context: { run: { ...run, selectedTests: null } } })[0],
      ).not.toContain('Only the');
    }
  });

  it('of a paused queue says that it is paused, and why if Signalbox paused it', () => {
    const queue = aQueue({ state: 'PAUSED', stateReason: 'The branch is gone.' });
    expect(explained({ entry, queue, situation: { kind: 'passed', ahead: none } })).toEqual([
      'Its tests passed. It merges next.',
      expect.stringContaining('paused'),
      'The branch is gone.',
    ]);
  });

  it('mentions a Git host that does not answer, and a requested cancellation', () => {
    const leaving = anEntry({ stage: 'tests_passed', endRequested: 'USER_REQUESTED' });
    expect(explained({ entry: leaving, situation: { kind: 'landing' }, isHostAway: true })).toEqual([
      'The Git host does not answer. The queue waits until it does.',
      expect.stringContaining('merging'),
      'Cancellation requested; it takes effect unless the merge in progress succeeds.',
    ]);
  });
});

it.each(endedStates)('an entry that is %s waits for nothing', (stage) => {
  expect(explained({ entry: anEntry({ stage }), queue: aQueue({ state: 'PAUSED' }) })).toEqual([]);
});

it('every live entry of every queue has a sentence, and each ends with a full stop', () => {
  const asked = fc.record({
    state: fc.constantFrom(...queueStates),
    mode: fc.constantFrom('single', 'parallel'),
    stage: fc.constantFrom(...liveStates),
    mergeability: fc.constantFrom(...mergeabilities),
    baseBranch: fc.constantFrom('main', 'other'),
    draft: fc.boolean(),
    forced: fc.boolean(),
    hasImpactedTargets: fc.boolean(),
    situation: fc.constantFrom(null, pending(), testing(), { kind: 'passed', ahead: one } as const),
  });
  fc.assert(
    fc.property(asked, ({ state, mode, stage, forced, hasImpactedTargets, situation, ...pullRequest }) => {
      const queue = aQueue({ state, settings: { mode } });
      const entry = anEntry({ stage, forced, pullRequest });
      const sentences = explained({ queue, entry, hasImpactedTargets, situation });
      expect(sentences.length).toBeGreaterThan(0);
      expect(sentences.filter((sentence) => !/^[A-Z].*\.$/.test(sentence))).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

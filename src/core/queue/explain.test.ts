import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aQueue, anEntry, endedStates, liveStates } from '../../../test/fixture/entry.ts';
import { explainWaiting, type Situation } from './explain.ts';
import { type Entry, mergeabilities, type Queue, queueStates } from './model.ts';
import { readinessOf } from './readiness.ts';

type Asked = {
  readonly queue?: Queue;
  readonly entry?: Entry;
  readonly hasImpactedTargets?: boolean;
  readonly situation?: Situation | null;
  readonly isHostAway?: boolean;
};

function explained({
  queue = aQueue(),
  entry = anEntry(),
  hasImpactedTargets = true,
  situation = pending(),
  isHostAway = false,
}: Asked) {
  const readiness = readinessOf(queue, entry, hasImpactedTargets);
  return explainWaiting(queue, entry, { readiness, situation, isHostAway });
}

type Pending = Extract<Situation, { kind: 'pending' }>;

const pending = (overrides: Partial<Pending> = {}): Pending => ({
  kind: 'pending',
  conflictsWith: null,
  before: [],
  beforeCount: 0,
  slots: 5,
  slotsTaken: 5,
  batch: null,
  ...overrides,
});

type Testing = Extract<Situation, { kind: 'testing' }>;

const testing = (overrides: Partial<Testing> = {}): Testing => ({
  kind: 'testing',
  ahead: [],
  askedMs: 120_000,
  runningMs: null,
  timesOutInMs: null,
  checks: null,
  ...overrides,
});

const notReady = (pullRequest: NonNullable<Parameters<typeof anEntry>[0]>['pullRequest'] = {}) =>
  anEntry({ stage: 'not_ready', pullRequest });

describe('an entry that is not ready', () => {
  it('is told to be retargeted, with both branches', () => {
    expect(explained({ entry: notReady({ baseBranch: 'other' }) })).toEqual([
      'Its base branch is other, and this queue lands on main: retarget the pull request to main.',
    ]);
  });

  it.each([
    ['a draft', { draft: true }, /draft.*ready for review/],
    ['a draft that its host calls not mergeable', { draft: true, mergeability: 'not_mergeable' }, /draft/],
    ['not mergeable', { mergeability: 'not_mergeable' }, /cannot be merged.*resolve conflicts/],
    ['not judged yet', { mergeability: 'unspecified' }, /not said yet.*asks again/],
    ['being judged', { mergeability: 'in_progress' }, /not said yet.*asks again/],
  ] as const)('is told what to do when it is %s', (_what, pullRequest, words) => {
    const sentences = explained({ entry: notReady(pullRequest) });
    expect(sentences).toEqual([expect.stringMatching(words)]);
  });

  it('is told how to send its impacted targets, for the very commit, in parallel mode only', () => {
    const entry = notReady({ headSha: '0123456789abcdef0123456789abcdef01234567' });
    const parallel = aQueue({ settings: { mode: 'parallel' } });
    expect(explained({ queue: parallel, entry, hasImpactedTargets: false })).toEqual([
      expect.stringMatching(/0123456789ab: upload them with setImpactedTargets, or send "ALL"/),
    ]);
    expect(explained({ entry, hasImpactedTargets: false })).toEqual([expect.stringContaining('It is ready')]);
  });

  it('is told everything that is missing at once', () => {
    const queue = aQueue({ state: 'PAUSED', settings: { mode: 'parallel' } });
    const entry = notReady({ baseBranch: 'other', mergeability: 'not_mergeable' });
    expect(explained({ queue, entry, hasImpactedTargets: false })).toEqual([
      expect.stringContaining('retarget'),
      expect.stringContaining('cannot be merged'),
      expect.stringContaining('setImpactedTargets'),
      expect.stringContaining('paused'),
    ]);
  });

  it('says that it enters the line when it is ready and the queue runs', () => {
    expect(explained({ entry: notReady() })).toEqual([expect.stringMatching(/ready.*enters the line/)]);
  });

  it('that was forced is not told about mergeability', () => {
    const entry = anEntry({
      stage: 'not_ready',
      forced: true,
      pullRequest: { mergeability: 'not_mergeable', baseBranch: 'other' },
    });
    expect(explained({ entry })).toEqual([expect.stringContaining('retarget')]);
  });

  it.each([
    ['PAUSED', /paused.*until its state is RUNNING again/],
    ['SWITCHING_MODES', /switching modes.*until what is under test has finished/],
  ] as const)('and waits only for a %s queue is told what that queue waits for', (state, words) => {
    const sentences = explained({ queue: aQueue({ state }), entry: notReady() });
    expect(sentences).toEqual([expect.stringMatching(words)]);
  });

  it('and waits only for a DRAINING queue is told that it is draining', () => {
    const sentences = explained({ queue: aQueue({ state: 'DRAINING' }), entry: notReady() });
    expect(sentences).toEqual([expect.stringMatching(/draining.*admits nothing new/)]);
  });

  it('and waits only for a DRAINING queue is told that the queue must be RUNNING again', () => {
    const sentences = explained({ queue: aQueue({ state: 'DRAINING' }), entry: notReady() });
    expect(sentences.join(' ')).toMatch(/RUNNING/);
  });
});

describe('an entry in line', () => {
  it.each([
    [pending(), 'It is next: all 5 test slots are taken, and it gets the first that is free.'],
    [pending({ before: [7], beforeCount: 1 }), '#7 is before it, and all 5 test slots are taken.'],
    [
      pending({ before: [7, 8, 9], beforeCount: 12 }),
      '#7, #8, #9 and 9 more are before it, and all 5 test slots are taken.',
    ],
    [pending({ slotsTaken: 4 }), 'It is next, and starts with the queue’s next look.'],
    [pending({ slotsTaken: 4, before: [7], beforeCount: 1 }), 'It waits for #7, before it in the line.'],
    [
      pending({ slotsTaken: 0, batch: { size: 4, waitMinutes: 5 } }),
      'Its batch fills: it starts with 4 pull requests, or when the oldest has waited 5 min.',
    ],
    [
      pending({ conflictsWith: 3 }),
      'It conflicts with #3, which is ahead of it: it waits until that one has landed or left.',
    ],
  ])('is told what is before it (%#)', (situation, sentence) => {
    expect(explained({ situation })).toEqual([sentence]);
  });

  it.each([
    ['PAUSED', /paused/],
    ['DRAINING', /draining/],
    ['SWITCHING_MODES', /switching modes/],
  ] as const)('of a %s queue is told that too', (state, words) => {
    expect(explained({ queue: aQueue({ state }) })).toEqual([
      expect.stringContaining('It is next'),
      expect.stringMatching(words),
    ]);
  });
});

describe('an entry under test', () => {
  const entry = anEntry({ stage: 'testing' });

  it.each([
    [testing(), 'Its tests were asked for 2 min ago and have not begun. It is tested on the branch.'],
    [
      testing({ ahead: [12], runningMs: 240_000, timesOutInMs: 600_000 }),
      'Its tests have run for 4 min. It times out in 10 min. It is tested on top of #12.',
    ],
    [
      testing({
        runningMs: 0,
        checks: { kind: 'open', running: ['ci/test'], missing: ['a', 'b', 'c', 'd'], begun: true },
      }),
      'Its tests have run for 0 min. Under way: ci/test. Not reported yet: a, b, c and 1 more. It is tested on the branch.',
    ],
  ])('says how far its tests are (%#)', (situation, sentence) => {
    expect(explained({ entry, situation })).toEqual([sentence]);
  });

  it.each([
    [{ kind: 'passed', ahead: [] }, 'Its tests passed: it lands next.'],
    [{ kind: 'passed', ahead: [4] }, 'Its tests passed on top of #4: it lands once #4 can.'],
    [{ kind: 'landing' }, 'It is landing: its commits are being put on the branch.'],
    [{ kind: 'retrying' }, 'CI gave no result about it. Its tests are repeated after a pause.'],
    [
      { kind: 'failed', ahead: [4], isBatch: false },
      'Its tests failed on top of #4: whether it is to blame is known once #4 has passed.',
    ],
    [
      { kind: 'failed', ahead: [4, 5], isBatch: false },
      'Its tests failed on top of #4, #5: whether it is to blame is known once #4, #5 have passed.',
    ],
    [
      { kind: 'failed', ahead: [], isBatch: true },
      'The tests of its batch failed: the culprit is searched for next.',
    ],
    [
      { kind: 'failed', ahead: [], isBatch: false },
      'Its tests failed: the next pull requests behind it are waited for before that is final.',
    ],
    [
      { kind: 'searched', suspects: [1] },
      'The tests of its batch failed, and the culprit is searched for: #1 is suspected. The others go back to the line.',
    ],
  ] as const)('says what its result waits for (%#)', (situation, sentence) => {
    expect(explained({ entry, situation })).toEqual([sentence]);
  });

  it('of a paused queue is told that it is paused, and why if the queue did that itself', () => {
    const queue = aQueue({ state: 'PAUSED', stateReason: 'The branch is gone.' });
    expect(explained({ entry, queue, situation: { kind: 'passed', ahead: [] } })).toEqual([
      'Its tests passed: it lands next.',
      expect.stringContaining('paused'),
      'The branch is gone.',
    ]);
  });

  it('is told of a host that does not answer, and of a wish to leave', () => {
    const leaving = anEntry({ stage: 'tests_passed', endRequested: 'USER_REQUESTED' });
    expect(explained({ entry: leaving, situation: { kind: 'landing' }, isHostAway: true })).toEqual([
      'Its host does not answer: nothing is decided until it does.',
      expect.stringContaining('landing'),
      'It was asked to leave, and does so unless this landing succeeds.',
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
    situation: fc.constantFrom(null, pending(), testing(), { kind: 'passed', ahead: [1] } as const),
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

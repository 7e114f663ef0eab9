import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aQueue, anEntry, endedStates, liveStates } from '../../../test/fixture/entry.ts';
import { explainWaiting } from './explain.ts';
import { type Entry, mergeabilities, type Queue, queueStates } from './model.ts';
import { readinessOf } from './readiness.ts';

type Asked = {
  readonly queue?: Queue;
  readonly entry?: Entry;
  readonly hasImpactedTargets?: boolean;
  readonly position?: number | null;
};

function explained({ queue = aQueue(), entry = anEntry(), hasImpactedTargets = true, position = 0 }: Asked) {
  return explainWaiting(queue, entry, readinessOf(queue, entry, hasImpactedTargets), position);
}

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
    [0, 'It is next in line, waiting for a free test slot.'],
    [1, 'It is in line: 1 pull request is ahead of it.'],
    [2, 'It is in line: 2 pull requests are ahead of it.'],
  ])('with %i ahead of it says so', (position, sentence) => {
    expect(explained({ position })).toEqual([sentence]);
  });

  it.each([
    ['PAUSED', /paused/],
    ['DRAINING', /draining/],
    ['SWITCHING_MODES', /switching modes/],
  ] as const)('of a %s queue says its place and what the queue does', (state, words) => {
    expect(explained({ queue: aQueue({ state }), position: 1 })).toEqual([
      'It is in line: 1 pull request is ahead of it.',
      expect.stringMatching(words),
    ]);
  });
});

describe('an entry under test', () => {
  it('says that its tests are running', () => {
    expect(explained({ entry: anEntry({ stage: 'testing' }) })).toEqual([
      expect.stringContaining('tests are running'),
    ]);
  });

  it('says what follows when its tests pass', () => {
    expect(explained({ entry: anEntry({ stage: 'testing' }) }).join(' ')).toMatch(/pass/);
  });

  it('that passed waits for what is ahead of it, or for the paused queue to run again', () => {
    const entry = anEntry({ stage: 'tests_passed' });
    expect(explained({ entry })).toEqual([
      expect.stringMatching(/passed.*everything ahead of it has landed/),
    ]);
    expect(explained({ entry, queue: aQueue({ state: 'PAUSED' }) })).toEqual([
      expect.stringMatching(/passed.*once the queue runs again/),
    ]);
  });

  it('that failed waits for the blame to be settled', () => {
    expect(explained({ entry: anEntry({ stage: 'pending_failure' }) })).toEqual([
      expect.stringMatching(/failed.*settled once everything ahead of it has passed/),
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
    position: fc.option(fc.nat(3)),
  });
  fc.assert(
    fc.property(asked, ({ state, mode, stage, forced, hasImpactedTargets, position, ...pullRequest }) => {
      const queue = aQueue({ state, settings: { mode } });
      const entry = anEntry({ stage, forced, pullRequest });
      const sentences = explained({ queue, entry, hasImpactedTargets, position });
      expect(sentences.length).toBeGreaterThan(0);
      expect(sentences.filter((sentence) => !/^[A-Z].*\.$/.test(sentence))).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

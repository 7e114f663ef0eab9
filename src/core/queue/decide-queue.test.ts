import { describe, expect, it } from 'vitest';
import { aQueue } from '../../../test/fixture/entry.ts';
import { admits, decideQueueChange, queueDifference, stopQueue } from './decide-queue.ts';
import { queueStates, settableQueueStates } from './model.ts';

const idle = false;
const underTest = true;
const switching = aQueue({
  state: 'SWITCHING_MODES',
  switching: { mode: 'parallel', returnTo: 'DRAINING' },
});

describe('a change of a queue', () => {
  it('with nothing in it leaves the queue as it is', () => {
    const queue = aQueue({ state: 'PAUSED', settings: { concurrency: 9 } });
    expect(decideQueueChange(queue, { settings: {}, state: undefined }, underTest)).toEqual({
      kind: 'accepted',
      queue,
    });
  });

  it('sets what is given and keeps the rest', () => {
    const queue = aQueue({ settings: { concurrency: 9, batch: true, requiredStatuses: ['build'] } });
    const change = { settings: { concurrency: 2, requiredStatuses: null }, state: undefined };
    expect(decideQueueChange(queue, change, underTest)).toEqual({
      kind: 'accepted',
      queue: aQueue({ settings: { concurrency: 2, batch: true, requiredStatuses: null } }),
    });
  });

  it.each(settableQueueStates.flatMap((from) => settableQueueStates.map((to) => [from, to] as const)))(
    'goes freely from %s to %s, with or without something under test',
    (from, to) => {
      for (const isAnythingUnderTest of [idle, underTest])
        expect(
          decideQueueChange(aQueue({ state: from }), { settings: {}, state: to }, isAnythingUnderTest),
        ).toEqual({ kind: 'accepted', queue: aQueue({ state: to }) });
    },
  );

  it('takes another mode at once while nothing is under test', () => {
    const change = { settings: { mode: 'parallel', batch: true }, state: undefined } as const;
    expect(decideQueueChange(aQueue({ state: 'PAUSED' }), change, idle)).toEqual({
      kind: 'accepted',
      queue: aQueue({ state: 'PAUSED', settings: { mode: 'parallel', batch: true } }),
    });
  });

  it.each(settableQueueStates)(
    'of the mode of a %s queue with something under test waits, keeps the old mode and the way back',
    (state) => {
      const change = { settings: { mode: 'parallel', batch: true }, state: undefined } as const;
      expect(decideQueueChange(aQueue({ state }), change, underTest)).toEqual({
        kind: 'accepted',
        queue: aQueue({
          state: 'SWITCHING_MODES',
          settings: { mode: 'single', batch: true },
          switching: { mode: 'parallel', returnTo: state },
        }),
      });
    },
  );

  it('of mode and state at once returns to the new state after the switch', () => {
    const change = { settings: { mode: 'parallel' }, state: 'PAUSED' } as const;
    expect(decideQueueChange(aQueue(), change, underTest)).toMatchObject({
      queue: { state: 'SWITCHING_MODES', switching: { mode: 'parallel', returnTo: 'PAUSED' } },
    });
  });

  it('to the mode it has is no switch, even with something under test', () => {
    const change = { settings: { mode: 'single' }, state: undefined } as const;
    expect(decideQueueChange(aQueue(), change, underTest)).toEqual({ kind: 'accepted', queue: aQueue() });
  });
});

describe('a queue that is switching modes', () => {
  it.each([
    ['a mode', { settings: { mode: 'single' }, state: undefined }],
    ['the mode it is switching to', { settings: { mode: 'parallel' }, state: undefined }],
    ['a state', { settings: {}, state: 'RUNNING' }],
    ['a state beside a setting', { settings: { concurrency: 1 }, state: 'PAUSED' }],
  ] as const)('refuses %s, and names the branch and the mode to come', (_what, change) => {
    for (const isAnythingUnderTest of [idle, underTest]) {
      const decision = decideQueueChange(switching, change, isAnythingUnderTest);
      expect(decision).toMatchObject({ kind: 'rejected', code: 'MODE_CHANGE_IN_PROGRESS' });
      expect(decision).toHaveProperty('message', expect.stringMatching(/main.*parallel/));
    }
  });

  it('takes other settings and continues switching', () => {
    const change = { settings: { concurrency: 3 }, state: undefined };
    expect(decideQueueChange(switching, change, underTest)).toEqual({
      kind: 'accepted',
      queue: { ...switching, settings: { ...switching.settings, concurrency: 3 } },
    });
  });
});

it('only a running queue admits', () => {
  expect(queueStates.filter((state) => admits(aQueue({ state })))).toEqual(['RUNNING']);
});

describe('a queue that stops automatically', () => {
  it('is paused and says why', () => {
    expect(stopQueue(aQueue({ state: 'DRAINING' }), 'The branch is gone.')).toEqual(
      aQueue({ state: 'PAUSED', stateReason: 'The branch is gone.' }),
    );
  });

  it('while it switches modes, is paused once it has switched', () => {
    const stopped = stopQueue(switching, 'The branch is gone.');
    expect(stopped).toMatchObject({ state: 'SWITCHING_MODES', stateReason: 'The branch is gone.' });
    expect(stopped.switching?.returnTo).toBe('PAUSED');
  });
});

describe('the difference between two looks at a queue', () => {
  it('names what changed and nothing else', () => {
    const after = aQueue({ state: 'PAUSED', settings: { requiredStatuses: ['build'] } });
    expect(queueDifference(aQueue(), after)).toEqual({
      before: { state: 'RUNNING', requiredStatuses: null },
      after: { state: 'PAUSED', requiredStatuses: ['build'] },
    });
  });

  it('counts a mode as set once it is being switched to', () => {
    const before = aQueue({ state: 'DRAINING' });
    expect(queueDifference(before, switching)).toEqual({
      before: { state: 'DRAINING', mode: 'single' },
      after: { state: 'SWITCHING_MODES', mode: 'parallel' },
    });
  });

  it('is nothing between equals', () => {
    expect(queueDifference(aQueue(), aQueue())).toBeNull();
  });
});

import { expect, it } from 'vitest';
import { aQueue } from '../../../../test/fixture/entry.ts';
import { queueChangeEvent } from './queue-event.ts';

const running = aQueue({});
const paused = aQueue({ state: 'PAUSED' });
const halted = aQueue({ state: 'PAUSED', stateReason: 'The branch is gone.' });
const switching = aQueue({
  state: 'SWITCHING_MODES',
  switching: { mode: 'parallel', returnTo: 'RUNNING' },
});
const haltedSwitching = { ...switching, stateReason: 'The branch is gone.' };
const isHalted = { action: 'halted', reason: 'The branch is gone.' };
const isRecovered = { action: 'recovered', from: 'halted', actor: 'ada' };
const changedFrom = (state: string) => ({ action: 'state_changed', previous_state: state, actor: 'ada' });

it.each([
  ['is stopped by Signalbox', running, halted, isHalted],
  ['is stopped during a switch of modes', switching, haltedSwitching, isHalted],
  ['was stopped, and its switch has ended', haltedSwitching, halted, null],
  ['is stopped for another reason', halted, { ...halted, stateReason: 'Another.' }, null],
  ['continues after it was stopped', halted, running, isRecovered],
  ['is drained after it was stopped', halted, aQueue({ state: 'DRAINING' }), isRecovered],
  ['is kept paused by a person', halted, paused, null],
  ['is paused', running, paused, changedFrom('RUNNING')],
  ['is set going again', paused, running, changedFrom('PAUSED')],
  ['ends a switch of modes', switching, running, changedFrom('SWITCHING_MODES')],
  ['gets other settings', running, aQueue({ settings: { concurrency: 2 } }), null],
])('a queue that %s', (_what, before, after, event) => {
  expect(queueChangeEvent(before, after, 'ada')).toEqual(event);
});

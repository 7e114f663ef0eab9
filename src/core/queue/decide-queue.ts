// Which changes of a queue are allowed when. RUNNING, PAUSED and DRAINING are set freely; a change of mode
// while entries are under test makes the queue SWITCHING_MODES until none is, and until then neither mode nor
// state can be set. The planner ends the switch (planner/plan.ts).

import type { ErrorCode } from '#base/error.ts';
import type { QueueChange } from './command.ts';
import type { Queue, SettableQueueState } from './model.ts';
import { changeSettings } from './settings.ts';

type QueueDecision =
  | { readonly kind: 'accepted'; readonly queue: Queue }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly message: string };

export function decideQueueChange(
  queue: Queue,
  change: QueueChange,
  isAnythingUnderTest: boolean,
): QueueDecision {
  const { mode, ...settings } = change.settings;
  if (queue.switching !== null) {
    if (mode !== undefined || change.state !== undefined)
      return {
        kind: 'rejected',
        code: 'MODE_CHANGE_IN_PROGRESS',
        message: `The queue for ${queue.targetBranch} is switching to ${queue.switching.mode} mode. Wait until the running tests have finished, then set its mode or state.`,
      };
    return { kind: 'accepted', queue: { ...queue, settings: changeSettings(queue.settings, settings) } };
  }
  const state = change.state ?? queue.state;
  // A person who sets the state has seen why the queue stopped.
  const stateReason = change.state === undefined ? queue.stateReason : null;
  const changed: Queue = { ...queue, state, stateReason, settings: changeSettings(queue.settings, settings) };
  if (mode === undefined || mode === queue.settings.mode) return { kind: 'accepted', queue: changed };
  if (!isAnythingUnderTest)
    return { kind: 'accepted', queue: { ...changed, settings: { ...changed.settings, mode } } };
  // A queue that is not switching has one of the settable states.
  const returnTo = state as SettableQueueState;
  return {
    kind: 'accepted',
    queue: { ...changed, state: 'SWITCHING_MODES', switching: { mode, returnTo } },
  };
}

/** Whether a queue in this state admits ready entries. */
export const admits = (queue: Queue): boolean => queue.state === 'RUNNING';

/** The queue stopped until a person has acted; a queue that switches modes stops after the switch. */
export function stopQueue(queue: Queue, stateReason: string): Queue {
  if (queue.switching === null) return { ...queue, state: 'PAUSED', stateReason };
  return { ...queue, switching: { ...queue.switching, returnTo: 'PAUSED' }, stateReason };
}

type QueueFieldValues = Readonly<Record<string, unknown>>;

/** The fields that can be set, by name; the target mode of a switch counts as set. */
const sayable = ({ state, stateReason, switching, settings }: Queue): QueueFieldValues => ({
  state,
  stateReason,
  ...settings,
  mode: switching?.mode ?? settings.mode,
});

/** The differences between two states of a queue, by name; null: none. */
export function queueDifference(
  before: Queue,
  after: Queue,
): { readonly before: QueueFieldValues; readonly after: QueueFieldValues } | null {
  const [old, now] = [sayable(before), sayable(after)];
  const names = Object.keys(now).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  if (names.length === 0) return null;
  const pick = (said: QueueFieldValues): QueueFieldValues =>
    Object.fromEntries(names.map((name) => [name, said[name]]));
  return { before: pick(old), after: pick(now) };
}

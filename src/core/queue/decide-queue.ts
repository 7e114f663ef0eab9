// What may be changed on a queue when. RUNNING, PAUSED and DRAINING are set freely; a change of mode with something
// under test makes the queue SWITCHING_MODES until nothing is, and until then neither mode nor state can be set.

import type { ErrorCode } from '#base/error.ts';
import type { QueueChange } from './command.ts';
import type { Queue, SettableQueueState } from './model.ts';

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
        message: `The queue for ${queue.targetBranch} is switching to ${queue.switching.mode} mode. Wait until nothing is under test, then set its mode or state.`,
      };
    return { kind: 'accepted', queue: { ...queue, settings: { ...queue.settings, ...settings } } };
  }
  const state = change.state ?? queue.state;
  // Whoever sets the state has seen why the queue stopped.
  const stateReason = change.state === undefined ? queue.stateReason : null;
  const changed: Queue = { ...queue, state, stateReason, settings: { ...queue.settings, ...settings } };
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

/** The queue once nothing is under test any more; the same queue if it is not switching. */
export function finishModeSwitch(queue: Queue): Queue {
  if (queue.switching === null) return queue;
  const { mode, returnTo } = queue.switching;
  return { ...queue, state: returnTo, settings: { ...queue.settings, mode }, switching: null };
}

/** Whether a queue in this state lets ready entries into the line. */
export const admits = (queue: Queue): boolean => queue.state === 'RUNNING';

/** The queue stopped until a person has looked; one that switches modes stops as soon as it has. */
export function stopQueue(queue: Queue, stateReason: string): Queue {
  if (queue.switching === null) return { ...queue, state: 'PAUSED', stateReason };
  return { ...queue, switching: { ...queue.switching, returnTo: 'PAUSED' }, stateReason };
}

type Said = Readonly<Record<string, unknown>>;

/** What can be set, by name; a mode that is being switched to counts as set. */
const sayable = ({ state, stateReason, switching, settings }: Queue): Said => ({
  state,
  stateReason,
  ...settings,
  mode: switching?.mode ?? settings.mode,
});

/** What differs between two looks at a queue, by name; null: nothing. */
export function queueDifference(
  before: Queue,
  after: Queue,
): { readonly before: Said; readonly after: Said } | null {
  const [old, now] = [sayable(before), sayable(after)];
  const names = Object.keys(now).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  if (names.length === 0) return null;
  const pick = (said: Said): Said => Object.fromEntries(names.map((name) => [name, said[name]]));
  return { before: pick(old), after: pick(now) };
}

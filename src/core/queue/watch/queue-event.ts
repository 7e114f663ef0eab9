// What is sent when the state of a queue changes.

import type { Queue, QueueState } from '../model.ts';

export type QueueChangeEvent =
  /** Signalbox stopped the queue until a person has acted. */
  | { readonly action: 'halted'; readonly reason: string }
  /** A queue that Signalbox stopped continues. */
  | { readonly action: 'recovered'; readonly from: 'halted'; readonly actor: string }
  /** Any other change of the state. */
  | { readonly action: 'state_changed'; readonly previous_state: QueueState; readonly actor: string };

/** Null: nothing is sent. */
export function queueChangeEvent(before: Queue, after: Queue, actor: string): QueueChangeEvent | null {
  if (after.stateReason !== null && before.stateReason === null)
    return { action: 'halted', reason: after.stateReason };
  if (before.stateReason !== null && after.stateReason === null && after.state !== 'PAUSED')
    return { action: 'recovered', from: 'halted', actor };
  if (after.state === before.state) return null;
  // The switch of a mode during which Signalbox stopped the queue has ended. The event was sent when it stopped it.
  if (after.stateReason !== null) return null;
  return { action: 'state_changed', previous_state: before.state, actor };
}

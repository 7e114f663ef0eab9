// An open entry as a reconcile reads it, and how far a process has read.

import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { InputEntry } from '#core/queue/engine/reconcile-input.ts';

/** An entry, with what a reconcile needs in addition to the queue state. */
export type OpenEntry = {
  readonly shown: InputEntry;
  /** The stored position; null: the entry is not in the queue. */
  readonly place: LinePlace | null;
  /** Whether a status comment is due; soon, if the attempt starts or has ended. */
  readonly statusCommentDue: 'not' | 'soon' | 'later';
  /** The status comment shows the present state. */
  readonly isStatePosted: boolean;
  /** The entry has impacted targets, which are read separately if the queue has parallel lanes. */
  readonly hasTargets: boolean;
};

/** Everything up to this point was read. */
export type Horizon = { readonly horizon: string; readonly incarnation: string };

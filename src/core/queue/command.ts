// What may be asked of a queue or observed about a pull request. Parsed at the edges; decide.ts answers.

import type { HeadReview, PullRequest } from './model.ts';
import type { CancelledReason, QueuedReason } from './reason.ts';
import type { QueueSettings } from './settings.ts';
import type { SettableQueueState } from './model.ts';

export type EntryCommand =
  | {
      readonly kind: 'submit';
      /** As the host reports it now. */
      readonly pullRequest: PullRequest;
      /** Null: the default. */
      readonly priority: number | null;
      readonly noBatch: boolean;
      readonly force: boolean;
      /** Larger than that of every earlier submission. */
      readonly seniority: number;
      readonly actor: string;
    }
  | { readonly kind: 'cancel'; readonly reason: CancelledReason; readonly actor: string }
  | {
      readonly kind: 'restart';
      readonly reason: Extract<QueuedReason, 'TESTS_RESTARTED_BY_USER' | 'TESTS_RESTARTED_BY_API_REQUEST'>;
      readonly actor: string;
    }
  /** The pull request as the Git host reports it now; null if the Git host no longer has it. */
  | { readonly kind: 'observe'; readonly pullRequest: PullRequest | null }
  /** What Signalbox found out about a head. */
  | { readonly kind: 'examine'; readonly review: HeadReview }
  /** Whether a head merges with its base, tried while the Git host is still computing that. */
  | { readonly kind: 'try'; readonly headSha: string; readonly isMergeable: boolean };

/** A change to a queue's settings and state; what is absent stays. */
export type QueueChange = {
  readonly settings: Partial<QueueSettings>;
  readonly state: SettableQueueState | undefined;
};

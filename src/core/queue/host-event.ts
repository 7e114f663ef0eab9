// What hosts tell us by webhooks, whatever the host.

import type { Check } from './check.ts';
import type { RepositoryName } from '../repository.ts';

/** What a webhook told us. It is signed, so what it says of a check or a branch is believed as it is. */
export type HostEvent =
  /** Only that something changed: the host is asked for the rest. */
  | { readonly kind: 'pull-request-changed'; readonly repository: RepositoryName; readonly number: number }
  | {
      readonly kind: 'check-changed';
      readonly repository: RepositoryName;
      readonly sha: string;
      readonly check: Check;
    }
  /** Null: the branch is gone. */
  | {
      readonly kind: 'branch-moved';
      readonly repository: RepositoryName;
      readonly branch: string;
      readonly sha: string | null;
    }
  /** Somebody wrote on a pull request. */
  | ({ readonly kind: 'comment-written'; readonly repository: RepositoryName } & WrittenComment)
  /** A label was put on a pull request or taken off it. */
  | {
      readonly kind: 'label-changed';
      readonly repository: RepositoryName;
      readonly number: number;
      readonly label: string;
      readonly isOn: boolean;
      /** Null where the host lets only those who may write do so, and does not say who it was. */
      readonly by: string | null;
    };

export type WrittenComment = {
  readonly number: number;
  /** As the host names it: each is heard once. */
  readonly commentId: string;
  readonly author: string;
  /** At most 64 KiB. */
  readonly text: string;
};

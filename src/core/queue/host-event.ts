// What hosts tell us by webhooks, whatever the host.

import type { Check } from './check.ts';
import type { RepositoryName } from '../repository.ts';

/** A repository as an event names it. */
type NamedRepository = RepositoryName & {
  /** By which the host knows it whatever its name is; absent: the host names none, or the event does not. */
  readonly hostId?: string;
};

/** What a webhook told us. It is signed, so what it says of a check or a branch is believed as it is. */
export type HostEvent =
  /** Only that something changed: the host is asked for the rest. */
  | {
      readonly kind: 'pull-request-changed';
      readonly repository: NamedRepository;
      readonly number: number;
      /** Where the event says which head the pull request has got: the head, with the instant in milliseconds by the host's clock, or null where the host does not name it. */
      readonly head?: { readonly sha: string; readonly at: number | null };
    }
  | {
      readonly kind: 'check-changed';
      readonly repository: NamedRepository;
      readonly sha: string;
      readonly check: Check;
    }
  /** Null: the branch is gone. */
  | {
      readonly kind: 'branch-moved';
      readonly repository: NamedRepository;
      readonly branch: string;
      readonly sha: string | null;
    }
  /** Somebody wrote on a pull request. */
  | ({ readonly kind: 'comment-written'; readonly repository: NamedRepository } & WrittenComment)
  /**
   * Labels of a pull request changed, or a poll found the label on. It is a hint and no command: the host is asked who
   * changed the label last and when (`Host.readLabel`), so that a webhook sent a second time decides nothing.
   */
  | {
      readonly kind: 'label-changed';
      readonly repository: NamedRepository;
      readonly number: number;
      /** The label that came or went; null where the host does not say which. */
      readonly label: string | null;
      /** The labels that the pull request has after the change. */
      readonly labels: readonly string[];
    };

/** The repository was renamed or transferred: the event names it as it is called now. */
export type RepositoryMoved = { readonly kind: 'repository-moved'; readonly repository: NamedRepository };

export type WrittenComment = {
  readonly number: number;
  /** As the host names it: each is read once. */
  readonly commentId: string;
  readonly author: string;
  /** At most 64 KiB. */
  readonly text: string;
  /** Milliseconds by the host's clock. Comments that were edited are no events at all: their text need not be their author's. */
  readonly writtenAt: number;
};

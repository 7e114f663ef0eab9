// Webhook events of any Git host.

import type { Check } from './check.ts';
import type { RepositoryName } from '../repository.ts';

/** A repository as an event names it. */
type NamedRepository = RepositoryName & {
  /** The host's id of the repository, which survives a rename; absent: the host or the event has none. */
  readonly hostId?: string;
};

/** The content of a webhook. It is signed, so what it reports about a check or a branch is trusted. */
export type HostEvent =
  /** Reports only that something changed: the rest is read from the host. */
  | {
      readonly kind: 'pull-request-changed';
      readonly repository: NamedRepository;
      readonly number: number;
      /**
       * If the event names the new head of the pull request: the head, and the time in milliseconds by the
       * host's clock, or null if the host does not give it.
       */
      readonly head?: { readonly sha: string; readonly at: number | null };
    }
  | {
      readonly kind: 'check-changed';
      readonly repository: NamedRepository;
      readonly sha: string;
      readonly check: Check;
    }
  /** Null: the branch was deleted. */
  | {
      readonly kind: 'branch-moved';
      readonly repository: NamedRepository;
      readonly branch: string;
      readonly sha: string | null;
      /** The pushed commits change files of CI; absent: they do not, or the event does not list their files. */
      readonly changesWorkflows?: true;
    }
  /** A comment was written on a pull request, or an action of Signalbox's check was clicked. */
  | ({ readonly kind: 'comment-written'; readonly repository: NamedRepository } & WrittenComment)
  /**
   * Labels of a pull request changed, or a poll found the label. This is a hint and no command: the host is
   * asked who changed the label last and when (`Host.readLabel`), so that a webhook sent a second time
   * decides nothing.
   */
  | {
      readonly kind: 'label-changed';
      readonly repository: NamedRepository;
      readonly number: number;
      /** The label that was added or removed; null if the host does not name it. */
      readonly label: string | null;
      /** The labels that the pull request has after the change. */
      readonly labels: readonly string[];
    };

/** The repository was renamed or transferred: the event carries its current name. */
export type RepositoryMoved = { readonly kind: 'repository-moved'; readonly repository: NamedRepository };

export const checkActionIds = ['cancel', 'restart', 'requeue'] as const;
export type CheckActionId = (typeof checkActionIds)[number];

/** A click on an action of Signalbox's own check on this head. */
export type RequestedAction = { readonly id: CheckActionId; readonly headSha: string };

export type WrittenComment = {
  readonly number: number;
  /** The host's id of the comment, or one of the click: each is processed once. */
  readonly commentId: string;
  readonly author: string;
  /** At most 64 KiB. */
  readonly text: string;
  /**
   * Milliseconds by the host's clock; of a click: an instant before it. An edited comment is no event: it need not be its
   * author's text.
   */
  readonly writtenAt: number;
  /** The click, which has no text; absent: it is a comment. */
  readonly action?: RequestedAction;
};

// What a repository host must do. Adapters know nothing of each other; http and job get one by `hostFor`.
//
// Errors: an adapter throws an AppError with code HOST_ERROR when the host answers with an error or not at all;
// "there is no such thing" is an answer, not an error.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { RepositoryName } from '#core/repository.ts';

export type HostRepository = RepositoryName & {
  readonly id: RepositoryId;
  readonly organizationId: OrganizationId;
};

export type PullRequestQuery = {
  readonly repository: HostRepository;
  readonly number: number;
  /** The branch of the queue that asks. A real host has its own word on the base; the sandbox makes it up from this. */
  readonly targetBranch: string;
};

/** What a webhook told us: only that something changed. The host is asked for the rest. */
type HostEvent = {
  readonly kind: 'pull-request-changed';
  readonly repository: RepositoryName;
  readonly number: number;
};

export type WebhookDelivery = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly secret: string;
};

export type WebhookResult =
  | { readonly kind: 'accepted'; readonly events: readonly HostEvent[] }
  /** The signature does not match: nothing of it is believed. */
  | { readonly kind: 'refused'; readonly reason: string };

export type Host = {
  readonly kind: 'sandbox' | 'github' | 'gitea';
  /**
   * Whether the organization has this repository here. A host on which repositories exist as soon as they are named
   * answers `implicit`; the caller then makes the row when it first needs one.
   */
  readonly repositories: 'implicit' | 'connected';
  /** The pull request as the host reports it now; null if it knows no such number. */
  readonly readPullRequest: (query: PullRequestQuery) => Promise<PullRequest | null>;
  readonly parseWebhook: (delivery: WebhookDelivery) => WebhookResult;
};

/** The host that serves a host name for an organization; null when none does. */
export type HostFor = (cellName: string, hostName: string) => Host | null;

// What a repository host must do. Adapters know nothing of each other; http and job get one by `hostFor`.
//
// Errors: an adapter throws a HostError that says of which sort it is; "there is no such thing" is an answer, not an
// error.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { Check } from '#core/queue/check.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
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

/** Why a host could not do what it was asked. */
type HostTrouble =
  /** It answers with 5xx, or not at all: later it may. */
  | 'unavailable'
  /** It answers that we ask too much. */
  | 'rate_limited'
  /** It knows us and will not do this. */
  | 'forbidden';

export class HostError extends Error {
  readonly trouble: HostTrouble;
  /** What the host asked us to wait; null if it did not say. */
  readonly retryAfterMs: number | null;

  constructor(
    trouble: HostTrouble,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HostError';
    this.trouble = trouble;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Where git fetches from and pushes to. What lets us in is never part of the address. */
export type GitRemote = { readonly url: string; readonly headers?: readonly string[] };

/** A ref of the host that we moved: null is "not there". */
export type RefUpdate = { readonly ref: string; readonly from: string | null; readonly to: string | null };

export type MergeRequest = {
  readonly repository: HostRepository;
  readonly number: number;
  readonly targetBranch: string;
  readonly method: QueueSettings['mergeMethod'];
  /** The host merges only this head. */
  readonly headSha: string;
  readonly title: string;
  readonly message: string;
};

export type MergeAnswer =
  | { readonly kind: 'merged'; readonly sha: string }
  /** It was pushed to meanwhile. */
  | { readonly kind: 'head-moved' }
  | { readonly kind: 'refused'; readonly message: string };

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
  /** Everything CI has said of a commit. */
  readonly readChecks: (repository: HostRepository, sha: string) => Promise<readonly Check[]>;
  /** The checks that the protection of a branch requires; null if it is not protected. */
  readonly readRequiredChecks: (
    repository: HostRepository,
    branch: string,
  ) => Promise<readonly string[] | null>;
  readonly remoteOf: (repository: HostRepository) => Promise<GitRemote>;
  /** After a push of ours: a host that does not notice pushes by itself is told here. */
  readonly afterPush: (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;
  /** Whether the host shows a pull request as merged when commits made by this method are pushed. */
  readonly showsPushedAsMerged: (method: QueueSettings['mergeMethod']) => boolean;
  /** After its commits were pushed: the host shows the pull request as merged by this commit. */
  readonly markMerged: (repository: HostRepository, number: number, sha: string) => Promise<void>;
  /** The host's own merge call. Asked twice for what it merged already it answers with that merge. */
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  readonly parseWebhook: (delivery: WebhookDelivery) => WebhookResult;
};

/** The host that serves a host name for an organization; null when none does. */
export type HostFor = (cellName: string, hostName: string) => Host | null;

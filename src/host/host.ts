// What a repository host must do. Adapters know nothing of each other; http and job get one by `hostFor`.
//
// Errors: an adapter throws a HostError that says of which sort it is; "there is no such thing" is an answer, not an
// error.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Approval } from '#core/queue/approval.ts';
import type { HostEvent, RepositoryMoved } from '#core/queue/host-event.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { ActiveRule, LandingWay } from './rule.ts';

export type HostRepository = RepositoryName & {
  readonly id: RepositoryId;
  readonly organizationId: OrganizationId;
};

export type PullRequestQuery = {
  readonly repository: HostRepository;
  readonly number: number;
  /** The branch of the queue that asks. A real host has its own word on the base; the sandbox makes it up from this. */
  readonly targetBranch: string;
  /**
   * The pull request is about to land: what was read before this instant (`performance.now()`) may not be part of the
   * answer. Absent: it may.
   */
  readonly asOf?: number;
};

/** Several pull requests of a repository at once. */
export type PullRequestsQuery = Omit<PullRequestQuery, 'number'> & {
  readonly numbers: readonly number[];
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
  /**
   * The caller has read the pull request since this instant (`performance.now()`) and would merge it: the host need not
   * read it once more before the call. Absent: it must.
   */
  readonly asOf?: number;
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
  | {
      readonly kind: 'accepted';
      readonly events: readonly HostEvent[];
      /** Absent: none. */
      readonly moved?: readonly RepositoryMoved[];
    }
  /** The signature does not match: nothing of it is believed. */
  | { readonly kind: 'refused'; readonly reason: string };

/** What a person may do in a repository: each includes those before it. */
export const permissions = ['none', 'read', 'write', 'admin'] as const;
export type Permission = (typeof permissions)[number];

/** What the host's own record says of a label on a pull request. */
export type LabelState = {
  /** Whether the pull request has the label now. */
  readonly isOn: boolean;
  /** The last change of it; null: there was none, or Signalbox made it. */
  readonly lastChange: {
    readonly isOn: boolean;
    /** Null: the host names no account, for example because it was deleted. */
    readonly by: string | null;
    /** By the host's clock. */
    readonly at: Date;
  } | null;
};

/** A draft pull request that shows a test branch, so that CI which only looks at pull requests tests it. */
export type TestPullRequest = {
  readonly branch: string;
  readonly baseBranch: string;
  readonly title: string;
  readonly body: string;
};

/** The CI of a test branch that Signalbox no longer needs. */
export type DeadRun = { readonly branch: string; readonly sha: string };

export type StopAnswer =
  /** How many CI runs were still under way and were stopped; 0 if none was. */
  | { readonly kind: 'stopped'; readonly count: number }
  /** The host, or its version, has no call for it. */
  | { readonly kind: 'cannot'; readonly reason: string };

/** Our one comment on a pull request: written once, then edited in place. */
export type StatusComment = {
  /** Null until it is known to be there. */
  readonly id: string | null;
  /** An earlier attempt may have written it without our knowing: it is looked for by its mark before a new one is made. */
  readonly mayExist: boolean;
  /** Stands invisibly in the text; the host adds it. */
  readonly mark: string;
  /** Markdown. */
  readonly body: string;
};

/** Our own check on the head of a pull request. */
export type OwnCheck = {
  /** Whether one of this name may be there already, as for comments; absent: it may. */
  readonly mayExist?: boolean;
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure';
  /** One line, at most 140 characters. */
  readonly title: string;
  /** Markdown, for hosts that show more than a line. */
  readonly summary: string;
  readonly url: string;
};

/** What a host says of a repository and its branch when it is asked whether a queue can work there (core/doctor.ts). */
export type Inspection = {
  /** As the host calls itself, such as `Gitea 1.26.0`. */
  readonly version: string;
  /** What our own account may do; null: the repository is not there, or not for us. */
  readonly own: Permission | null;
  readonly webhooks:
    | readonly {
        readonly url: string;
        readonly isActive: boolean;
        /** By our names: what it tells us of. */
        readonly tells: readonly HostEvent['kind'][];
        /** The last delivery, where the host says how it went. */
        readonly lastStatus: number | null;
      }[]
    /** Only those who may do more than we can read them. */
    | null;
  readonly branchExists: boolean;
  /** Null: the branch is not protected. */
  readonly protection: {
    readonly requiredChecks: readonly string[];
    /** Whether we may push to it, as landing by fast-forward does. */
    readonly letsUsPush: boolean;
    /** Whether the host lets our merge call through. */
    readonly letsUsMerge: boolean;
    /** A pull request must contain the tip before the host merges it. */
    readonly needsUpToDate: boolean;
    readonly approvals: number;
  } | null;
  /** The rule that keeps us from making or removing test branches; null: none does. */
  readonly testBranchRule: string | null;
  readonly mergeMethods: readonly QueueSettings['mergeMethod'][];
  /** Whether the host lets us say that a pull request was merged by a push. */
  readonly marksMerged: boolean;
  /** Names of checks that reported on the branch or its pull requests lately. */
  readonly recentChecks: readonly string[];
  /** Those of them that reported on heads of pull requests. */
  readonly recentHeadChecks: readonly string[];
  /** Whether anybody but us may update the branch; null: the host does not show us. */
  readonly othersMayUpdate: boolean | null;
  /** Whether anybody but us may create test branches; null: the host does not show us. */
  readonly othersMayCreateTestBranches: boolean | null;
  /** CI configuration on the branch; null: the host does not show us. */
  readonly workflows: readonly WorkflowFile[] | null;
  /** Whether workflows get a token that may write unless they say otherwise; null: the host does not show us. */
  readonly workflowTokenWrites: boolean | null;
  /** What Signalbox cannot do for lack of an optional permission, one sentence each. */
  readonly lost: readonly string[];
};

/** A file of GitHub, Gitea or Forgejo Actions. */
export type WorkflowFile = { readonly path: string; readonly text: string };
/** A person or an account, as the author or committer of a commit. */
export type CommitPerson = { readonly name: string; readonly email: string };

export type Host = {
  readonly kind: 'sandbox' | 'github' | 'gitea';
  /**
   * Whether the organization has this repository here. A host on which repositories exist as soon as they are named
   * answers `implicit`; the caller then makes the row when it first needs one.
   */
  readonly repositories: 'implicit' | 'connected';
  /** The pull request as the host reports it now; null if it knows no such number. */
  readonly readPullRequest: (query: PullRequestQuery) => Promise<PullRequest | null>;
  /** The same for many in one call, on hosts that have one; a number that the host does not know is absent. */
  readonly readPullRequests?: (query: PullRequestsQuery) => Promise<ReadonlyMap<number, PullRequest>>;
  /** The approvals of a pull request that stand, each with the commit that was approved. */
  readonly readApprovals: (repository: HostRepository, number: number) => Promise<readonly Approval[]>;
  /**
   * Whether `in_progress` leaves nothing open but whether the head goes together with its base: then it is tried in our
   * own mirror, and nobody has to ask again.
   */
  readonly leavesMergeToTry: boolean;
  /** Everything CI has said of a commit. */
  readonly readChecks: (repository: HostRepository, sha: string) => Promise<readonly Check[]>;
  /** The same of many commits in one call, on hosts that have one. */
  readonly readChecksOf?: (
    repository: HostRepository,
    shas: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly Check[]>>;
  /**
   * The checks that the protection of a branch requires, with the source it binds; null if it is not protected. What was
   * read a moment ago may be the answer, unless that was before `asOf` (`performance.now()`).
   */
  readonly readRequiredChecks: (
    repository: HostRepository,
    branch: string,
    options?: { readonly asOf?: number | undefined },
  ) => Promise<readonly RequiredCheck[] | null>;
  readonly remoteOf: (repository: HostRepository) => Promise<GitRemote>;
  /** After a push of ours: a host that does not notice pushes by itself is told here. */
  readonly afterPush: (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;
  /** Whether the host shows a pull request as merged when commits made by this method are pushed. */
  readonly showsPushedAsMerged: (method: QueueSettings['mergeMethod']) => boolean;
  /** After its commits were pushed: the host shows the pull request as merged by this commit. */
  readonly markMerged: (repository: HostRepository, number: number, sha: string) => Promise<void>;
  /**
   * The branch of the repository itself that a pull request was opened from, which Signalbox may push to; null: it is in a
   * fork, or the host shows pushed commits as merged without it.
   */
  readonly headBranchOf: (repository: HostRepository, number: number) => Promise<string | null>;
  /** Closes a pull request without merging it; nothing happens to one that is not open. */
  readonly closePullRequest: (repository: HostRepository, number: number) => Promise<void>;
  /** The host's own merge call. Asked twice for what it merged already it answers with that merge. */
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  /**
   * The git reference under which the host keeps its own trial merge of a pull request: what its merge call would put on
   * the branch. Reading the pull request makes the host update it, after a moment. Null: the host keeps none.
   */
  readonly trialMergeRef: (number: number) => string | null;
  readonly parseWebhook: (delivery: WebhookDelivery) => WebhookResult;
  /** Whether the repository is there and we are let in, with the host's own spelling; null if not. */
  readonly findRepository: (
    organizationId: OrganizationId,
    repository: RepositoryName,
  ) => Promise<RepositoryName | null>;
  /** Opens a draft pull request for a test branch; the one that is open for it already, if there is one. It closes when the branch is deleted. */
  readonly openTestPullRequest: (repository: HostRepository, wish: TestPullRequest) => Promise<number>;
  /** Writes or edits our comment and answers with its id; one that somebody deleted is written anew. */
  readonly writeComment: (
    repository: HostRepository,
    number: number,
    comment: StatusComment,
  ) => Promise<string>;
  readonly writeCheck: (repository: HostRepository, sha: string, check: OwnCheck) => Promise<void>;
  /** The share of what the host lets us write within an hour that is used up, 0 to 1; absent: it sets no limit. */
  readonly contentUse?: (repository: HostRepository) => Promise<number>;
  /** Comment and check in one call, on hosts that have one; answers with the id of the comment. */
  readonly writeStatus?: (
    repository: HostRepository,
    number: number,
    status: { readonly sha: string; readonly check: OwnCheck; readonly comment: StatusComment },
  ) => Promise<string>;
  /** Labels that are not there to be removed, or are there to be added, are no error; unknown ones are made. */
  readonly changeLabels: (
    repository: HostRepository,
    number: number,
    change: { readonly add: readonly string[]; readonly remove: readonly string[] },
  ) => Promise<void>;
  /**
   * How the host names an account in commits that it makes for it; null as the login is our own account. Null: it has no
   * such account, or no names for commits.
   */
  readonly readPerson: (repository: HostRepository, login: string | null) => Promise<CommitPerson | null>;
  readonly permissionOf: (repository: HostRepository, person: string) => Promise<Permission>;
  /** `asOf`: the caller has read the pull request since this instant, which may be part of the answer. */
  readonly readLabel: (
    repository: HostRepository,
    number: number,
    label: string,
    options?: { readonly asOf?: number | undefined },
  ) => Promise<LabelState>;
  /**
   * When the pull request got this head, by the host's clock: an instant that no earlier act can be about. The epoch: it
   * had the head from its beginning. Null: the host does not say.
   */
  readonly headSince: (repository: HostRepository, number: number, headSha: string) => Promise<Date | null>;
  /**
   * What people wrote and labelled since an instant, for what webhooks missed: comments, and the open pull requests that
   * have the label now. The same may be told twice.
   */
  readonly readWords: (
    repository: HostRepository,
    since: Date,
    label: string,
  ) => Promise<readonly HostEvent[]>;
  readonly inspect: (repository: HostRepository, branch: string) => Promise<Inspection>;
  /**
   * The rules that are active for a branch, with those of our method and way that we would break. Read before each
   * landing: see `uncheckedRulesReason`.
   */
  readonly readRules: (
    repository: HostRepository,
    branch: string,
    landing: {
      readonly method: QueueSettings['mergeMethod'];
      readonly way: LandingWay;
      /** As for `readRequiredChecks`. */
      readonly asOf?: number;
    },
  ) => Promise<readonly ActiveRule[]>;
  /** Stops CI that still works on a test branch. Asked twice, the second answer counts none. */
  readonly stopRuns: (repository: HostRepository, dead: DeadRun) => Promise<StopAnswer>;
};

/** The host that serves a host name for an organization; null when none does. */
export type HostFor = (cellName: string, hostName: string) => Host | null;

// The interface of a Git host. Adapters know nothing of each other; http and job get one by `hostFor`.
//
// Errors: an adapter throws a HostError with its kind of trouble. "There is no such thing" is an answer, no error.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Approval } from '#core/queue/rule/approval.ts';
import type { HostEvent, RepositoryMoved } from '#core/queue/host-event.ts';
import type { CheckAction } from '#core/queue/text/check-action.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { HostAccess } from './host-access.ts';
import type { IssueAnswer, OwnIssue } from './own-issue.ts';
import type { FileProposal, ProposalAnswer } from './proposal.ts';
import type { ActiveRule, LandingWay } from './rule.ts';
import type { WantedWebhook, WebhookAnswer } from './wanted-webhook.ts';
import type { WorkflowFile } from './workflow.ts';

export type HostRepository = RepositoryName & {
  readonly id: RepositoryId;
  readonly organizationId: OrganizationId;
};

export type PullRequestQuery = {
  readonly repository: HostRepository;
  readonly number: number;
  /**
   * The pull request is about to land on this branch: nothing that was read before `asOf`
   * (`performance.now()`) may be part of the answer. Absent: it may.
   */
  readonly landing?: { readonly branch: string; readonly asOf: number };
};

/** Several pull requests of a repository at once. */
export type PullRequestsQuery = Omit<PullRequestQuery, 'number'> & {
  readonly numbers: readonly number[];
};

/** Why a host could not serve a request. */
type HostTrouble =
  /** It answers with 5xx or not at all. A retry may succeed. */
  | 'unavailable'
  /** It reports that Signalbox sends too many requests. */
  | 'rate_limited'
  /** It refuses the request. */
  | 'forbidden';

export class HostError extends Error {
  readonly trouble: HostTrouble;
  /** The wait that the host asked for; null if it did not say. */
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

/** Where git fetches from and pushes to. Credentials are never part of the URL. */
export type GitRemote = { readonly url: string; readonly headers?: readonly string[] };

/** A ref of the host that Signalbox moved; null: the ref does not exist. */
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
   * The caller has read the pull request since this instant (`performance.now()`) and would merge it: the
   * host need not read it again before the call. Absent: it must.
   */
  readonly asOf?: number;
};

export type MergeAnswer =
  | { readonly kind: 'merged'; readonly sha: string }
  /** The pull request was pushed to meanwhile. */
  | { readonly kind: 'head-moved' }
  | { readonly kind: 'refused'; readonly message: string };

export type IncomingWebhook = {
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
  /** The signature does not match: nothing in the delivery is trusted. */
  | { readonly kind: 'refused'; readonly reason: string };

/** What a person may do in a repository. Each permission includes those before it. */
export const permissions = ['none', 'read', 'write', 'admin'] as const;
export type Permission = (typeof permissions)[number];

/** The host's own record of a label on a pull request. */
export type LabelState = {
  /** Whether the pull request has the label now. */
  readonly isOn: boolean;
  /** The last change of the label; null: there was none, or Signalbox made it. */
  readonly lastChange: {
    readonly isOn: boolean;
    /** Null: the host names no account, for example because it was deleted. */
    readonly by: string | null;
    /** By the host's clock. */
    readonly at: Date;
  } | null;
};

/** A draft pull request for a test branch, for CI that runs only on pull requests. */
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

/** The failed jobs of a commit that are to run again on it. */
export type FailedJobs = {
  readonly sha: string;
  /** The check suites of their checks. */
  readonly suites: readonly string[];
  /** When the last of them ended, in milliseconds by the clock of the Git host. */
  readonly after: number;
};

export type RerunAnswer =
  | { readonly kind: 'requested' }
  /** The attempt that failed has not ended as a whole. */
  | { readonly kind: 'busy' }
  /** The host has no call for it, or refuses it. */
  | { readonly kind: 'cannot'; readonly reason: string };

/** Signalbox's one comment on a pull request: written once, then edited in place. */
export type StatusComment = {
  /** Null until the comment is known to exist. */
  readonly id: string | null;
  /** An earlier call may have written it without recording that: it is searched for by its mark. */
  readonly mayExist: boolean;
  /** Invisible in the text; the host adds it. */
  readonly mark: string;
  /** Markdown. */
  readonly body: string;
};

/** Signalbox's own check on the head of a pull request. */
export type OwnCheck = {
  /** Whether a check of this name may exist already, as for comments; absent: it may. */
  readonly mayExist?: boolean;
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure' | 'cancelled';
  /** One line, at most 140 characters. */
  readonly title: string;
  /** Markdown, for hosts that show more than a line. */
  readonly summary: string;
  readonly url: string;
  /** A click on an action, on hosts that have them, is reported as a comment on this pull request. */
  readonly number: number;
  readonly actions: readonly CheckAction[];
};

/** A commit status has no word for an entry that was cancelled: `error` ends it without a verdict on the change. */
export const toStatusState = ({ state }: Pick<OwnCheck, 'state'>) =>
  state === 'cancelled' ? 'error' : state;

/** What a host reports about a repository and its branch; doctor.ts decides whether a queue can work there. */
export type Inspection = {
  /** Product and version, such as `Gitea 1.26.0`. */
  readonly version: string;
  /**
   * The permission of Signalbox's own account; null: the repository does not exist, or is not visible to it.
   */
  readonly own: Permission | null;
  readonly webhooks:
    | readonly {
        readonly url: string;
        readonly isActive: boolean;
        /** The events that the webhook reports, by our names. */
        readonly events: readonly HostEvent['kind'][];
        /** The status of the last delivery; null: the host does not report it. */
        readonly lastStatus: number | null;
      }[]
    /** Reading webhooks needs more rights than Signalbox has. */
    | null;
  readonly branchExists: boolean;
  /** Null: the branch is not protected. */
  readonly protection: {
    readonly requiredChecks: readonly string[];
    /** Whether Signalbox may push to the branch, as landing by fast-forward does. */
    readonly letsUsPush: boolean;
    /** Whether the host accepts Signalbox's merge call. */
    readonly letsUsMerge: boolean;
    /** A pull request must contain the tip before the host merges it. */
    readonly needsUpToDate: boolean;
    readonly approvals: number;
  } | null;
  /** The rule that prevents Signalbox from creating or deleting test branches; null: there is none. */
  readonly testBranchRule: string | null;
  readonly mergeMethods: readonly QueueSettings['mergeMethod'][];
  /** Whether the host lets Signalbox mark a pull request as merged by a push. */
  readonly marksMerged: boolean;
  /** Names of checks that recently reported on the branch or its pull requests. */
  readonly recentChecks: readonly string[];
  /** Those of them that reported on heads of pull requests. */
  readonly recentHeadChecks: readonly string[];
  /** Whether accounts other than Signalbox may update the branch; null: the host does not show it. */
  readonly othersMayUpdate: boolean | null;
  /** Whether accounts other than Signalbox may create test branches; null: the host does not show it. */
  readonly othersMayCreateTestBranches: boolean | null;
  /** CI configuration on the branch; null: the host does not show it. */
  readonly workflows: readonly WorkflowFile[] | null;
  /** Whether workflows get a token with write access by default; null: the host does not show it. */
  readonly workflowTokenWrites: boolean | null;
  /** How a person fixes a fault at this host, one sentence each. */
  readonly fixes: {
    /** Signalbox has no write access. */
    readonly writeAccess: string;
    /** Signalbox may not push to the protected branch. */
    readonly push: string;
    /** The repository does not let Signalbox mark a pull request as merged. */
    readonly markMerged: string;
  };
  /** What Signalbox cannot do for lack of an optional permission, one sentence each. */
  readonly lost: readonly string[];
};
/** A person or an account, as the author or committer of a commit. */
export type CommitPerson = { readonly name: string; readonly email: string };
export type Host = {
  /** `sandbox`, or a name of the table in kinds.ts. */
  readonly kind: string;
  /** The pull request as the host reports it now; null if it knows no such number. */
  readonly readPullRequest: (query: PullRequestQuery) => Promise<PullRequest | null>;
  /** Reads many pull requests in one call, on hosts that can; a number that the host does not know is absent. */
  readonly readPullRequests?: (query: PullRequestsQuery) => Promise<ReadonlyMap<number, PullRequest>>;
  /** The current approvals of a pull request, each with the commit that was approved. */
  readonly readApprovals: (repository: HostRepository, number: number) => Promise<readonly Approval[]>;
  /**
   * Whether `in_progress` leaves only one question open: whether the head merges cleanly into its base.
   * Signalbox then tries the merge in its own mirror instead of polling the host.
   */
  readonly leavesMergeToTry: boolean;
  /** All checks of a commit. */
  readonly readChecks: (repository: HostRepository, sha: string) => Promise<readonly Check[]>;
  /** The checks of many commits in one call, on hosts that can. */
  readonly readChecksOf?: (
    repository: HostRepository,
    shas: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly Check[]>>;
  /**
   * The checks that the protection of a branch requires, with the source it binds; null if it is not
   * protected. The answer may be cached, but not from before `asOf` (`performance.now()`).
   */
  readonly readRequiredChecks: (
    repository: HostRepository,
    branch: string,
    options?: { readonly asOf?: number | undefined },
  ) => Promise<readonly RequiredCheck[] | null>;
  readonly remoteOf: (repository: HostRepository) => Promise<GitRemote>;
  /** Called after Signalbox has pushed, for hosts that do not notice pushes. */
  readonly afterPush: (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;
  /** Whether the host shows a pull request as merged when commits made by this method are pushed. */
  readonly showsPushedAsMerged: (method: QueueSettings['mergeMethod']) => boolean;
  /** Called after the commits were pushed: the host shows the pull request as merged by this commit. */
  readonly markMerged: (repository: HostRepository, number: number, sha: string) => Promise<void>;
  /**
   * The branch in the repository itself that a pull request was opened from, which Signalbox may push to;
   * null: the branch is in a fork, or the host shows pushed commits as merged without it.
   */
  readonly headBranchOf: (repository: HostRepository, number: number) => Promise<string | null>;
  /** Closes a pull request without merging it. A pull request that is not open stays as it is. */
  readonly closePullRequest: (repository: HostRepository, number: number) => Promise<void>;
  /** The host's own merge call. Called again for a merged pull request, it answers with the earlier merge. */
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  /**
   * The ref under which the host keeps its own trial merge of a pull request: what its merge call would put
   * on the branch. Reading the pull request makes the host update it, after a moment. Null: the host keeps
   * none.
   */
  readonly trialMergeRef: (number: number) => string | null;
  readonly parseWebhook: (delivery: IncomingWebhook) => WebhookResult;
  /** Makes the host report everything that Signalbox needs to know of a repository. */
  readonly ensureWebhook: (repository: HostRepository, webhook: WantedWebhook) => Promise<WebhookAnswer>;
  /** The repository with the host's own spelling; null if it does not exist or Signalbox has no access. */
  readonly findRepository: (
    organizationId: OrganizationId,
    repository: RepositoryName,
  ) => Promise<RepositoryName | null>;
  /** Opens a draft pull request for a test branch, or returns the open one. It closes when the branch is deleted. */
  readonly openTestPullRequest: (
    repository: HostRepository,
    testPullRequest: TestPullRequest,
  ) => Promise<number>;
  /** Opens a pull request with changed files, or returns the one that is open from the same branch. */
  readonly proposeFiles: (repository: HostRepository, proposal: FileProposal) => Promise<ProposalAnswer>;
  /** Where a person edits a file of a branch; null: the host has no page for it. */
  readonly editorUrl: (repository: HostRepository, branch: string, path: string) => Promise<string | null>;
  /** Writes or edits Signalbox's comment and returns its id. If the comment was deleted, a new one is written. */
  readonly writeComment: (
    repository: HostRepository,
    number: number,
    comment: StatusComment,
  ) => Promise<string>;
  /** Writes an issue as it is to be. If it was deleted and is to be open, another one is opened. */
  readonly writeIssue: (repository: HostRepository, issue: OwnIssue) => Promise<IssueAnswer>;
  readonly writeCheck: (repository: HostRepository, sha: string, check: OwnCheck) => Promise<void>;
  /** The used share of the host's hourly limit on writes, 0 to 1; absent: the host has no limit. */
  readonly contentUse?: (repository: HostRepository) => Promise<number>;
  /** Writes comment and check in one call, on hosts that can; returns the id of the comment. */
  readonly writeStatus?: (
    repository: HostRepository,
    number: number,
    status: { readonly sha: string; readonly check: OwnCheck; readonly comment: StatusComment },
  ) => Promise<string>;
  /**
   * Removing a label that is absent, or adding one that is present, is no error; unknown labels are created.
   */
  readonly changeLabels: (
    repository: HostRepository,
    number: number,
    change: { readonly add: readonly string[]; readonly remove: readonly string[] },
  ) => Promise<void>;
  /**
   * How the host names an account in commits that it creates for it. A login of null is Signalbox's own
   * account. Returns null if there is no such account, or the host has no names for commits.
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
   * When the pull request got this head, by the host's clock: no earlier act can refer to it. The epoch: the
   * pull request had this head from the beginning. Null: the host does not say.
   */
  readonly headSince: (repository: HostRepository, number: number, headSha: string) => Promise<Date | null>;
  /**
   * Comments and labels since an instant, for events that webhooks missed: new comments, and the open pull
   * requests that have the label now. The same event may be returned twice.
   */
  readonly readCommentsAndLabels: (
    repository: HostRepository,
    since: Date,
    label: string,
  ) => Promise<readonly HostEvent[]>;
  readonly inspect: (repository: HostRepository, branch: string) => Promise<Inspection>;
  readonly readAccess: (organizationId: OrganizationId) => Promise<HostAccess>;
  /**
   * The rules that are active for a branch, including those that this method and way of landing would break.
   * Read before each landing: see `uncheckedRulesReason`.
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
  /** Stops CI that is still running on a test branch. A second call counts none. */
  readonly stopRuns: (repository: HostRepository, dead: DeadRun) => Promise<StopAnswer>;
  /** Runs failed jobs, and the jobs that need them, again on the same commit. */
  readonly rerunFailedJobs: (repository: HostRepository, jobs: FailedJobs) => Promise<RerunAnswer>;
};

/** The host that serves a host name for an organization; null when none does. */
export type HostFor = (cellName: string, hostName: string) => Host | null;

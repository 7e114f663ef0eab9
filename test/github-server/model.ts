// What the server knows: plain data in memory, changed in place. The commits are in git and nowhere else.

import type { Clock } from '#base/clock.ts';

export type Account = {
  readonly id: number;
  readonly login: string;
  readonly type: 'User' | 'Organization' | 'Bot';
  readonly name: string;
  readonly email: string;
};

/** Each includes those before it. */
const accessLevels = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const;
export type Access = (typeof accessLevels)[number];

export type PermissionLevel = 'read' | 'write' | 'admin';
/** Of an App, by GitHub's names, such as `pull_requests`. */
export type Permissions = Readonly<Record<string, PermissionLevel>>;

export type App = {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly clientId: string;
  readonly owner: Account;
  readonly bot: Account;
  permissions: Permissions;
  /** Names of the webhooks it asked for, such as `pull_request`. */
  events: readonly string[];
  readonly createdAt: Date;
};

/** How the App came to be, or that it is not there yet. */
type Registration = {
  isRegistered: boolean;
  /** By code that GitHub gave out: when. */
  readonly codes: Map<string, Date>;
  setupUrl: string | null;
};

export type Installation = {
  readonly id: number;
  readonly app: App;
  readonly account: Account;
  readonly createdAt: Date;
};

export type Label = { readonly id: number; name: string; color: string; description: string | null };

export type MergeMethod = 'merge' | 'squash' | 'rebase';

/** Whether head and base go together, as worked out for these two commits. */
export type Mergeability = {
  readonly head: string;
  readonly base: string;
  /** Null until the background work is done. */
  readonly result: { readonly isMergeable: boolean; readonly testMerge: string | null } | null;
};

/** What issues and pull requests share: their numbers too. */
export type Issue = {
  readonly id: number;
  readonly number: number;
  title: string;
  body: string | null;
  readonly author: Account;
  /** The App that opened it. */
  readonly via: App | null;
  readonly createdAt: Date;
  updatedAt: Date;
  state: 'open' | 'closed';
  closedAt: Date | null;
  labels: Label[];
};

export type ReviewState = 'approved' | 'changes_requested' | 'commented' | 'dismissed';

export type Review = {
  readonly id: number;
  readonly by: Account;
  readonly state: ReviewState;
  /** Its text; empty: none. */
  readonly body: string;
  /** The head that was reviewed. */
  readonly sha: string;
  readonly at: Date;
};

/** A conversation on the changes. */
export type Thread = { readonly id: number; readonly by: Account; isResolved: boolean };

export type PullRequest = Issue & {
  draft: boolean;
  merged: { readonly at: Date; readonly by: Account; readonly sha: string } | null;
  /** The same repository, or a fork of it. */
  readonly headRepository: Repository;
  readonly headRef: string;
  headSha: string;
  baseRef: string;
  /** As of the opening, the last push to the head or the last change of the base: GitHub does not follow the base. */
  baseSha: string;
  /** Every review, in order. */
  reviews: readonly Review[];
  readonly threads: Thread[];
  /** Who pushed the head last, and when. */
  lastPush: { readonly by: Account; readonly at: Date };
  mergeability: Mergeability | null;
};

export type Comment = {
  readonly id: number;
  readonly number: number;
  readonly author: Account;
  readonly via: App | null;
  body: string;
  readonly createdAt: Date;
  updatedAt: Date;
};

export type IssueEvent = {
  readonly id: number;
  readonly number: number;
  readonly event: string;
  readonly actor: Account;
  readonly via: App | null;
  readonly at: Date;
  readonly commitId: string | null;
  readonly label: Label | null;
  readonly rename: { readonly from: string; readonly to: string } | null;
};

export type Status = {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: 'error' | 'failure' | 'pending' | 'success';
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly creator: Account;
  /** The App that set it; null: a person. */
  readonly via: App | null;
  readonly at: Date;
};

export type CheckSuite = {
  readonly id: number;
  readonly app: App;
  readonly sha: string;
  readonly branch: string | null;
  readonly before: string | null;
  readonly createdAt: Date;
  updatedAt: Date;
  /** Of the workflow run: which attempt is the last, and when it began. */
  attempt: number;
  attemptAt: Date;
};

export type CheckRunAction = {
  readonly label: string;
  readonly description: string;
  readonly identifier: string;
};

export type CheckRun = {
  readonly id: number;
  readonly suite: CheckSuite;
  name: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  detailsUrl: string | null;
  externalId: string;
  /** Buttons of its page. */
  actions: readonly CheckRunAction[];
  startedAt: Date | null;
  completedAt: Date | null;
  output: { readonly title: string | null; readonly summary: string | null; readonly text: string | null };
};

/** Classic protection of a branch. */
export type Protection = {
  /** A name, or a pattern with `*`. */
  readonly pattern: string;
  readonly checks: {
    readonly strict: boolean;
    readonly contexts: readonly string[];
    /** By context: the App that must report it. A context that is not named may be reported by any source. */
    readonly appIds?: Readonly<Record<string, number>>;
  } | null;
  readonly reviews: {
    readonly approvals: number;
    /** Slugs of Apps and logins of people who need no pull request. */
    readonly bypass: readonly string[];
    /** A push to the head dismisses its approvals. */
    readonly dismissStale?: boolean;
    readonly codeOwners?: boolean;
    /** The last push must be approved by another person than the one who pushed it. */
    readonly lastPush?: boolean;
  } | null;
  /** Slugs of Apps and logins of people who alone may push; null: all who may write. */
  readonly pushers: readonly string[] | null;
  readonly linearHistory: boolean;
  readonly signatures: boolean;
  /** Conversations must be resolved before a merge. */
  readonly conversations: boolean;
  /** The lists of pushers is also who may create matching branches. */
  readonly blockCreations: boolean;
  readonly enforceAdmins: boolean;
  readonly allowForcePushes: boolean;
  readonly allowDeletions: boolean;
  readonly locked: boolean;
};

/** A rule as GitHub writes it: `{ type: 'required_status_checks', parameters: { … } }`. */
export type Rule = { readonly type: string; readonly parameters?: Readonly<Record<string, unknown>> };

export type Ruleset = {
  readonly id: number;
  readonly name: string;
  readonly enforcement: 'active' | 'evaluate' | 'disabled';
  /** Such as `~DEFAULT_BRANCH`, `~ALL` or `refs/heads/release/*`. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly rules: readonly Rule[];
  /** Ids of Apps that may pass by. */
  readonly bypassApps: readonly number[];
  /** When they may: always, or only when they merge a pull request. */
  readonly bypassMode: 'always' | 'pull_request' | 'exempt';
  /** Whether those who administer the repository may pass by. */
  readonly bypassAdmins: boolean;
  readonly createdAt: Date;
};

/** A webhook of a repository. */
export type Hook = {
  readonly id: number;
  readonly url: string;
  readonly secret: string;
  readonly events: readonly string[];
  active: boolean;
  readonly createdAt: Date;
};

export type Delivery = {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  /** Null: of the App. */
  readonly hookId: number | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The very bytes. */
  readonly body: string;
  readonly redelivery: boolean;
  readonly at: Date;
  /** Zero until it is answered, and where nobody answered. */
  statusCode: number;
  status: string;
  durationMs: number;
};

export type Repository = {
  readonly id: number;
  readonly owner: Account;
  readonly name: string;
  readonly isPrivate: boolean;
  readonly defaultBranch: string;
  /** The bare repository. */
  readonly directory: string;
  readonly parent: Repository | null;
  readonly createdAt: Date;
  pushedAt: Date;
  mergeMethods: readonly MergeMethod[];
  deleteBranchOnMerge: boolean;
  /** What the token of a workflow may do unless it says otherwise. */
  workflowToken: 'read' | 'write';
  /** By login in lower case. */
  readonly access: Map<string, Access>;
  readonly labels: Map<string, Label>;
  lastNumber: number;
  readonly pulls: Map<number, PullRequest>;
  /** Those that are no pull requests. */
  readonly issues: Map<number, Issue>;
  readonly comments: Map<number, Comment>;
  readonly events: IssueEvent[];
  readonly statuses: Status[];
  readonly suites: CheckSuite[];
  readonly runs: Map<number, CheckRun>;
  /** What was done for commits besides checks; see `meet` in control.ts. */
  readonly met: Set<string>;
  protections: Protection[];
  readonly rulesets: Ruleset[];
  readonly hooks: Hook[];
  /** Pushes to branches, oldest first. */
  readonly activities: Activity[];
};

/** GitHub REST docs, "List repository activities". */
type Activity = {
  readonly id: number;
  readonly before: string;
  readonly after: string;
  readonly ref: string;
  readonly at: Date;
  readonly by: Account;
};

/** Who asks. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'app'; readonly app: App }
  | {
      readonly kind: 'installation';
      readonly installation: Installation;
      readonly permissions: Permissions;
      /** Null: all of the account. */
      readonly repositoryIds: readonly number[] | null;
    }
  | { readonly kind: 'user'; readonly account: Account };

type Token = { readonly principal: Principal; readonly expiresAt: Date | null };

/** GitHub itself, or an Enterprise Server of a version. */
export type Edition = 'api.github.com' | 'ghes-3.19';

export type Site = {
  /** Where people and git go, without a slash at the end. */
  readonly url: string;
  /** What the addresses in answers begin with. */
  readonly apiUrl: string;
  readonly edition: Edition;
  readonly clock: Clock;
  /** Folder of the bare repositories. */
  readonly root: string;
  readonly app: App;
  readonly registration: Registration;
  /** The App that CI reports by. */
  readonly ciApp: App;
  /** All Apps, these two among them. */
  readonly apps: App[];
  /** By login in lower case. */
  readonly accounts: Map<string, Account>;
  readonly tokens: Map<string, Token>;
  readonly installations: Installation[];
  /** By full name in lower case. */
  readonly repositories: Map<string, Repository>;
  readonly deliveries: Delivery[];
  readonly nextId: () => number;
  /** Work on one repository, one after the other. */
  readonly inTurn: <Result>(repository: Repository, work: () => Promise<Result>) => Promise<Result>;
  /** Goes on after the answer; `settled` waits for it. */
  readonly inBackground: (work: Promise<unknown>) => void;
  /** Tells those who listen; see webhook.ts. */
  readonly announce: (
    repository: Repository,
    event: string,
    action: string | null,
    sender: Account,
    payload: object,
  ) => void;
  /** Milliseconds that a pull request's `mergeable` stays null after it was first asked for. */
  readonly mergeabilityMs: number;
  /** Called in the background for each branch that moved. */
  readonly pushListeners: ((push: Push) => void | Promise<void>)[];
  /** What the server did wrong by GitHub's own description; a run with any of these has failed. */
  readonly failures: string[];
};

/** A branch that moved. */
export type Push = {
  /** `owner/name`. */
  readonly repository: string;
  readonly directory: string;
  readonly branch: string;
  /** Null: it was made. */
  readonly before: string | null;
  /** Null: it was deleted. */
  readonly after: string | null;
  readonly by: string;
};

export const fullNameOf = ({ owner, name }: Repository): string => `${owner.login}/${name}`;

export const atLeast = (access: Access, needed: Access): boolean =>
  accessLevels.indexOf(access) >= accessLevels.indexOf(needed);

export const isPull = (issue: Issue): issue is PullRequest => 'headRef' in issue;

export const isPullOpen = ({ state }: PullRequest): boolean => state === 'open';

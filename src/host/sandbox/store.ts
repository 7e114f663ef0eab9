// What the sandbox keeps in the database, and what it asks of it. src/hosts.ts brings the two together.

import type { OrganizationId } from '#base/id.ts';
import type { Check } from '#core/queue/check.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { HostRepository } from '../host.ts';

/** A pull request as the sandbox keeps it. */
export type SandboxPullRequest = Omit<PullRequest, 'url' | 'state'> & {
  /** missing: the sandbox says that there is none. */
  readonly state: PullRequest['state'] | 'missing';
  /** Counts the heads that were made up for it. */
  readonly revision: number;
  /** The branch it was opened from; null: its head has no branch of its own. */
  readonly branch: string | null;
  /** The commit that put it on its base. */
  readonly mergeSha: string | null;
  readonly labels: readonly string[];
  /** When it got its head; null: it had it from the beginning. */
  readonly headSince: Date | null;
  /** The last change of each label. */
  readonly labelChanges: LabelChanges;
};

/** A review as a script writes it. */
export type SandboxReview = {
  readonly reviewer: string;
  /** The commit that was reviewed. */
  readonly commit: string;
  readonly state: (typeof reviewStates)[number];
};

const reviewStates = ['approved', 'changes_requested', 'commented', 'dismissed'] as const;

/** By label; the instant is in milliseconds. */
type LabelChanges = Readonly<
  Record<string, { readonly isOn: boolean; readonly by: string; readonly at: number }>
>;

export type SandboxComment = {
  readonly id: string;
  readonly number: number;
  readonly author: string;
  /** At most 64 KiB. */
  readonly text: string;
  readonly createdAt: Date;
  /** Later than `createdAt` where it was edited. */
  readonly updatedAt: Date;
};

/** What is written at an instant. */
type SandboxCommentWish = Pick<SandboxComment, 'number' | 'author' | 'text'> & { readonly at: Date };

export type LabelChange = { readonly add: readonly string[]; readonly remove: readonly string[] };

/** Who changes labels, and when. */
type LabelAct = { readonly by: string; readonly at: Date };

/** What is said of the draft pull request of a test branch. */
type TestPullRequestWords = Pick<
  SandboxPullRequest,
  'headSha' | 'baseBranch' | 'title' | 'body' | 'author'
> & { readonly branch: string };

/** A check as a script sets it: a state of a commit status, or any conclusion of a check run. */
export type CheckWish = {
  readonly name: string;
  readonly state: string;
  readonly url: string;
  /** The app that reports it: it is a check run then. */
  readonly app?: string | undefined;
};

export type CiKey = { readonly branch: string; readonly sha: string };

export type CiRecord = CiKey & {
  readonly attempt: number;
  readonly state: 'queued' | 'running' | 'done';
  readonly outcome: 'success' | 'failure' | 'error' | null;
  readonly log: string;
};

type CiStart = CiKey & {
  readonly contexts: readonly string[];
  /** Milliseconds from now until it ends, by the attempt it turns out to be; null: it ends when told. */
  readonly delayMs: number | null;
};

type CiEnd = CiKey & {
  readonly outcome: 'success' | 'failure' | 'error';
  readonly log: string;
  readonly contexts: readonly string[];
};

export type SandboxStore = {
  /** The pull request together with the faults of its repository, as they are stored. */
  readonly find: (
    repository: HostRepository,
    number: number,
  ) => Promise<{ readonly pullRequest: SandboxPullRequest; readonly faults: unknown } | null>;
  /** Keeps the given pull request unless one of that number is kept already; returns the kept one. */
  readonly insert: (
    repository: HostRepository,
    pullRequest: SandboxPullRequest,
  ) => Promise<SandboxPullRequest>;
  readonly save: (repository: HostRepository, pullRequest: SandboxPullRequest) => Promise<SandboxPullRequest>;
  /** Changes what is given of a pull request that is kept. */
  readonly patch: (
    repository: HostRepository,
    number: number,
    patch: Partial<SandboxPullRequest>,
  ) => Promise<SandboxPullRequest | null>;
  readonly listOpen: (repository: HostRepository) => Promise<readonly SandboxPullRequest[]>;
  /** Those whose head the repository on disk was not given yet, some at a time. */
  readonly listUnwritten: (repository: HostRepository) => Promise<readonly SandboxPullRequest[]>;
  readonly markWritten: (
    repository: HostRepository,
    written: readonly SandboxPullRequest[],
  ) => Promise<unknown>;
  /** The repository on disk is new: nothing was written to it. */
  readonly forgetWritten: (repository: HostRepository) => Promise<unknown>;
  /** Open pull requests onto the branch whose head is one of these are merged; answers with their numbers. */
  readonly markContained: (
    repository: HostRepository,
    branch: string,
    shas: readonly string[],
    mergeSha: string,
  ) => Promise<readonly number[]>;
  /** Pull requests opened from the branch have its head; answers with the numbers of those that moved. */
  readonly moveHeads: (
    repository: HostRepository,
    branch: string,
    sha: string,
    at: Date,
  ) => Promise<readonly number[]>;
  /** Open pull requests made from a branch that is gone are closed; answers with their numbers. */
  readonly closeFrom: (repository: HostRepository, branch: string) => Promise<readonly number[]>;
  /** The open pull request that shows a test branch. */
  readonly findTest: (repository: HostRepository, branch: string) => Promise<number | null>;
  /** Keeps one for a test branch, of a number that nobody uses; null if one is open already. */
  readonly insertTest: (repository: HostRepository, words: TestPullRequestWords) => Promise<number | null>;
  /** The labels as they were and as they are; null if the pull request is not kept. */
  readonly changeLabels: (
    repository: HostRepository,
    number: number,
    change: LabelChange,
    act: LabelAct,
  ) => Promise<{ readonly before: readonly string[]; readonly after: readonly string[] } | null>;
  /** The numbers of open pull requests that have the label. */
  readonly listLabelled: (repository: HostRepository, label: string) => Promise<readonly number[]>;
  readonly addReview: (repository: HostRepository, number: number, review: SandboxReview) => Promise<unknown>;
  /** Oldest first. */
  readonly listReviews: (repository: HostRepository, number: number) => Promise<readonly SandboxReview[]>;
  readonly insertComment: (
    repository: HostRepository,
    comment: SandboxCommentWish,
  ) => Promise<SandboxComment>;
  /** False if there is none. */
  readonly editComment: (
    repository: HostRepository,
    comment: Omit<SandboxCommentWish, 'author'> & { readonly id: string },
  ) => Promise<boolean>;
  readonly deleteComment: (repository: HostRepository, number: number, id: string) => Promise<unknown>;
  /** The id of the first comment of the author that has the mark in it. */
  readonly findMarked: (
    repository: HostRepository,
    number: number,
    author: string,
    mark: string,
  ) => Promise<string | null>;
  readonly listComments: (repository: HostRepository, number: number) => Promise<readonly SandboxComment[]>;
  /** Those written or edited since, oldest first. */
  readonly listCommentsSince: (repository: HostRepository, since: Date) => Promise<readonly SandboxComment[]>;
  readonly findSettings: (repository: HostRepository) => Promise<unknown>;
  readonly saveSettings: (repository: HostRepository, settings: unknown) => Promise<unknown>;
  readonly listChecks: (repository: HostRepository, sha: string) => Promise<readonly Check[]>;
  readonly saveCheck: (
    repository: HostRepository,
    sha: string,
    check: CheckWish,
  ) => Promise<readonly Check[]>;
  /** Names of checks that reported on any commit lately. */
  readonly listCheckNames: (repository: HostRepository) => Promise<readonly string[]>;
  /** A record, the pending statuses (the answer) and the job that ends it; null if CI for it was started before. */
  readonly startCi: (repository: HostRepository, start: CiStart) => Promise<readonly Check[] | null>;
  readonly findCi: (repository: HostRepository, key: CiKey) => Promise<CiRecord | null>;
  readonly listCi: (repository: HostRepository, sha: string) => Promise<readonly CiRecord[]>;
  readonly markCiRunning: (repository: HostRepository, key: CiKey) => Promise<unknown>;
  /** CI that is under way ends without an outcome; answers with the checks cancelled by that, null if none was. */
  readonly stopCi: (repository: HostRepository, key: CiKey) => Promise<readonly Check[] | null>;
  /** Answers with the statuses; none if it had ended, or the commit is tested again meanwhile. */
  readonly endCi: (repository: HostRepository, end: CiEnd) => Promise<readonly Check[]>;
  /** The commit of the newest test run that a pull request is under test in. */
  readonly findTestRunSha: (repository: HostRepository, number: number) => Promise<string | null>;
  /** Where webhooks of the organization go, and what they are signed with. */
  readonly connection: (
    organizationId: OrganizationId,
  ) => Promise<{ readonly id: string; readonly secret: string }>;
  /** What a webhook would have told, recorded without one. */
  readonly record: (organizationId: OrganizationId, events: readonly HostEvent[]) => Promise<unknown>;
};

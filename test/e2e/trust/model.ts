// A situation is one way in which the promise could be broken: something happens at a Git host, and the queue must decide
// rightly. Each situation runs on one or more hosts, in a repository of its own. What it claims is one thing; what
// audit.ts finds on the branch, in the timelines and in the records of the host is measured for every situation.

import type { GithubServer } from '../../github-server/server.ts';
import type { Scene } from './scene.ts';

const hostKinds = ['github', 'gitea', 'sandbox'] as const;
export type HostKind = (typeof hostKinds)[number];

export type Situation = {
  readonly name: string;
  /** What must happen, in words. */
  readonly must: string;
  readonly hosts: readonly HostKind[];
  /** Hosts on which it cannot be run, each with the reason. */
  readonly cannot?: Readonly<Partial<Record<HostKind, string>>>;
  readonly set?: SceneOptions;
  /** Answers with what happened, in words; throws `Broken` with that if it is not what must happen. */
  readonly run: (scene: Scene) => Promise<string>;
};

/** A check that the branch requires. */
export type RequiredCheck = {
  readonly name: string;
  /** `ci`: only the App of CI may report it. `bound`: the same, and the rule of the host says so. */
  readonly source?: 'ci' | 'bound' | 'status';
};

export type Rules = {
  readonly checks: readonly RequiredCheck[];
  /** Approving reviews that the branch asks for. */
  readonly approvals?: number;
};

export type SceneOptions = {
  /** Of the queue, beside the defaults. */
  readonly settings?: object;
  /** The rules of `main`; without it `ci/test` is required. Null: none. */
  readonly rules?: Rules | null;
  /** Files of the first commit, beside those that every repository has. */
  readonly files?: Readonly<Record<string, string>>;
  /** The host sends no webhooks: everything is found by polling. */
  readonly webhooks?: false;
  /** Checks that the situation lets pass although they were skipped. */
  readonly skippable?: readonly string[];
};

export class Broken extends Error {}

const permissions = ['none', 'read', 'triage', 'write', 'admin'] as const;
export type Permission = (typeof permissions)[number];

export const mayWrite = (permission: Permission): boolean => permissions.indexOf(permission) >= 3;

export type Change = {
  /** Login; default grace. */
  readonly by?: string;
  readonly files?: Readonly<Record<string, string | null>>;
  readonly title?: string;
  readonly body?: string;
  readonly draft?: boolean;
  /** From a fork that belongs to the author. */
  readonly fork?: boolean;
  /** Put on by the author when it is opened. */
  readonly labels?: readonly string[];
  /** False: CI has said nothing of the head. */
  readonly isHeadGreen?: boolean;
};

export type ReviewState = 'approved' | 'changes_requested' | 'dismissed';

export type Conclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
  | 'stale'
  | 'startup_failure';

export type Report = {
  readonly name: string;
  /** Null: it has begun and is not over. */
  readonly conclusion: Conclusion | null;
  /** `ci`: the App of CI, as a check run where the host has them. `status`: a commit status. `other`: another App. */
  readonly source?: 'ci' | 'status' | 'other';
};

/** What the host has recorded about a commit. */
export type Recorded = {
  readonly name: string;
  readonly conclusion: string | null;
  readonly source: 'ci' | 'status' | 'other';
};

/** What people and CI do at the host, and what the host shows: never through Signalbox. */
export type HostControl = {
  readonly kind: HostKind;
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  /** The repository itself, for git. */
  readonly directory: string;
  readonly grant: (person: string, permission: Permission) => Promise<void>;
  readonly open: (
    number: number,
    change: Change,
  ) => Promise<{ readonly number: number; readonly sha: string }>;
  readonly push: (number: number, files: Readonly<Record<string, string | null>>) => Promise<string>;
  readonly change: (
    number: number,
    change: { readonly state?: 'open' | 'closed'; readonly draft?: boolean; readonly base?: string },
  ) => Promise<void>;
  readonly comment: (by: string, number: number, text: string) => Promise<string>;
  readonly editComment: (by: string, number: number, id: string, text: string) => Promise<void>;
  readonly comments: (number: number) => Promise<readonly string[]>;
  readonly label: (by: string, number: number, label: string, isOn: boolean) => Promise<void>;
  readonly labels: (number: number) => Promise<readonly string[]>;
  readonly review: (by: string, number: number, state: ReviewState) => Promise<void>;
  readonly report: (sha: string, report: Report) => Promise<void>;
  readonly recorded: (sha: string) => Promise<readonly Recorded[]>;
  /** Commits to `main`, past all rules. */
  readonly pushToMain: (files: Readonly<Record<string, string | null>>) => Promise<string>;
  readonly protect: (rules: Rules | null) => Promise<void>;
  /** Makes a branch where `main` is. */
  readonly branch: (name: string) => Promise<void>;
  /** The server itself, for what only GitHub has. */
  readonly github?: { readonly server: GithubServer; readonly fullName: string };
  /** `open`, `closed` or `merged`, as a person sees it. */
  readonly shown: (number: number) => Promise<string>;
  /** Waits until everything that the host does in the background is done. */
  readonly settled: () => Promise<void>;
  readonly webhooks: (isOn: boolean) => Promise<void>;
};

// What the host contract (suite.ts) needs of a host: what people and CI can do there by its own means, never through the
// Host under test, and what they see. One world per run; the suite makes a new repository for nearly every test.
//
// What people do with git the suite does by itself (clone.ts), through `Place.cloneUrl`.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host, HostRepository, Permission, IncomingWebhook } from '#host/host.ts';

/** What not every host, or not every test server of one, can do. */
export const capabilities = {
  checkRuns: 'CI reports check runs in suites, beside commit statuses',
  conditionalRequests: 'an answer that has not changed costs no quota',
  absentRepositories: 'a repository can be absent',
  deletedForks: 'a fork can be deleted while a pull request from it is there',
  absentPeople: 'a person can be unknown to the host',
  restrictedPushes: 'the protection of a branch says who may push to it',
  upToDateRule: 'the protection of a branch asks that a pull request contains its tip',
  ownHooks: 'the host shows us its webhooks',
  serverError: 'the host can be made to answer with 503',
  silence: 'the host can be made not to answer, until our client gives up',
  refusedConnection: 'the host can be made to refuse connections',
  rateLimit: 'the host can be made to answer that we ask too much, and to wait for `rateLimitPauseMs`',
  forbidding: 'the host can be made to forbid us what it lets others do',
} as const;
export type Capability = keyof typeof capabilities;

export type Trouble = Extract<
  Capability,
  'serverError' | 'silence' | 'refusedConnection' | 'rateLimit' | 'forbidding'
>;

/** What the host is to ask us to wait while it is in the trouble `rateLimit`. */
export const rateLimitPauseMs = 7_000;

export type Delivery = Omit<IncomingWebhook, 'secret'>;

export type HostWorld = {
  /** Under test. Where its client has a limit for silence, it is set to a few seconds at most. */
  readonly host: Host;
  /** The same with hardly any patience: for what ends only when that does. */
  readonly impatient: Host;
  /** What the host cannot do here, and why; the suite leaves that out and prints it. */
  readonly missing: Readonly<Partial<Record<Capability, string>>>;
  /** The login of a person who may write in every new repository: who pushes, opens and labels. Never our own account. */
  readonly author: string;
  /** A new repository that only those see who are let in: private, with at least one commit on an unprotected `main`,
   *  where our account may do all that a queue needs, with webhooks to the receiver and no CI of its own. */
  readonly createRepository: () => Promise<Place>;
  /** Every webhook that the host delivered so far, whole and in order; it grows. `receiveWebhooks` fills it. */
  readonly deliveries: readonly Delivery[];
  readonly webhookSecret: string;
  /** The headers in which a webhook is signed, in lower case. */
  readonly signatureHeaders: readonly string[];
  /** The headers of a webhook as the host would send it: for kinds of events that it does not have. */
  readonly headersFor: (event: string, body: Buffer, secret: string) => Delivery['headers'];
  /** What must appear in no error: tokens, passwords, the webhook secret, private keys. */
  readonly secrets: readonly string[];
  /** Does something while the host is in trouble, as the Host under test sees it; afterwards it is well again. */
  readonly during: <Result>(trouble: Trouble, work: () => Promise<Result>) => Promise<Result>;
  /** How much of our quota something uses up; only asked where `conditionalRequests` is not missing. */
  readonly quotaUsedBy: (work: () => Promise<unknown>) => Promise<number>;
  readonly close: () => Promise<void>;
};

/** A repository, with what people and CI do in it. Each answers when the host has taken it in. */
export type Place = {
  readonly repository: HostRepository;
  /** For git, with the credentials of the author in it: `http://author:password@…`. */
  readonly cloneUrl: string;
  /** Where `receiveWebhooks` gets what happens here; as `Inspection.webhooks` shows it. */
  readonly hookUrl: string;

  /** The author opens a pull request from a branch that was pushed; its number. */
  readonly openPullRequest: (wish: PullRequestWish) => Promise<number>;
  /** As the author; `draft` in whichever way the host knows drafts. */
  readonly changePullRequest: (
    number: number,
    change: {
      readonly state?: 'open' | 'closed';
      readonly base?: string;
      readonly draft?: boolean;
    },
  ) => Promise<void>;
  readonly showPullRequest: (number: number) => Promise<ShownPullRequest>;
  /** The numbers of those that are open. */
  readonly listOpen: () => Promise<readonly number[]>;
  /** A number that no pull request has. */
  readonly vacantNumber: () => Promise<number>;

  /** Answers with the id of the comment. */
  readonly comment: (by: string, number: number, text: string) => Promise<string>;
  readonly deleteComment: (number: number, id: string) => Promise<void>;
  /** As the author, who may change what others wrote. */
  readonly editComment: (number: number, id: string, text: string) => Promise<void>;
  /** All of them, oldest first. */
  readonly listComments: (number: number) => Promise<readonly ShownComment[]>;
  /** A person opens an issue with this text; its number. */
  readonly openIssue: (by: string, title: string, text: string) => Promise<number>;
  /** Issues, without pull requests, by their numbers. */
  readonly listIssues: () => Promise<readonly ShownIssue[]>;
  /** Puts a label on, or takes it off, as the author if nobody else is named; one that the repository does not have is made. */
  readonly label: (number: number, label: string, isOn: boolean, by?: string) => Promise<void>;

  /** A person reviews the head. `dismissed`: an administrator dismisses what that person decided. */
  readonly review: (
    number: number,
    by: string,
    decision: 'approved' | 'changes_requested' | 'commented' | 'dismissed',
  ) => Promise<void>;
  /** A person who may read opens a pull request from a fork of theirs; `fork` is its full name. */
  readonly openFromFork: (by: string) => Promise<{
    readonly number: number;
    readonly fork: string;
    /** Only called where `deletedForks` is not missing. */
    readonly deleteFork: () => Promise<void>;
  }>;

  /** Gives a person a permission, and an account if they have none; `none` takes it away. */
  readonly grant: (person: string, permission: Permission) => Promise<void>;
  /** Null: no longer protected. Our own account is bound by it as everybody is. */
  readonly protect: (branch: string, rules: Rules | null) => Promise<void>;

  /** CI reports a commit status. */
  readonly report: (sha: string, status: Status) => Promise<void>;
  /** CI begins a check run in a suite of its own, or ends it; only asked where `checkRuns` is not missing. */
  readonly reportRun: (
    sha: string,
    run: { readonly name: string; readonly conclusion: 'success' | 'failure' | null },
  ) => Promise<void>;
  /** What a person sees at a commit: statuses, and check runs as if they were. */
  readonly listStatuses: (sha: string) => Promise<readonly Status[]>;
};

export type PullRequestWish = {
  readonly branch: string;
  readonly title: string;
  /** Default `main`. */
  readonly base?: string;
  readonly body?: string;
  readonly draft?: boolean;
};

export type ShownIssue = {
  readonly number: number;
  readonly author: string;
  readonly title: string;
  readonly text: string;
  readonly isOpen: boolean;
};

type ShownPullRequest = {
  readonly state: 'open' | 'closed' | 'merged';
  readonly draft: boolean;
  readonly title: string;
  readonly headSha: string;
  /** The commit that the host says merged it; null if it does not say, or it is not merged. */
  readonly mergeSha: string | null;
  readonly labels: readonly string[];
};

type ShownComment = { readonly id: string; readonly author: string; readonly text: string };

export type Status = {
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
};

export type Rules = {
  readonly requiredChecks: readonly string[];
  /** Only these people may push; null: whoever may write. Only given where `restrictedPushes` is not missing. */
  readonly pushers?: readonly string[] | null;
  /** Only given where `upToDateRule` is not missing. */
  readonly mustBeUpToDate?: boolean;
};

export type Receiver = {
  /** Without a slash at the end; any path below it is heard. */
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  readonly close: () => Promise<void>;
};

/** For worlds: hears webhooks at any path and answers 200 at once. */
export async function receiveWebhooks(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      deliveries.push({
        headers: request.headers as Delivery['headers'],
        body: Buffer.concat(chunks),
      });
      response.end('{}');
    });
  });
  return { url: await listen(server), deliveries, close: () => closed(server) };
}

/** Listens on a free port of this machine; answers with the address. */
export async function listen(server: Server, port = 0): Promise<string> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

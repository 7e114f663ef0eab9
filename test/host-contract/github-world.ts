// The world of the host contract at GitHub: the GitHub-compatible server of the tests, as an Enterprise Server, with our
// App installed, and a proxy between it and the Host under test.

import { createHmac, randomUUID } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import type { Credentials, ConnectionWithCredentials } from '#host/connection.ts';
import { createGithubHost } from '#host/github/host.ts';
import type { Host } from '#host/host.ts';
import { type GithubServer, startGithubServer } from '../github-server/server.ts';
import { openHostProxy } from './proxy.ts';
import { type HostWorld, type Place, receiveWebhooks, type Rules, type Status } from './world.ts';

export const hostName = 'github.test';
const owner = 'acme';
const author = 'ada';

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A clock that can be put forward: what is kept for a while is then asked for anew. */
export function movableClock(): Clock & { readonly advance: (ms: number) => void } {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

type Connected = {
  readonly credentials: Credentials;
  readonly url: string;
  readonly clock: Clock;
  readonly organizationId?: OrganizationId;
  readonly log?: Log;
  readonly timeoutMs?: number;
};

/** A Host of one organization. */
export function connectHost({ credentials, url, clock, log = silent, ...rest }: Connected): Host {
  const { organizationId = randomUUID() as OrganizationId, timeoutMs = 15_000 } = rest;
  const connection: ConnectionWithCredentials = {
    id: randomUUID(),
    organizationId,
    host: hostName,
    url,
    credentials,
  };
  return createGithubHost({
    host: hostName,
    connections: { find: () => Promise.resolve(connection), save: () => Promise.resolve() },
    clock,
    log,
    timeoutMs,
  });
}

export const appCredentials = ({ appId, privateKey, installationId }: GithubServer): Credentials => ({
  kind: 'github-app',
  appId,
  privateKey,
  installationId,
});

/** More than what it keeps for a while. */
const longerThanKeptMs = 31_000;

export async function openGithubWorld(): Promise<HostWorld> {
  const receiver = await receiveWebhooks();
  const unlimited = { perHour: 1_000_000, concurrent: 1_000, pointsPerMinute: 1_000_000 };
  const server = await startGithubServer({ webhookUrl: receiver.url, owner, limits: unlimited });
  const { token } = server.newUser(author);
  const proxy = await openHostProxy(server.url);
  const clock = movableClock();
  const organizationId = randomUUID() as OrganizationId;
  const credentials = appCredentials(server);
  const connect = (timeoutMs: number) =>
    connectHost({ credentials, url: proxy.url, clock, organizationId, timeoutMs });
  const people = new Set([author]);
  const usedBy = (counts: Readonly<Record<string, number>>): number =>
    Object.entries(counts).reduce(
      (sum, [operation, count]) => (operation.startsWith('POST /app/') ? sum : sum + count),
      0,
    );
  let count = 0;

  return {
    host: connect(3_000),
    impatient: connect(1_000),
    missing: {},
    author,
    createRepository: async () => {
      count += 1;
      const name = `place-${count}`;
      const fullName = `${owner}/${name}`;
      await server.newRepository(fullName, { access: { [author]: 'write' } });
      const id = randomUUID() as RepositoryId;
      const repository = { host: hostName, owner, name, id, organizationId };
      const grant: Place['grant'] = (person, permission) => {
        if (!people.has(person)) server.newUser(person);
        people.add(person);
        server.setAccess(fullName, person, permission);
        return Promise.resolve();
      };
      const protect: Place['protect'] = (branch, rules) => {
        server.protect(fullName, branch, rules === null ? null : protectionOf(rules));
        clock.advance(longerThanKeptMs);
        return Promise.resolve();
      };
      return {
        repository,
        cloneUrl: `${server.url.replace('://', `://${author}:${token}@`)}/${fullName}.git`,
        hookUrl: receiver.url,
        grant,
        protect,
        ...handsOf(server, fullName, token),
      };
    },
    deliveries: receiver.deliveries,
    webhookSecret: server.webhookSecret,
    signatureHeaders: ['x-hub-signature', 'x-hub-signature-256'],
    headersFor: (event, body, secret) => ({
      'content-type': 'application/json',
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }),
    secrets: [token, server.webhookSecret, server.privateKey, 'ghs_'],
    during: async (trouble, work) => {
      try {
        return await proxy.during(trouble, work);
      } finally {
        // What it asked us to wait is over.
        if (trouble === 'rateLimit') clock.advance(120_000);
      }
    },
    quotaUsedBy: async (work) => {
      const before = usedBy(server.callCounts());
      await work();
      return usedBy(server.callCounts()) - before;
    },
    close: async () => {
      await proxy.close();
      await server.stop();
      await receiver.close();
    },
  };
}

/** What people and CI do in a repository, and what they see. */
export const handsOf = (server: GithubServer, fullName: string, token: string) => ({
  ...pullRequestHands(server, fullName),
  ...wordHands(server, fullName, token),
  ...checkHands(server, fullName, token),
});

const protectionOf = ({ requiredChecks, pushers = null, mustBeUpToDate = false }: Rules) => ({
  checks:
    requiredChecks.length === 0 && !mustBeUpToDate
      ? null
      : { strict: mustBeUpToDate, contexts: requiredChecks },
  pushers,
  enforceAdmins: true,
});

type Hands<Names extends keyof Place> = Pick<Place, Names>;

function pullRequestHands(
  server: GithubServer,
  fullName: string,
): Hands<
  | 'openPullRequest'
  | 'changePullRequest'
  | 'showPullRequest'
  | 'listOpen'
  | 'vacantNumber'
  | 'label'
  | 'review'
  | 'openFromFork'
> {
  let last = 0;
  return {
    openPullRequest: async (wish) => {
      const { number } = await server.openPullRequest(fullName, { ...wish, by: author });
      last = Math.max(last, number);
      return number;
    },
    changePullRequest: (number, change) => server.changePullRequest(fullName, number, change, author),
    showPullRequest: (number) => {
      const { state, draft, title, headSha, merged, labels } = server.pullRequest(fullName, number);
      return Promise.resolve({
        state: merged === null ? state : 'merged',
        draft,
        title,
        headSha,
        mergeSha: merged?.sha ?? null,
        labels: labels.map(({ name }) => name),
      });
    },
    listOpen: () => {
      const open: number[] = [];
      for (let number = 1; number <= last + 50; number += 1) {
        const pull = findPull(server, fullName, number);
        if (pull?.state === 'open') open.push(number);
      }
      return Promise.resolve(open);
    },
    vacantNumber: () => Promise.resolve(last + 1_000),
    label: (number, label, on, by = author) => server.label(fullName, number, label, { on, by }),
    review: (number, by, decision) => Promise.resolve(server.review(fullName, number, by, decision)),
    openFromFork: async (by) => {
      const { fullName: fork } = await server.fork(fullName, by);
      const wish = { branch: 'theirs', fork, files: { 'theirs.txt': 'theirs' }, by };
      const { number } = await server.openPullRequest(fullName, wish);
      last = Math.max(last, number);
      return { number, fork, deleteFork: () => Promise.resolve(server.deleteRepository(fork)) };
    },
  };
}

function findPull(server: GithubServer, fullName: string, number: number) {
  try {
    return server.pullRequest(fullName, number);
  } catch {
    return null;
  }
}

/** As the author, over HTTP. */
async function ask(
  server: GithubServer,
  token: string,
  path: string,
  method = 'GET',
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${server.apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

function wordHands(
  server: GithubServer,
  fullName: string,
  token: string,
): Hands<'comment' | 'editComment' | 'deleteComment' | 'listComments' | 'openIssue' | 'listIssues'> {
  const at = `/repos/${fullName}/issues`;
  return {
    comment: (by, number, text) => Promise.resolve(String(server.comment(fullName, number, by, text))),
    openIssue: async (by, title, body) => {
      const number = server.openIssue(fullName, title, by);
      await ask(server, token, `${at}/${number}`, 'PATCH', { body });
      return number;
    },
    listIssues: async () => {
      const issues = (await ask(server, token, `${at}?state=all&per_page=100`)) as readonly {
        readonly number: number;
        readonly title: string;
        readonly body: string | null;
        readonly state: string;
        readonly user: { readonly login: string };
        readonly pull_request?: unknown;
      }[];
      return issues
        .filter(({ pull_request: pull }) => pull === undefined)
        .map(({ number, title, body, state, user }) => ({
          number,
          title,
          text: body ?? '',
          author: user.login,
          isOpen: state === 'open',
        }))
        .toSorted((a, b) => a.number - b.number);
    },
    editComment: async (_number, id, body) =>
      void (await ask(server, token, `${at}/comments/${id}`, 'PATCH', { body })),
    deleteComment: async (_number, id) => void (await ask(server, token, `${at}/comments/${id}`, 'DELETE')),
    listComments: async (number) => {
      const comments = (await ask(server, token, `${at}/${number}/comments?per_page=100`)) as readonly {
        readonly id: number;
        readonly body: string;
        readonly user: { readonly login: string };
      }[];
      return comments.map(({ id, body, user }) => ({ id: String(id), author: user.login, text: body }));
    },
  };
}

function checkHands(
  server: GithubServer,
  fullName: string,
  token: string,
): Hands<'report' | 'reportRun' | 'listStatuses'> {
  return {
    report: (sha, { name, state }) => server.setStatus(fullName, sha, { context: name, state }, author),
    reportRun: async (sha, run) => void (await server.completeCheckRun(fullName, sha, run)),
    listStatuses: async (sha) => {
      const at = `/repos/${fullName}/commits/${sha}`;
      const { check_runs: runs } = (await ask(server, token, `${at}/check-runs?per_page=100`)) as {
        readonly check_runs: readonly {
          readonly name: string;
          readonly status: string;
          readonly conclusion: string | null;
        }[];
      };
      const { statuses } = (await ask(server, token, `${at}/status?per_page=100`)) as {
        readonly statuses: readonly { readonly context: string; readonly state: Status['state'] }[];
      };
      return [
        ...runs.map(({ name, status, conclusion }) => ({
          name,
          state: status === 'completed' ? (conclusion as Status['state']) : ('pending' as const),
        })),
        ...statuses.map(({ context, state }) => ({ name: context, state })),
      ];
    },
  };
}

// The world of a real Gitea server (test/gitea) for the host contract. The Host under test reaches it through a proxy that
// can make trouble; people and CI call its API directly.

import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { RepositoryId } from '#base/id.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { createGiteaHost } from '#host/gitea/host.ts';
import type { Permission } from '#host/host.ts';
import { type Gitea, type GiteaRepository, type GiteaUser, startGitea } from '../gitea/server.ts';
import { connectionsOf, organizationId, stubHost } from './gitea-stub.ts';
import { type HostProxy, openHostProxy } from './proxy.ts';
import { type HostWorld, type Place, receiveWebhooks, type Receiver, type Status } from './world.ts';

export type GiteaWorld = HostWorld & {
  readonly gitea: Gitea;
  /** Our own account. */
  readonly bot: GiteaUser;
  readonly people: People;
  readonly proxy: HostProxy;
  /** What the Host under test has logged as a warning. */
  readonly warnings: readonly string[];
  readonly createRepository: () => Promise<GiteaPlace>;
};

type GiteaPlace = Place & { readonly gitea: GiteaRepository };

/** Accounts by name. */
type People = Map<string, GiteaUser>;

const webhookSecret = randomBytes(16).toString('hex');

/** What the Host under test keeps of the protection of a branch is out of date as soon as somebody changes it. */
const keptMs = 30_000;

export async function createGiteaWorld(): Promise<GiteaWorld> {
  const gitea = await startGitea();
  try {
    return await openWorld(gitea);
  } catch (error) {
    await gitea.stop();
    throw error;
  }
}

async function openWorld(gitea: Gitea): Promise<GiteaWorld> {
  let aheadMs = 0;
  const clock: Clock = { now: () => new Date(Date.now() + aheadMs) };
  const proxy = await openHostProxy(gitea.url);
  const receiver = await receiveWebhooks();
  const author = await gitea.newUser('author');
  const bot = await gitea.newUser('signalbox-bot');
  const people: People = new Map([author, bot].map((user) => [user.name, user]));
  const warnings: string[] = [];
  const silent = () => undefined;
  const log: Log = {
    debug: silent,
    info: silent,
    warn: (_fields, message) => void warnings.push(message),
    error: silent,
  };
  const connections = connectionsOf(proxy.url, { kind: 'token', token: bot.token });
  const options = { host: stubHost, connections, clock, log };
  return {
    gitea,
    bot,
    people,
    proxy,
    warnings,
    host: createGiteaHost({ ...options, timeoutMs: 5_000 }),
    impatient: createGiteaHost({ ...options, timeoutMs: 1_000, mergePausesMs: [200, 500] }),
    missing: { conditionalRequests: 'Gitea has no ETags for what is asked of it' },
    author: author.name,
    createRepository: () =>
      createPlace({ gitea, people, receiver, author, bot, onProtected: () => (aheadMs += keptMs) }),
    deliveries: receiver.deliveries,
    webhookSecret,
    signatureHeaders: ['x-gitea-signature'],
    headersFor: (event, body, secret) => ({
      'content-type': 'application/json',
      'x-gitea-event': event,
      'x-gitea-event-type': event,
      'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
    }),
    secrets: [webhookSecret, ...[author, bot].flatMap(({ token, password }) => [token, password])],
    during: proxy.during,
    quotaUsedBy: () => Promise.reject(new Error('Gitea has no quota.')),
    close: async () => {
      await receiver.close();
      await proxy.close();
      await gitea.stop();
    },
  };
}

type Scene = {
  readonly gitea: Gitea;
  readonly people: People;
  readonly receiver: Receiver;
  readonly author: GiteaUser;
  readonly bot: GiteaUser;
  readonly onProtected: () => void;
};

const events = ['push', 'create', 'delete', 'pull_request', 'issue_comment', 'status'];
let made = 0;

async function createPlace(scene: Scene): Promise<GiteaPlace> {
  made += 1;
  const { addWebhook, gitea, ...place } = await openGiteaPlace(scene, `widgets-${made}`, { private: true });
  const { owner, name } = gitea;
  const hookUrl = `${scene.receiver.url}/${made}`;
  await addWebhook(hookUrl, webhookSecret);
  const repository = { id: randomUUID() as RepositoryId, organizationId, host: stubHost, owner, name };
  return { ...place, gitea, repository, hookUrl };
}

/** A new repository in which our account may do all that a queue needs, with what people do there. */
export async function openGiteaPlace(
  scene: Pick<Scene, 'gitea' | 'people' | 'author' | 'bot' | 'onProtected'>,
  name: string,
  options: object = {},
) {
  const { gitea, author, bot } = scene;
  const repository = await gitea.newRepository(author, name, options);
  const asAuthor = <T = unknown>(method: string, path: string, body?: object): Promise<T> =>
    gitea.call<T>(author.token, method, `${repository.path}${path}`, body);
  await asAuthor('PUT', `/collaborators/${bot.name}`, { permission: 'admin' });
  await asAuthor('PATCH', '', { has_pull_requests: true, allow_manual_merge: true });
  return {
    gitea: repository,
    cloneUrl: repository.remote(author),
    addWebhook: async (url: string, secret: string) => {
      const config = { url, content_type: 'json', secret };
      await asAuthor('POST', '/hooks', { type: 'gitea', active: true, events, config });
    },
    ...pullRequestsOf(asAuthor),
    ...wordsOf(scene, repository, asAuthor),
    ...reviewsOf(scene, repository, asAuthor),
    ...rightsOf(scene, asAuthor),
    ...checksOf(repository, asAuthor),
  };
}

type Ask = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

type ApiPullRequest = {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly merged: boolean;
  readonly draft: boolean;
  readonly merge_commit_sha: string | null;
  readonly head: { readonly sha: string };
  readonly labels: readonly { readonly id: number; readonly name: string }[];
};

const draftPrefix = 'WIP: ';
const titled = (title: string, draft: boolean) =>
  `${draft ? draftPrefix : ''}${title.replace(new RegExp(`^${draftPrefix}`), '')}`;

const pullRequestsOf = (
  ask: Ask,
): Pick<Place, 'openPullRequest' | 'changePullRequest' | 'showPullRequest' | 'listOpen' | 'vacantNumber'> => {
  const read = (number: number) => ask<ApiPullRequest>('GET', `/pulls/${number}`);
  return {
    openPullRequest: async ({ branch, title, base = 'main', body = '', draft = false }) => {
      const wish = { head: branch, base, title: titled(title, draft), body };
      return (await ask<ApiPullRequest>('POST', '/pulls', wish)).number;
    },
    changePullRequest: async (number, { state, base, draft }) => {
      const title = draft === undefined ? undefined : titled((await read(number)).title, draft);
      await ask('PATCH', `/pulls/${number}`, {
        ...(state === undefined ? {} : { state }),
        ...(base === undefined ? {} : { base }),
        ...(title === undefined ? {} : { title }),
      });
    },
    showPullRequest: async (number) => {
      const { state, merged, draft, title, head, merge_commit_sha, labels } = await read(number);
      return {
        state: merged ? 'merged' : state === 'open' ? 'open' : 'closed',
        draft,
        title,
        headSha: head.sha,
        mergeSha: merged ? merge_commit_sha : null,
        labels: labels.map((label) => label.name),
      };
    },
    listOpen: async () => {
      const open = await ask<readonly ApiPullRequest[]>('GET', '/pulls?state=open&limit=50');
      return open.map(({ number }) => number);
    },
    vacantNumber: () => Promise.resolve(999),
  };
};

type ApiComment = { readonly id: number; readonly body: string; readonly user: { readonly login: string } };

const wordsOf = (
  { gitea, people }: Pick<Scene, 'gitea' | 'people'>,
  { path }: GiteaRepository,
  ask: Ask,
): Pick<
  Place,
  'comment' | 'editComment' | 'deleteComment' | 'listComments' | 'label' | 'openIssue' | 'listIssues'
> => ({
  openIssue: async (by, title, body) =>
    (
      await gitea.call<{ readonly number: number }>(people.get(by)!.token, 'POST', `${path}/issues`, {
        title,
        body,
      })
    ).number,
  listIssues: async () => {
    const issues = await ask<
      readonly {
        readonly number: number;
        readonly title: string;
        readonly body: string;
        readonly state: string;
        readonly user: { readonly login: string };
      }[]
    >('GET', '/issues?state=all&type=issues&limit=50');
    return issues
      .map(({ number, title, body, state, user }) => ({
        number,
        title,
        text: body,
        author: user.login,
        isOpen: state === 'open',
      }))
      .toSorted((a, b) => a.number - b.number);
  },
  comment: async (by, number, body) => {
    const { token } = people.get(by)!;
    const { id } = await gitea.call<ApiComment>(token, 'POST', `${path}/issues/${number}/comments`, { body });
    return String(id);
  },
  editComment: async (_number, id, body) => {
    await ask('PATCH', `/issues/comments/${id}`, { body });
  },
  deleteComment: async (_number, id) => {
    await ask('DELETE', `/issues/comments/${id}`);
  },
  listComments: async (number) => {
    const comments = await ask<readonly ApiComment[]>('GET', `/issues/${number}/comments`);
    return comments.map(({ id, body, user }) => ({ id: String(id), author: user.login, text: body }));
  },
  label: async (number, label, isOn, by) => {
    type ApiLabel = { readonly id: number; readonly name: string };
    const labels = await ask<readonly ApiLabel[]>('GET', '/labels?limit=50');
    const known = labels.find(({ name }) => name === label);
    const { id } = known ?? (await ask<ApiLabel>('POST', '/labels', { name: label, color: '#00aabb' }));
    const person = by === undefined ? undefined : people.get(by)!;
    const act = (method: string, at: string, body?: object) =>
      person === undefined ? ask(method, at, body) : gitea.call(person.token, method, `${path}${at}`, body);
    if (isOn) await act('POST', `/issues/${number}/labels`, { labels: [id] });
    else await act('DELETE', `/issues/${number}/labels/${id}`);
  },
});

type ApiReview = { readonly id: number; readonly user: { readonly login: string } };

const reviewEvents = { approved: 'APPROVED', changes_requested: 'REQUEST_CHANGES', commented: 'COMMENT' };

const reviewsOf = (
  { gitea, people }: Pick<Scene, 'gitea' | 'people'>,
  { path, name }: GiteaRepository,
  ask: Ask,
): Pick<Place, 'review' | 'openFromFork'> => ({
  review: async (number, by, decision) => {
    const at = `/pulls/${number}/reviews`;
    if (decision !== 'dismissed') {
      const review = { event: reviewEvents[decision], body: 'Looked at.' };
      await gitea.call(people.get(by)!.token, 'POST', `${path}${at}`, review);
      return;
    }
    const reviews = await ask<readonly ApiReview[]>('GET', at);
    const last = reviews.findLast(({ user }) => user.login === by)!;
    await ask('POST', `${at}/${last.id}/dismissals`, { message: 'No longer.' });
  },
  openFromFork: async (by) => {
    const { token } = people.get(by)!;
    const fork = `${by}/${name}`;
    const content = Buffer.from('theirs').toString('base64');
    await gitea.call(token, 'POST', `${path}/forks`, {});
    await gitea.call(token, 'POST', `/repos/${fork}/contents`, {
      branch: 'main',
      new_branch: 'theirs',
      message: 'Theirs',
      files: [{ operation: 'create', path: 'theirs.txt', content }],
    });
    const wish = { head: `${by}:theirs`, base: 'main', title: 'Theirs' };
    const { number } = await gitea.call<ApiPullRequest>(token, 'POST', `${path}/pulls`, wish);
    return {
      number,
      fork,
      deleteFork: async () => void (await gitea.call(token, 'DELETE', `/repos/${fork}`)),
    };
  },
});

const rightsOf = (
  { gitea, people, onProtected }: Pick<Scene, 'gitea' | 'people' | 'onProtected'>,
  ask: Ask,
): Pick<Place, 'grant' | 'protect'> => ({
  grant: async (person, permission: Permission) => {
    if (!people.has(person)) people.set(person, await gitea.newUser(person));
    if (permission === 'none') await ask('DELETE', `/collaborators/${person}`);
    else await ask('PUT', `/collaborators/${person}`, { permission });
  },
  protect: async (branch, rules) => {
    const path = `/branch_protections/${branch}`;
    const isThere = await ask('GET', path).then(
      () => true,
      () => false,
    );
    if (isThere) await ask('DELETE', path);
    onProtected();
    if (rules === null) return;
    const { requiredChecks, pushers = null, mustBeUpToDate = false } = rules;
    await ask('POST', '/branch_protections', {
      rule_name: branch,
      enable_push: true,
      enable_push_whitelist: pushers !== null,
      push_whitelist_usernames: pushers ?? [],
      enable_status_check: requiredChecks.length > 0,
      status_check_contexts: requiredChecks,
      block_on_outdated_branch: mustBeUpToDate,
    });
  },
});

type ApiStatus = { readonly context: string; readonly status: Status['state'] };

const checksOf = (
  { owner, name }: GiteaRepository,
  ask: Ask,
): Pick<Place, 'report' | 'reportRun' | 'listStatuses'> => ({
  report: async (sha, { name: context, state }) => {
    await ask('POST', `/statuses/${sha}`, { context, state, target_url: 'https://ci.example.com/1' });
  },
  // As Actions write them: they are told by where they lead to.
  reportRun: async (sha, { name: context, conclusion }) => {
    const target_url = `/${owner}/${name}/actions/runs/1/jobs/0`;
    await ask('POST', `/statuses/${sha}`, { context, state: conclusion ?? 'pending', target_url });
  },
  listStatuses: async (sha) => {
    const { statuses } = await ask<{ statuses: readonly ApiStatus[] | null }>(
      'GET',
      `/commits/${sha}/status?limit=50`,
    );
    return (statuses ?? []).map(({ context, status }) => ({ name: context, state: status }));
  },
});

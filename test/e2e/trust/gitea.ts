// A repository at a real Gitea.

import { join } from 'node:path';
import type { Gitea, GiteaUser } from '../../gitea/server.ts';
import type { Change, HostControl, Permission, Recorded, Rules } from './model.ts';

/** Accounts that every situation shares; rights are given per repository. */
type GiteaPeople = Readonly<Record<'ada' | 'grace' | 'mallory' | 'signalbox', GiteaUser>>;

export type GiteaSite = { readonly gitea: Gitea; readonly people: GiteaPeople };

export async function openGiteaSite(gitea: Gitea): Promise<GiteaSite> {
  const [ada, grace, mallory, signalbox] = await Promise.all(
    ['ada', 'grace', 'mallory', 'signalbox-bot'].map((name) => gitea.newUser(name)),
  );
  return { gitea, people: { ada: ada!, grace: grace!, mallory: mallory!, signalbox: signalbox! } };
}

type As = 'ada' | 'grace' | 'mallory';
type Ask = <T = unknown>(by: string, method: string, path: string, body?: object) => Promise<T>;

type Place = { readonly site: GiteaSite; readonly name: string; readonly ask: Ask };

const events = ['push', 'create', 'delete', 'pull_request', 'issue_comment', 'status'];

export async function openGiteaPlace(
  site: GiteaSite,
  name: string,
  hook: { readonly url: string; readonly secret: string },
): Promise<HostControl> {
  const { gitea, people } = site;
  const { path } = await gitea.newRepository(people.ada, name);
  const ask: Ask = (by, method, at, body) => gitea.call(people[by as As].token, method, `${path}${at}`, body);
  await ask('ada', 'PUT', `/collaborators/${people.signalbox.name}`, { permission: 'admin' });
  await ask('ada', 'PATCH', '', { has_pull_requests: true, allow_manual_merge: true });
  const place: Place = { site, name, ask };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret };
  const { id } = await ask<{ id: number }>('ada', 'POST', '/hooks', {
    type: 'gitea',
    active: true,
    events,
    config,
  });
  return {
    kind: 'gitea',
    repo: { host: new URL(gitea.url).host, owner: 'ada', name },
    directory: join(gitea.repositories, 'ada', `${name}.git`),
    grant: (person, permission) => grant(place, person, permission),
    settled: () => Promise.resolve(),
    branch: async (branch) =>
      void (await ask('ada', 'POST', '/branches', { new_branch_name: branch, old_branch_name: 'main' })),
    webhooks: async (isOn) => void (await ask('ada', 'PATCH', `/hooks/${id}`, { active: isOn })),
    ...pullRequestsOf(place),
    ...reviewsOf(place),
    ...wordsOf(place),
    ...checksOf(place),
  };
}

async function grant({ ask }: Place, person: string, permission: Permission): Promise<void> {
  // The owner, who administers it whatever anybody says.
  if (person === 'ada') return;
  if (permission === 'none') await ask('ada', 'DELETE', `/collaborators/${person}`);
  // Gitea has no right between reading and writing that lets people label.
  else
    await ask('ada', 'PUT', `/collaborators/${person}`, {
      permission: permission === 'triage' ? 'read' : permission,
    });
}

type ApiPull = {
  readonly number: number;
  readonly state: string;
  readonly merged: boolean;
  readonly title: string;
  readonly head: { readonly sha: string; readonly ref: string };
  readonly labels: readonly { readonly id: number; readonly name: string }[];
};

type Files = Readonly<Record<string, string | null>>;

const filesOf = (files: Files) =>
  Object.entries(files).map(([path, text]) =>
    text === null
      ? { operation: 'delete', path }
      : { operation: 'create', path, content: Buffer.from(text).toString('base64') },
  );

function pullRequestsOf({
  site: { gitea, people },
  name,
  ask,
}: Place): Pick<HostControl, 'open' | 'push' | 'change' | 'shown' | 'pushToMain'> {
  const heads = new Map<number, { readonly branch: string; readonly by: string; readonly isFork: boolean }>();
  const forks = new Set<string>();
  const commit = async (by: string, isFork: boolean, wish: object) => {
    const repository = `/repos/${isFork ? by : 'ada'}/${name}`;
    const { commit: made } = await gitea.call<{ commit: { sha: string } }>(
      people[by as As].token,
      'POST',
      `${repository}/contents`,
      wish,
    );
    return made.sha;
  };
  return {
    open: async (count, change: Change) => {
      const { by = 'grace', files = {}, labels = [], fork: isFork = false, draft = false } = change;
      const branch = `change-${count}`;
      const title = change.title ?? `Change ${branch}`;
      if (isFork && !forks.has(by)) await ask(by, 'POST', '/forks', {});
      if (isFork) forks.add(by);
      const sha = await commit(by, isFork || by === 'mallory', {
        branch: 'main',
        new_branch: branch,
        message: title,
        files: filesOf(files),
      });
      const ids = await Promise.all(labels.map((label) => labelId(ask, label)));
      const { number } = await ask<ApiPull>(by, 'POST', '/pulls', {
        head: isFork ? `${by}:${branch}` : branch,
        base: 'main',
        title: draft ? `WIP: ${title}` : title,
        body: change.body ?? '',
        labels: ids,
      });
      heads.set(number, { branch, by, isFork });
      return { number, sha };
    },
    push: (number, files) => {
      const { branch, by, isFork } = heads.get(number)!;
      return commit(by, isFork, { branch, message: 'More', files: filesOf(files) });
    },
    change: async (number, { state, base, draft }) => {
      const pull = await ask<ApiPull>('ada', 'GET', `/pulls/${number}`);
      const bare = pull.title.replace(/^WIP: /, '');
      await ask('ada', 'PATCH', `/pulls/${number}`, {
        ...(state === undefined ? {} : { state }),
        ...(base === undefined ? {} : { base }),
        ...(draft === undefined ? {} : { title: draft ? `WIP: ${bare}` : bare }),
      });
    },
    shown: async (number) => {
      const { merged, state } = await ask<ApiPull>('ada', 'GET', `/pulls/${number}`);
      return merged ? 'merged' : state;
    },
    pushToMain: (files) =>
      commit('ada', false, { branch: 'main', message: 'By hand', files: filesOf(files) }),
  };
}

type ApiReview = { readonly id: number; readonly state: string; readonly user: { readonly login: string } };

const reviewsOf = ({ ask }: Place): Pick<HostControl, 'review'> => ({
  review: async (by, number, state) => {
    const at = `/pulls/${number}/reviews`;
    if (state !== 'dismissed') {
      const event = state === 'approved' ? 'APPROVED' : 'REQUEST_CHANGES';
      await ask(by, 'POST', at, { event, body: 'Looked at.' });
      return;
    }
    const reviews = await ask<readonly ApiReview[]>('ada', 'GET', at);
    const last = reviews.findLast(({ user }) => user.login === by)!;
    await ask('ada', 'POST', `${at}/${last.id}/dismissals`, { message: 'No longer.' });
  },
});

async function labelId(ask: Ask, label: string): Promise<number> {
  type ApiLabel = { readonly id: number; readonly name: string };
  const known = (await ask<readonly ApiLabel[]>('ada', 'GET', '/labels?limit=50')).find(
    (one) => one.name === label,
  );
  return (known ?? (await ask<ApiLabel>('ada', 'POST', '/labels', { name: label, color: '#00aabb' }))).id;
}

type ApiComment = { readonly id: number; readonly body: string; readonly user: { readonly login: string } };

const wordsOf = ({
  site,
  ask,
}: Place): Pick<HostControl, 'comment' | 'editComment' | 'comments' | 'label' | 'labels'> => ({
  comment: async (by, number, body) =>
    String((await ask<ApiComment>(by, 'POST', `/issues/${number}/comments`, { body })).id),
  editComment: async (by, _number, id, body) =>
    void (await ask(by, 'PATCH', `/issues/comments/${id}`, { body })),
  comments: async (number) => {
    const found = await ask<readonly ApiComment[]>('ada', 'GET', `/issues/${number}/comments`);
    return found.filter(({ user }) => user.login === site.people.signalbox.name).map(({ body }) => body);
  },
  label: async (by, number, label, isOn) => {
    const id = await labelId(ask, label);
    if (isOn) await ask(by, 'POST', `/issues/${number}/labels`, { labels: [id] });
    else await ask(by, 'DELETE', `/issues/${number}/labels/${id}`);
  },
  labels: async (number) =>
    (await ask<ApiPull>('ada', 'GET', `/pulls/${number}`)).labels.map(({ name }) => name),
});

type ApiStatus = { readonly context: string; readonly status: string };

/** The conclusions of Actions, as Gitea writes them into commit statuses (services/actions/commit_status.go). */
const states: Readonly<Record<string, string>> = {
  success: 'success',
  skipped: 'skipped',
  failure: 'failure',
  cancelled: 'failure',
};

const checksOf = ({ ask }: Place): Pick<HostControl, 'report' | 'recorded' | 'protect'> => ({
  report: async (sha, { name: context, conclusion }) => {
    const state = conclusion === null ? 'pending' : (states[conclusion] ?? 'error');
    await ask('ada', 'POST', `/statuses/${sha}`, { context, state, target_url: 'https://ci.example.com/1' });
  },
  recorded: async (sha) => {
    const { statuses } = await ask<{ statuses: readonly ApiStatus[] | null }>(
      'ada',
      'GET',
      `/commits/${sha}/status?limit=50`,
    );
    // Gitea does not bind a check to who reports it.
    return (statuses ?? []).flatMap(({ context, status }): Recorded[] =>
      (['ci', 'status'] as const).map((source) => ({ name: context, conclusion: status, source })),
    );
  },
  protect: async (rules: Rules | null) => {
    const at = '/branch_protections/main';
    await ask('ada', 'DELETE', at).catch(() => undefined);
    if (rules === null) return;
    const { checks, approvals = 0 } = rules;
    await ask('ada', 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_push: true,
      enable_status_check: checks.length > 0,
      status_check_contexts: checks.map(({ name }) => name),
      required_approvals: approvals,
      block_on_rejected_reviews: approvals > 0,
    });
  },
});

// A repository at the GitHub-compatible server of the tests.

import type { GithubServer } from '../../github-server/server.ts';
import { gitIn } from './audit.ts';
import type { Change, HostControl, Permission, Recorded, Report, Rules } from './model.ts';

export const owner = 'acme';
const ciApp = 'github-actions';
/** An App that may write checks and is not the App of CI. */
const otherApp = 'other-checks';

type Place = { readonly server: GithubServer; readonly name: string; readonly tokens: Map<string, string> };

export async function openGithubPlace(server: GithubServer, name: string): Promise<HostControl> {
  const fullName = `${owner}/${name}`;
  const { directory } = await server.newRepository(fullName, { isPrivate: false });
  server.newApp(otherApp);
  const tokens = new Map<string, string>();
  const place: Place = { server, name: fullName, tokens };
  return {
    kind: 'github',
    repo: { host: new URL(server.url).host, owner, name },
    directory,
    grant: (person, permission) => Promise.resolve(grant(place, person, permission)),
    settled: server.settled,
    github: { server, fullName },
    branch: async (branch) => {
      await server.setBranch(fullName, branch, await gitIn(directory, 'rev-parse', 'refs/heads/main'));
    },
    webhooks: (isOn) => Promise.resolve(server.setWebhook({ mode: isOn ? 'on' : 'off' })),
    ...pullRequestsOf(place),
    ...wordsOf(place),
    ...checksOf(place),
  };
}

function grant({ server, name, tokens }: Place, person: string, permission: Permission): void {
  if (!tokens.has(person)) tokens.set(person, server.newUser(person).token);
  server.setAccess(name, person, permission);
}

function pullRequestsOf({
  server,
  name,
}: Place): Pick<HostControl, 'open' | 'push' | 'change' | 'shown' | 'review' | 'pushToMain'> {
  const forks = new Map<string, string>();
  const heads = new Map<
    number,
    { readonly branch: string; readonly fork: string | null; readonly by: string }
  >();
  const forkOf = async (person: string): Promise<string> => {
    const known = forks.get(person) ?? (await server.fork(name, person)).fullName;
    forks.set(person, known);
    return known;
  };
  return {
    open: async (count, change: Change) => {
      const { by = 'grace', files = {}, labels = [], fork: isFork = false } = change;
      const branch = `change-${count}`;
      const fork = isFork ? await forkOf(by) : null;
      const { number, headSha } = await server.openPullRequest(name, {
        branch,
        files,
        by,
        ...(fork === null ? {} : { fork }),
        ...(change.title === undefined ? {} : { title: change.title }),
        ...(change.body === undefined ? {} : { body: change.body }),
        ...(change.draft === undefined ? {} : { draft: change.draft }),
      });
      heads.set(number, { branch, fork, by });
      for (const label of labels) await server.label(name, number, label, { by });
      return { number, sha: headSha };
    },
    push: async (number, files) => {
      const { branch, fork, by } = heads.get(number)!;
      return server.commit(fork ?? name, { branch, files, message: 'More', by });
    },
    change: (number, change) => server.changePullRequest(name, number, change, 'ada'),
    shown: (number) => {
      const { merged, state } = server.pullRequest(name, number);
      return Promise.resolve(merged === null ? state : 'merged');
    },
    review: (by, number, state) => Promise.resolve(server.review(name, number, by, state)),
    pushToMain: (files) => server.commit(name, { branch: 'main', files, message: 'By hand' }),
  };
}

function wordsOf({
  server,
  name,
  tokens,
}: Place): Pick<HostControl, 'comment' | 'editComment' | 'comments' | 'label' | 'labels'> {
  const at = `/repos/${name}/issues`;
  return {
    comment: (by, number, text) => Promise.resolve(String(server.comment(name, number, by, text))),
    editComment: async (by, _number, id, text) =>
      void (await ask(server, tokens.get(by)!, 'PATCH', `${at}/comments/${id}`, { body: text })),
    comments: async (number) => {
      const found = await ask(server, tokens.get('ada')!, 'GET', `${at}/${number}/comments?per_page=100`);
      const comments = found as readonly {
        readonly body: string;
        readonly user: { readonly login: string };
      }[];
      return comments.filter(({ user }) => user.login.endsWith('[bot]')).map(({ body }) => body);
    },
    label: (by, number, label, on) => server.label(name, number, label, { by, on }),
    labels: (number) => Promise.resolve(server.pullRequest(name, number).labels.map((one) => one.name)),
  };
}

function checksOf({ server, name, tokens }: Place): Pick<HostControl, 'report' | 'recorded' | 'protect'> {
  return {
    report: async (sha, { name: context, conclusion, source = 'ci' }: Report) => {
      if (source === 'status') {
        const state = conclusion === 'success' ? 'success' : conclusion === null ? 'pending' : 'failure';
        await server.setStatus(name, sha, { context, state }, 'grace');
      } else
        await server.completeCheckRun(name, sha, {
          name: context,
          conclusion,
          ...(source === 'other' ? { app: otherApp } : {}),
        });
    },
    recorded: (sha) => recordedOf(server, tokens.get('ada')!, name, sha),
    protect: async (rules) => {
      const isBound = rules?.checks.some(({ source }) => source === 'bound') === true;
      protect(server, name, rules, isBound ? await ciAppId(server, tokens.get('ada')!, name) : null);
    },
  };
}

type ApiRun = {
  readonly name: string;
  readonly conclusion: string | null;
  readonly app: { readonly slug: string };
};

async function recordedOf(
  server: GithubServer,
  token: string,
  name: string,
  sha: string,
): Promise<Recorded[]> {
  const at = `/repos/${name}/commits/${sha}`;
  const { check_runs: runs } = (await ask(server, token, 'GET', `${at}/check-runs?per_page=100`)) as {
    readonly check_runs: readonly ApiRun[];
  };
  const { statuses } = (await ask(server, token, 'GET', `${at}/status?per_page=100`)) as {
    readonly statuses: readonly { readonly context: string; readonly state: string }[];
  };
  return [
    ...runs.map(({ name: check, conclusion, app }): Recorded => {
      return { name: check, conclusion, source: app.slug === ciApp ? 'ci' : 'other' };
    }),
    ...statuses.map(({ context, state }): Recorded => {
      return { name: context, conclusion: state, source: 'status' };
    }),
  ];
}

/** The id of the App of CI, as a check run of it on the branch shows it. */
async function ciAppId(server: GithubServer, token: string, name: string): Promise<number> {
  const { commit } = (await ask(server, token, 'GET', `/repos/${name}/branches/main`)) as {
    readonly commit: { readonly sha: string };
  };
  await server.completeCheckRun(name, commit.sha, { name: 'ci/begin', conclusion: 'success' });
  const { check_runs: runs } = (await ask(
    server,
    token,
    'GET',
    `/repos/${name}/commits/${commit.sha}/check-runs`,
  )) as { readonly check_runs: readonly { readonly app: { readonly id: number } }[] };
  return runs[0]!.app.id;
}

function protect(server: GithubServer, name: string, rules: Rules | null, ciId: number | null): void {
  const checks = rules?.checks ?? [];
  const { approvals = 0 } = rules ?? {};
  server.protect(
    name,
    'main',
    rules === null
      ? null
      : {
          checks:
            checks.length === 0
              ? null
              : {
                  strict: false,
                  contexts: checks.map((check) => check.name),
                  appIds: Object.fromEntries(
                    checks.flatMap((check) => (check.source === 'bound' ? [[check.name, ciId!]] : [])),
                  ),
                },
          reviews: approvals === 0 ? null : { approvals, bypass: [server.appSlug] },
        },
  );
}

async function ask(
  server: GithubServer,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${server.apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

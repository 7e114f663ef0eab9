import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RepositoryId } from '#base/id.ts';
import { createGiteaHost } from '#host/gitea/host.ts';
import { type GiteaUser, startGitea } from '../gitea/server.ts';
import { eventually } from '../gitea/process.ts';
import { connectionsOf, organizationId, stubHost } from '../host-contract/gitea-stub.ts';
import { receiveWebhooks } from '../host-contract/world.ts';
import { connectRepository, describeMatrix, label, logins, type Stage, type World } from './matrix.ts';
import { silentLog } from '../support/silent-log.ts';

// Gitea has no accounts of its own for bots: this is one that a bot uses, with the right to read.
const people = { ...logins, bot: 'renovate' };
const path = '/repos/acme/matrix';
/** More than there are cells. */
const branchesMax = 90;

/** All branches with one push: to make each by the API would take longer than the rest. */
async function pushBranches(remote: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-matrix-'));
  const git = (args: readonly string[], input = '') => {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
    execFileSync('git', ['-C', folder, ...args], { env, input, stdio: ['pipe', 'ignore', 'ignore'] });
  };
  git(['clone', '--quiet', remote, '.']);
  const commits = Array.from({ length: branchesMax }, (_, index) => {
    const branch = `change-${index + 1}`;
    const who = `committer Ada <ada@example.com> ${1_700_000_000 + index} +0000`;
    return `commit refs/heads/${branch}\n${who}\ndata 3\nAdd\nfrom refs/remotes/origin/main\nM 100644 inline ${branch}.txt\ndata 1\nx\n`;
  });
  git(['fast-import', '--quiet'], commits.join('\n'));
  git(['push', '--quiet', 'origin', 'refs/heads/change-*:refs/heads/change-*']);
  await rm(folder, { recursive: true, force: true });
}

async function openStage(world: World): Promise<Stage> {
  const gitea = await startGitea();
  const receiver = await receiveWebhooks();
  const secret = randomBytes(16).toString('hex');
  const users = new Map<string, GiteaUser>();
  for (const login of ['author', 'signalbox-bot', ...Object.values(people)])
    users.set(login, await gitea.newUser(login));
  const asAdmin = <T>(method: string, at: string, body?: object) =>
    gitea.call<T>(gitea.adminToken, method, at, body);
  await asAdmin('POST', '/orgs', { username: 'acme' });
  await asAdmin('POST', '/orgs/acme/repos', { name: 'matrix', auto_init: true, default_branch: 'main' });
  const access = { author: 'write', 'signalbox-bot': 'admin', rita: 'read', renovate: 'read' } as const;
  for (const [login, permission] of Object.entries({
    ...access,
    wanda: 'write',
    ada: 'admin',
    dora: 'admin',
  }))
    await asAdmin('PUT', `${path}/collaborators/${login}`, { permission });
  // Who may label and edit comments without a right to the code: a team with units of its own.
  const team = await asAdmin<{ id: number }>('POST', '/orgs/acme/teams', {
    name: 'triage',
    permission: 'write',
    units_map: { 'repo.code': 'read', 'repo.issues': 'write', 'repo.pulls': 'write' },
  });
  await asAdmin('PUT', `/teams/${team.id}/members/tess`);
  await asAdmin('PUT', `/teams/${team.id}/repos/acme/matrix`);
  const made = await asAdmin<{ id: number }>('POST', `${path}/labels`, { name: label, color: '#00aabb' });
  const config = { url: receiver.url, content_type: 'json', secret };
  const events = [
    'push',
    'create',
    'delete',
    'pull_request',
    'issue_comment',
    'pull_request_review',
    'status',
  ];
  await asAdmin('POST', `${path}/hooks`, { type: 'gitea', active: true, events, config });
  const repository = {
    host: stubHost,
    owner: 'acme',
    name: 'matrix',
    id: randomUUID() as RepositoryId,
    organizationId,
  };
  await connectRepository(world, repository);
  const connections = connectionsOf(gitea.url, { kind: 'token', token: users.get('signalbox-bot')!.token });
  /** Null: Gitea itself refuses it. */
  const as = async <T>(login: string, method: string, at: string, body?: object): Promise<T | null> =>
    gitea.call<T>(users.get(login)!.token, method, `${path}${at}`, body).catch(() => null);
  await pushBranches(
    `${gitea.url.replace('://', `://author:${users.get('author')!.password}@`)}/acme/matrix.git`,
  );
  let count = 0;
  return {
    newHost: () =>
      createGiteaHost({ host: stubHost, connections, clock: { now: () => new Date() }, log: silentLog }),
    repository,
    people,
    propose: async (labelledBy) => {
      count += 1;
      const branch = `change-${count}`;
      const wish = { head: branch, base: 'main', title: branch };
      const labels = labelledBy === null ? {} : { labels: [made.id] };
      const pull = await as<{ number: number }>(labelledBy ?? 'author', 'POST', '/pulls', {
        ...wish,
        ...labels,
      });
      return pull?.number ?? null;
    },
    comment: async (by, number, body) => {
      const written = await as<{ id: number }>(by, 'POST', `/issues/${number}/comments`, { body });
      return written === null ? null : String(written.id);
    },
    editComment: async (_number, id, body) => {
      await asAdmin('PATCH', `${path}/issues/comments/${id}`, { body });
    },
    review: (by, number, body) => as(by, 'POST', `/pulls/${number}/reviews`, { event: 'COMMENT', body }),
    label: (by, number) => as(by, 'POST', `/issues/${number}/labels`, { labels: [made.id] }),
    deleteAccount: (login) => asAdmin('DELETE', `/admin/users/${login}`),
    webhooks: async (host) => {
      // Webhooks are delivered one after the other: what is written last comes last.
      await asAdmin('POST', `${path}/issues/1/comments`, { body: 'The last.' });
      await eventually('all webhooks came', () =>
        Promise.resolve(receiver.deliveries.some(({ body }) => body.includes('The last.')) || undefined),
      );
      return receiver.deliveries.flatMap((delivery) => {
        const result = host.parseWebhook({ ...delivery, secret });
        return result.kind === 'accepted' ? result.events : [];
      });
    },
    close: async () => {
      await receiver.close();
      await gitea.stop();
    },
  };
}

describeMatrix('Gitea', openStage);

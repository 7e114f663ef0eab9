// The sandbox as its users reach it: the control API and git over HTTP, webhooks to a receiver.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cell } from '#db/cell.ts';
import { insertSandboxIssue } from '#db/sandbox/sandbox-issue-store.ts';
import { ensureSandboxConnection } from '#db/account/connection-store.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import type { HostFor } from '#host/host.ts';
import { signatureHeader, signWebhook } from '#host/sandbox/webhook.ts';
import { openHosts } from '../../src/hosts.ts';
import { type Client, clientOf, openWorld as openServer } from '../support/harness.ts';
import { sql } from '../support/sql.ts';
import { describeHostContract } from './suite.ts';
import {
  type HostWorld,
  type Place,
  rateLimitPauseMs,
  receiveWebhooks,
  type ShownIssue,
  type Trouble,
} from './world.ts';

const author = 'ada';

const answers = {
  serverError: '5xx',
  silence: 'timeout',
  rateLimit: 'rate_limited',
  forbidding: 'forbidden',
  refusedConnection: 'ok',
} as const satisfies Record<Trouble, string>;

const missing: HostWorld['missing'] = {
  checkRuns: 'its CI reports statuses only',
  conditionalRequests: 'it has no quota',
  absentRepositories: 'every repository exists as soon as it is named',
  refusedConnection: 'it is not reached over a network',
  deletedForks: 'its forks are names only',
};

async function openWorld(): Promise<HostWorld> {
  const receiver = await receiveWebhooks();
  const dataDir = await mkdtemp(join(tmpdir(), 'signalbox-contract-sandbox-'));
  let hostFor: HostFor = () => null;
  const server = await openServer({ wrapHosts: () => (cell, name) => hostFor(cell, name) });
  const { cells, cell, deps } = server;
  const options = { ...deps, ...deps.config, sandboxScripts: false, dataDir, secretKey: null };
  const hosts = await openHosts({ ...options, publicUrl: receiver.url }, cells);
  ({ hostFor } = hosts);
  const url = await server.server.listen({ host: '127.0.0.1', port: 0 });
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  const scopes = ['read', 'submit', 'admin'] as const;
  const token = await createToken(cell, organizationId, { name: 'contract', scopes, expiresAt: null });
  const client = clientOf(server.server, token);
  const { id, secret } = await ensureSandboxConnection(cell.db, organizationId);
  const repos: Place['repository'][] = [];
  const configureAll = async (faults: object) => {
    for (const repo of repos) await client.call('sandboxConfigureRepository', { repo, faults });
  };

  const host = hostFor(cell.name, 'sandbox.example')!;
  return {
    host,
    impatient: host,
    missing,
    author,
    createRepository: async () => {
      const repo = { host: 'sandbox.example', owner: 'acme', name: `contract-${randomUUID()}` };
      const row = await ensureRepository(cell.db, organizationId, { ...repo, isSandbox: true });
      const repository = { ...row, organizationId };
      repos.push(repository);
      const settings = {
        ci: { mode: 'manual', contexts: [] },
        protection: { main: null },
        people: { '*': 'none', [author]: 'write' },
      };
      await client.call('sandboxConfigureRepository', { repo, ...settings });
      const cloneUrl = `${url.replace('://', `://${author}:${token}@`)}/sandbox/git/${repo.host}/${repo.owner}/${repo.name}.git`;
      return placeOf(cell, client, repository, {
        cloneUrl,
        hookUrl: `${receiver.url}/hooks/${cell.name}_${id}`,
      });
    },
    deliveries: receiver.deliveries,
    webhookSecret: secret,
    signatureHeaders: [signatureHeader],
    headersFor: (_event, body, signedWith) => ({ [signatureHeader]: signWebhook(signedWith, body) }),
    secrets: [token, secret],
    during: async (trouble, work) => {
      await configureAll({ answers: answers[trouble], untilMs: rateLimitPauseMs });
      try {
        return await work();
      } finally {
        await configureAll({ answers: 'ok' });
      }
    },
    quotaUsedBy: () => Promise.resolve(0),
    close: async () => {
      hosts.close();
      await server.close();
      await receiver.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function placeOf(
  cell: Cell,
  client: Client,
  repository: Place['repository'],
  urls: Pick<Place, 'cloneUrl' | 'hookUrl'>,
): Place {
  const { host, owner, name } = repository;
  const repo = { host, owner, name };
  const of = (number: number) => ({ repo, pr: { number } });
  let last = 0;
  const show: Place['showPullRequest'] = async (number) => {
    const { pullRequest } = await client.call('sandboxGetPullRequest', of(number));
    const { state, draft, title, sha: headSha, mergeSha = null, labels } = pullRequest;
    return { state, draft, title, headSha, mergeSha, labels };
  };
  return {
    repository,
    ...urls,
    openPullRequest: async ({ branch, title, base = 'main', body = '', draft = false }) => {
      last += 1;
      const wish = { branch, title, baseBranch: base, body, draft, author };
      await client.call('sandboxCreatePullRequest', { ...of(last), ...wish });
      return last;
    },
    changePullRequest: async (number, { state, base, draft }) => {
      await client.call('sandboxUpdatePullRequest', { ...of(number), state, baseBranch: base, draft });
    },
    showPullRequest: show,
    listOpen: async () =>
      (await client.call('sandboxGetRepository', { repo })).pullRequests.map(({ number }) => number),
    vacantNumber: async () => {
      last += 1;
      await client.call('sandboxRemovePullRequest', of(last));
      return last;
    },
    comment: async (by, number, text) =>
      (await client.call('sandboxWriteComment', { ...of(number), author: by, text })).comment.id,
    openIssue: (by, title, body) =>
      insertSandboxIssue(cell.db, repository.id, { author: by, title, body, isOpen: true, at: new Date() }),
    listIssues: () =>
      sql<ShownIssue>(
        cell.db,
      )`select number, author, title, body as text, is_open as "isOpen" from sandbox_issue
        where repository_id = ${repository.id} order by number`,
    deleteComment: async (number, id) => {
      await client.call('sandboxDeleteComment', { ...of(number), id });
    },
    listComments: async (number) => (await client.call('sandboxListComments', of(number))).comments,
    editComment: async (number, id, text) => {
      await client.call('sandboxEditComment', { ...of(number), id, text });
    },
    label: async (number, label, isOn, by = author) => {
      const change = { add: isOn ? [label] : [], remove: isOn ? [] : [label] };
      await client.call('sandboxChangeLabels', { ...of(number), ...change, by });
    },
    review: async (number, by, state) => {
      await client.call('sandboxReviewPullRequest', { ...of(number), by, state });
    },
    openFromFork: async (by) => {
      last += 1;
      const fork = `${by}/${name}`;
      await client.call('sandboxCreatePullRequest', {
        ...of(last),
        author: by,
        fork,
        baseBranch: 'main',
        files: { 'theirs.txt': 'theirs' },
      });
      return { number: last, fork, deleteFork: () => Promise.reject(new Error('its forks are names only')) };
    },
    grant: async (person, permission) => {
      await client.call('sandboxConfigureRepository', { repo, people: { [person]: permission } });
    },
    protect: async (branch, rules) => {
      const own = rules && {
        requiredChecks: rules.requiredChecks,
        refusePushes: (rules.pushers ?? null) !== null,
        needsUpToDate: rules.mustBeUpToDate === true,
      };
      await client.call('sandboxConfigureRepository', { repo, protection: { [branch]: own } });
    },
    report: async (sha, status) => {
      await client.call('sandboxSetCheck', { repo, sha, ...status });
    },
    reportRun: () => Promise.reject(new Error('the sandbox has no check runs')),
    listStatuses: async (sha) => {
      const { checks = [] } = await client.call('sandboxGetRepository', { repo, sha });
      return checks.map(({ name: check, state }) => ({ name: check, state: state as 'success' }));
    },
  };
}

describeHostContract('sandbox', openWorld);

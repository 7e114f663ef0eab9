// A repository at the sandbox host.

import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import type { HostControl, Permission, Recorded, Rules } from './model.ts';
import type { Api, World } from './world.ts';

export async function openSandboxPlace(world: World, name: string): Promise<HostControl> {
  const repo = { host: 'sandbox.example', owner: 'acme', name };
  const api = await world.api();
  await api.call('sandboxConfigureRepository', { repo, ci: { mode: 'manual', durationMs: 0 } });
  const { id: organizationId } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const found = { ...repo, isSandbox: true };
  const repository = { ...(await ensureRepository(world.cell.db, organizationId, found)), organizationId };
  const host = world.hostFor(world.cell.name, repo.host);
  if (!isSandboxHost(host)) throw new Error('the sandbox does not serve sandbox.example');
  const configure = (change: object) => api.call('sandboxConfigureRepository', { repo, ...change });
  return {
    kind: 'sandbox',
    repo,
    directory: await host.control.directoryOf(repository),
    grant: async (person, permission: Permission) =>
      void (await configure({ people: { [person]: permission === 'triage' ? 'read' : permission } })),
    settled: () => Promise.resolve(),
    branch: async (branch) => {
      const { branches } = await api.call('sandboxGetRepository', { repo });
      const { sha } = branches.find((one) => one.name === 'main')!;
      await api.call('sandboxCommit', { repo, branch, sha });
    },
    webhooks: async (isOn) => void (await configure({ faults: { webhooks: isOn ? 'deliver' : 'drop' } })),
    protect: async (rules: Rules | null) => {
      const requiredChecks = rules?.checks.map((check) => check.name) ?? [];
      await configure({ protection: { main: rules === null ? null : { requiredChecks } } });
    },
    ...pullRequestsOf(api, repo),
    ...wordsOf(api, repo),
    ...checksOf(api, repo),
  };
}

type Repo = HostControl['repo'];

function pullRequestsOf(
  api: Api,
  repo: Repo,
): Pick<HostControl, 'open' | 'push' | 'change' | 'shown' | 'review' | 'pushToMain'> {
  const pr = (number: number) => ({ repo, pr: { number } });
  return {
    open: async (number, { by = 'grace', files, title, body, draft, labels = [] }) => {
      const { pullRequest } = await api.call('sandboxCreatePullRequest', {
        ...pr(number),
        author: by,
        files,
        title: title ?? `Change ${number}`,
        ...(body === undefined ? {} : { body }),
        ...(draft === undefined ? {} : { draft }),
      });
      if (labels.length > 0) await api.call('sandboxChangeLabels', { ...pr(number), add: labels, by });
      return { number, sha: pullRequest.sha };
    },
    push: async (number, files) =>
      (await api.call('sandboxPushPullRequest', { ...pr(number), files })).pullRequest.sha,
    change: async (number, { state, draft, base }) => {
      await api.call('sandboxUpdatePullRequest', {
        ...pr(number),
        ...(state === undefined ? {} : { state }),
        ...(draft === undefined ? {} : { draft }),
        ...(base === undefined ? {} : { baseBranch: base }),
      });
    },
    shown: async (number) => (await api.call('sandboxGetPullRequest', pr(number))).pullRequest.state,
    review: async (_by, number, state) => {
      const mergeability = state === 'approved' ? 'mergeable' : 'not_mergeable';
      await api.call('sandboxUpdatePullRequest', { ...pr(number), mergeability });
    },
    pushToMain: async (files) => (await api.call('sandboxCommit', { repo, branch: 'main', files })).sha!,
  };
}

function wordsOf(
  api: Api,
  repo: Repo,
): Pick<HostControl, 'comment' | 'editComment' | 'comments' | 'label' | 'labels'> {
  const pr = (number: number) => ({ repo, pr: { number } });
  return {
    comment: async (author, number, text) =>
      (await api.call('sandboxWriteComment', { ...pr(number), author, text })).comment.id,
    editComment: () => Promise.reject(new Error('comments of the sandbox cannot be edited by people')),
    comments: async (number) =>
      (await api.call('sandboxListComments', pr(number))).comments
        .filter(({ author }) => author === 'signalbox')
        .map(({ text }) => text),
    label: async (by, number, label, isOn) => {
      await api.call('sandboxChangeLabels', { ...pr(number), by, [isOn ? 'add' : 'remove']: [label] });
    },
    labels: async (number) => (await api.call('sandboxGetPullRequest', pr(number))).pullRequest.labels,
  };
}

function checksOf(api: Api, repo: Repo): Pick<HostControl, 'report' | 'recorded'> {
  return {
    report: async (sha, { name, conclusion }) => {
      await api.call('sandboxSetCheck', { repo, sha, name, state: conclusion ?? 'pending' });
    },
    recorded: async (sha) => {
      const { checks = [] } = await api.call('sandboxGetRepository', { repo, sha });
      return checks.flatMap(({ name, state }): Recorded[] =>
        (['ci', 'status'] as const).map((source) => ({ name, conclusion: state, source })),
      );
    },
  };
}

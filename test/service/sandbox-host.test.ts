// The sandbox as the queue sees it: the Host interface on real repositories.
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { HostError, type MergeRequest } from '#host/host.ts';
import type { SandboxHost } from '#host/sandbox/host.ts';
import { openHosts } from '../../src/hosts.ts';
import { emptyFolder, git, numbered, openSandbox, type SandboxWorld } from '../fixture/sandbox.ts';
import { widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

const gone = 'feedface00000000000000000000000000000001';

async function pullRequest({ team }: SandboxWorld, number: number, files?: object) {
  const input = { ...numbered(number), title: `Change ${number}`, author: 'grace', files };
  return (await team.call('sandboxCreatePullRequest', input)).pullRequest;
}

const mergeOf = (
  { repository }: SandboxWorld,
  number: number,
  headSha: string,
  method: MergeRequest['method'] = 'squash',
): MergeRequest => ({
  repository,
  number,
  targetBranch: 'main',
  method,
  headSha,
  title: `Change ${number} (#${number})`,
  message: 'Because.',
});

const directoryOf = async ({ host, repository }: SandboxWorld) => (await host.remoteOf(repository)).url;

describe('pull requests of the sandbox', () => {
  it('are commits of the files that a script gives, and of those it pushes', async () => {
    const sandbox = await openSandbox();
    const made = await pullRequest(sandbox, 1, {
      'src/a.txt': 'a\n',
      'run.sh': { content: '#!/bin/sh\n', executable: true },
      'README.md': null,
    });
    const directory = await directoryOf(sandbox);
    expect((await git(directory, 'ls-tree', '-r', made.sha)).replaceAll(/\b[0-9a-f]{40}\b/g, '·')).toBe(
      '100755 blob ·\tci.sh\n100755 blob ·\trun.sh\n100644 blob ·\tsrc/a.txt',
    );
    expect(await git(directory, 'log', '-1', '--format=%an|%s', made.sha)).toBe('grace|Change 1');
    const { pullRequest: pushed } = await sandbox.team.call('sandboxPushPullRequest', {
      ...numbered(1),
      files: { 'src/a.txt': 'b\n' },
    });
    expect(await git(directory, 'rev-parse', `${pushed.sha}^`)).toBe(made.sha);
    const again = await sandbox.team.call('sandboxPushPullRequest', numbered(1));
    await directoryOf(sandbox);
    expect(await git(directory, 'rev-parse', 'refs/pull/1/head')).toBe(again.pullRequest.sha);
  });

  it('have a body, and a head that nobody can fetch where the script made it up', async () => {
    const sandbox = await openSandbox();
    const input = { ...numbered(2), body: 'Why\nnot', sha: gone };
    expect((await sandbox.team.call('sandboxCreatePullRequest', input)).pullRequest).toMatchObject({
      body: 'Why\nnot',
      sha: gone,
    });
    const query = { repository: sandbox.repository, number: 2 };
    expect(await sandbox.host.readPullRequest(query)).toMatchObject({ body: 'Why\nnot', headSha: gone });
    expect(await git(await directoryOf(sandbox), 'for-each-ref', 'refs/pull')).toBe('');
    expect(await sandbox.host.merge(mergeOf(sandbox, 2, gone))).toMatchObject({ kind: 'refused' });
  });

  it('are the same whoever looks first, and are written again when the disk was lost', async () => {
    const sandbox = await openSandbox();
    const folder = await emptyFolder();
    const { cells, deps } = sandbox.world;
    const options = {
      ...deps,
      ...deps.config,
      sandboxScripts: false,
      dataDir: folder,
      secretKey: null,
      publicUrl: null,
    };
    const hosts = await Promise.all([1, 2, 3].map(() => openHosts(options, cells)));
    const query = { repository: sandbox.repository, number: 5 };
    const remotes = await Promise.all(
      hosts.map(async ({ hostFor }) => {
        const host = hostFor('main', widgets.host) as SandboxHost;
        const seen = (await host.createNamedPullRequest(query, 'release/1'))!.headSha;
        const { url } = await host.remoteOf(sandbox.repository);
        return [seen, await git(url, 'rev-parse', 'refs/pull/5/head'), url];
      }),
    );
    expect(new Set(remotes.map((remote) => remote.join(' '))).size).toBe(1);
    const [sha = '', written, url = ''] = remotes[0]!;
    expect(written).toBe(sha);
    await rm(url, { recursive: true });
    await hosts[0]!.hostFor('main', widgets.host)!.remoteOf(sandbox.repository);
    expect(await git(url, 'rev-parse', 'refs/pull/5/head')).toBe(sha);
    expect(await git(url, 'branch', '--list', 'release/1')).toMatch('release/1');
  });

  it('keep a target branch deleted that somebody deleted', async () => {
    const sandbox = await openSandbox();
    await sandbox.host.createNamedPullRequest({ repository: sandbox.repository, number: 1 }, 'old');
    const directory = await directoryOf(sandbox);
    expect(await git(directory, 'branch', '--list', 'old')).toMatch('old');
    await sandbox.team.call('sandboxCommit', { repo: widgets, branch: 'old', delete: true });
    await sandbox.host.createNamedPullRequest({ repository: sandbox.repository, number: 2 }, 'old');
    expect(await git(await directoryOf(sandbox), 'branch', '--list', 'old')).toBe('');
  });
});

describe('branches of the sandbox', () => {
  it('take commits, move back only by force, and are told of', async () => {
    const sandbox = await openSandbox();
    const { team } = sandbox;
    const commit = (input: object) => team.call('sandboxCommit', { repo: widgets, branch: 'main', ...input });
    const first = await commit({ files: { 'a.txt': 'a' } });
    const second = await commit({ files: { 'a.txt': 'b' }, message: 'Second', author: 'Ada' });
    const directory = await directoryOf(sandbox);
    expect(await git(directory, 'rev-parse', 'main', 'main^')).toBe(`${second.sha}\n${first.sha}`);
    const input = { repo: widgets, branch: 'main', sha: first.sha };
    expect((await team.refusal('sandboxCommit', input, 409)).message).toMatch(/Set force/);
    expect(await commit({ sha: first.sha, force: true })).toEqual({ branch: 'main', sha: first.sha });
    expect(await git(directory, 'rev-parse', 'main')).toBe(first.sha);
    const nothing = { repo: widgets, branch: 'main', sha: gone };
    expect((await team.refusal('sandboxCommit', nothing, 409)).code).toBe('SANDBOX_REFUSED');
    expect((await team.refusal('sandboxCommit', { repo: widgets, branch: 'main' }, 400)).code).toBe(
      'VALIDATION_FAILED',
    );
    for (const path of ['/etc/passwd', '../x', 'a/../../x', '.git/config', 'a//b', 'x\ny'])
      await team.refusal('sandboxCommit', { repo: widgets, branch: 'main', files: { [path]: '' } }, 400);
  });
});

describe('the merge call of the sandbox', () => {
  it.each([
    ['squash', 1, 'grace'],
    ['merge_commit', 4, 'grace'],
    ['rebase', 2, 'grace'],
  ] as const)('merges by %s on the present head of the branch, once', async (method, commits, author) => {
    const sandbox = await openSandbox();
    const { host, repository, team } = sandbox;
    await pullRequest(sandbox, 1, { 'a.txt': 'a' });
    const files = { 'b.txt': 'b' };
    const { sha } = (await team.call('sandboxPushPullRequest', { ...numbered(1), files })).pullRequest;
    const main = await team.call('sandboxCommit', { repo: widgets, branch: 'main', files: { 'm.txt': 'm' } });
    const answer = await host.merge(mergeOf(sandbox, 1, sha, method));
    const directory = await directoryOf(sandbox);
    const merged = await git(directory, 'rev-parse', 'main');
    expect(answer).toEqual({ kind: 'merged', sha: merged });
    expect(await host.merge(mergeOf(sandbox, 1, sha, method))).toEqual(answer);
    expect(await git(directory, 'rev-parse', 'main')).toBe(merged);
    // A merge commit also brings the two commits of the pull request themselves.
    const added = (await git(directory, 'rev-list', `${main.sha}..main`)).split('\n').length;
    expect(added).toBe(method === 'merge_commit' ? commits - 1 : commits);
    expect(await git(directory, 'ls-tree', '--name-only', 'main')).toBe(
      'README.md\na.txt\nb.txt\nci.sh\nm.txt',
    );
    expect(await git(directory, 'log', '-1', '--format=%an', 'main')).toBe(author);
    const query = { repository, number: 1 };
    expect(await host.readPullRequest(query)).toMatchObject({ state: 'merged' });
  });

  it('answers with its merge after a crash between the branch and the record', async () => {
    const sandbox = await openSandbox();
    const { sha } = await pullRequest(sandbox, 1, { 'a.txt': 'a' });
    const answer = await sandbox.host.merge(mergeOf(sandbox, 1, sha));
    await sql(sandbox.world.cell.db)`update sandbox_pull_request set state = 'open', merge_sha = null`;
    expect(await sandbox.host.merge(mergeOf(sandbox, 1, sha))).toEqual(answer);
    expect(await git(await directoryOf(sandbox), 'rev-list', '--count', 'main')).toBe('2');
  });

  it('takes only the head it was asked for, what goes together, and what protection allows', async () => {
    const sandbox = await openSandbox();
    const { host, team } = sandbox;
    const { sha } = await pullRequest(sandbox, 1, { 'a.txt': 'a' });
    expect(await host.merge(mergeOf(sandbox, 1, gone))).toEqual({ kind: 'head-moved' });
    const protect = (rules: object | null) =>
      team.call('sandboxConfigureRepository', { repo: widgets, protection: { main: rules } });
    await protect({ refuseMerges: 'Two reviews are missing.' });
    expect(await host.merge(mergeOf(sandbox, 1, sha))).toEqual({
      kind: 'refused',
      message: 'Two reviews are missing.',
    });
    await protect(null);
    await team.call('sandboxCommit', { repo: widgets, branch: 'main', files: { 'a.txt': 'other' } });
    for (const method of ['squash', 'merge_commit', 'rebase'] as const)
      expect(await host.merge(mergeOf(sandbox, 1, sha, method))).toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/conflicting/) as unknown,
      });
    expect((await team.refusal('sandboxMergePullRequest', numbered(1), 409)).message).toMatch(/conflicting/);
  });

  it('can be made by hand, and many at once lose nothing', async () => {
    const sandbox = await openSandbox();
    const numbers = [1, 2, 3, 4, 5, 6];
    const answers = await Promise.all(
      numbers.map((number) => sandbox.team.call('sandboxMergePullRequest', numbered(number))),
    );
    expect(answers.map((answer) => answer.pullRequest.state)).toEqual(numbers.map(() => 'merged'));
    const directory = await directoryOf(sandbox);
    expect(await git(directory, 'ls-tree', '--name-only', 'main', 'changes/')).toBe(
      numbers.map((number) => `changes/${number}.txt`).join('\n'),
    );
    expect(await git(directory, 'rev-list', '--count', 'main')).toBe('7');
  });

  it('is not needed for what was pushed: the sandbox shows what it is told as merged', async () => {
    const sandbox = await openSandbox();
    const { host, repository } = sandbox;
    const query = { repository, number: 8 };
    // A pull request exists once a request has named it, and not because something read it.
    expect(await host.readPullRequest(query)).toBeNull();
    expect(await host.createNamedPullRequest(query, 'main')).toMatchObject({
      state: 'open',
      baseBranch: 'main',
    });
    expect(host.showsPushedAsMerged('squash')).toBe(true);
    await host.markMerged(repository, 8, gone);
    expect(await host.readPullRequest(query)).toMatchObject({ state: 'merged' });
  });
});

describe('the faults of the sandbox', () => {
  it('let every call fail until they are set back, or their time is over', async () => {
    const sandbox = await openSandbox();
    const { host, repository, team, world } = sandbox;
    const query = { repository, number: 1 };
    const { headSha } = (await host.createNamedPullRequest(query, 'main'))!;
    const calls = [
      () => host.readPullRequest(query),
      () => host.readPullRequest({ ...query, number: 2 }),
      () => host.readChecks(repository, headSha),
      () => host.readRequiredChecks(repository, 'main'),
      () => host.remoteOf(repository),
      () => host.afterPush(repository, []),
      () => host.markMerged(repository, 1, headSha),
      () => host.merge(mergeOf(sandbox, 1, headSha)),
    ];
    const configure = (faults: object) => team.call('sandboxConfigureRepository', { repo: widgets, faults });
    await configure({ answers: '5xx' });
    for (const call of calls) {
      const error = await call().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(HostError);
      expect(error).toMatchObject({ trouble: 'unavailable' });
    }
    await configure({ answers: 'ok' });
    await host.remoteOf(repository);
    await configure({ answers: 'timeout', untilMs: 60_000 });
    await expect(host.remoteOf(repository)).rejects.toThrow(/does not answer/);
    world.clock.advance(60_000);
    expect(await host.readPullRequest(query)).toMatchObject({ state: 'open' });
  });
});

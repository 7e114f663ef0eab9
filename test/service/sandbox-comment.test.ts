// What is said on pull requests of the sandbox, and the pull requests that show test branches.
import { describe, expect, it } from 'vitest';
import { settingsFrom } from '#host/sandbox/setting.ts';
import { git, numbered, openSandbox, type SandboxWorld } from '../fixture/sandbox.ts';
import { widgets } from '../support/harness.ts';

async function pushTestBranch({ host, repository }: SandboxWorld, branch: string): Promise<void> {
  const { url } = await host.remoteOf(repository);
  const ref = `refs/heads/${branch}`;
  await git(url, 'update-ref', ref, 'main');
  await host.afterPush(repository, [{ ref, from: null, to: await git(url, 'rev-parse', 'main') }]);
}

const wish = (branch: string) => ({ branch, baseBranch: 'main', title: `Test ${branch}`, body: '' });

describe('a test pull request of the sandbox', () => {
  it('has a number that no client meets, and one even when many open it at once', async () => {
    const sandbox = await openSandbox();
    const { host, repository } = sandbox;
    for (const branch of ['signalbox/main/1', 'signalbox/main/2']) await pushTestBranch(sandbox, branch);
    const opened = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        host.openTestPullRequest(repository, wish(`signalbox/main/${(index % 2) + 1}`)),
      ),
    );
    expect([...new Set(opened)].toSorted((a, b) => a - b)).toEqual([1_000_000, 1_000_001]);
    expect(opened[0]).toBe(opened[2]);
    expect(opened[0]).not.toBe(opened[1]);
  });

  it('is numbered above what a client has named, but not beyond what a client may name', async () => {
    const sandbox = await openSandbox();
    const { host, repository, team } = sandbox;
    for (const number of [2_000_000, 4_294_967_295])
      await team.call('sandboxGetPullRequest', numbered(number));
    await pushTestBranch(sandbox, 'signalbox/main/1');
    expect(await host.openTestPullRequest(repository, wish('signalbox/main/1'))).toBe(2_000_001);
  });

  it('starts no CI of its own', async () => {
    const sandbox = await openSandbox();
    const { host, repository, team } = sandbox;
    await team.call('sandboxConfigureRepository', { repo: widgets, ciOn: 'all' });
    await pushTestBranch(sandbox, 'signalbox/main/1');
    await host.openTestPullRequest(repository, wish('signalbox/main/1'));
    const sha = (await team.call('sandboxGetRepository', { repo: widgets })).branches[0]!.sha;
    const { ciRuns } = await team.call('sandboxGetRepository', { repo: widgets, sha });
    expect(ciRuns?.map(({ branch }) => branch)).toEqual(['signalbox/main/1']);
  });
});

describe('what is said on a pull request that was removed', () => {
  it('is refused, and a script is told that there is none', async () => {
    const { host, repository, team } = await openSandbox();
    await team.call('sandboxRemovePullRequest', numbered(1));
    const comment = { id: null, mayExist: false, mark: 'm', body: 'b' };
    await expect(host.writeComment(repository, 1, comment)).rejects.toMatchObject({ trouble: 'forbidden' });
    const change = { add: ['a'], remove: [] };
    await expect(host.changeLabels(repository, 1, change)).rejects.toMatchObject({ trouble: 'forbidden' });
    const input = { ...numbered(1), author: 'ada', text: 'Hello' };
    expect((await team.refusal('sandboxWriteComment', input, 404)).code).toBe('PULL_REQUEST_NOT_FOUND');
    const label = { ...numbered(1), add: ['a'], by: 'ada' };
    expect((await team.refusal('sandboxChangeLabels', label, 404)).code).toBe('PULL_REQUEST_NOT_FOUND');
  });
});

describe('the people of a repository', () => {
  it('may all write until somebody says otherwise, whatever the case of their names', async () => {
    const { host, repository, team } = await openSandbox();
    expect(await host.permissionOf(repository, 'grace')).toBe('write');
    const people = { Grace: 'admin', mallory: 'none' };
    const { settings } = await team.call('sandboxConfigureRepository', { repo: widgets, people });
    expect(settings.people).toEqual({ '*': 'write', grace: 'admin', mallory: 'none' });
    const told = ['gRACE', 'Mallory', 'ada', 'toString'].map((person) =>
      host.permissionOf(repository, person),
    );
    expect(await Promise.all(told)).toEqual(['admin', 'none', 'write', 'write']);
  });

  it('and the rules of branches are complete, also where an older version stored them', () => {
    const stored = { protection: { main: { requiredChecks: ['a'], refusePushes: true } } };
    expect(settingsFrom(stored as never)).toMatchObject({
      protection: {
        main: { requiredChecks: ['a'], refusePushes: true, refuseMerges: null, needsUpToDate: false },
      },
      people: { '*': 'write' },
    });
  });
});

// GitHub in trouble, and how much it is asked.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { GithubServer } from '../github-server/server.ts';
import { check, counted, openGithub, total, widgets } from './github-fixture.ts';
import { movableClock } from './github-world.ts';

describe('trouble', () => {
  const pullOperation = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

  it('that passes at once is not noticed, and what lasts is told after one more try', async () => {
    const { server, host, repository, propose } = await openGithub();
    const { number } = await propose('one');
    const query = { repository, number };
    await host.readPullRequest(query);
    for (const how of [500, 503, 'reset'] as const) {
      server.fail({ how, operation: pullOperation });
      expect(await host.readPullRequest(query)).not.toBeNull();
    }
    server.forgetCalls();
    server.fail({ how: 502, operation: pullOperation, times: 9 });
    await expect(host.readPullRequest(query)).rejects.toMatchObject({ trouble: 'unavailable' });
    expect(total(server)).toBe(2);
    server.heal();
  });

  it('with an answer that was lost does not write a comment twice', async () => {
    const { server, host, repository, propose } = await openGithub();
    const { number } = await propose('one');
    const comment = { id: null, mayExist: false, mark: 'm', body: 'In line.' };
    const operation = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
    server.fail({ how: 502, operation, when: 'after' });
    await expect(host.writeComment(repository, number, comment)).rejects.toMatchObject({
      trouble: 'unavailable',
    });
    const id = await host.writeComment(repository, number, { ...comment, mayExist: true, body: 'Landed.' });
    const again = await host.writeComment(repository, number, { ...comment, id, body: 'Landed.' });
    expect(again).toBe(id);
    expect(counted(server)[operation]).toBe(1);
  });

  it.each(['squash', 'rebase', 'merge_commit'] as const)(
    'with an answer that was lost does not hide that %s has merged it',
    async (method) => {
      const { server, host, repository, propose, read } = await openGithub();
      const { number, headSha } = await propose('one');
      await read(number);
      const request = {
        repository,
        number,
        targetBranch: 'main',
        method,
        headSha,
        title: 'One',
        message: '',
      };
      const operation = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
      server.fail({ how: 'reset', operation, when: 'after' });
      const answer = await host.merge(request);
      expect(answer).toEqual({ kind: 'merged', sha: server.pullRequest(widgets, number).merged?.sha });
    },
  );

  it('does not merge what was retargeted meanwhile', async () => {
    const { server, host, repository, propose } = await openGithub();
    const { number, headSha } = await propose('one');
    await server.setBranch(widgets, 'release', await server.commit(widgets, { files: { 'm.txt': 'm' } }));
    await server.changePullRequest(widgets, number, { base: 'release' }, 'ada');
    const request = { repository, number, targetBranch: 'main', headSha, title: 'One', message: '' };
    const answer = await host.merge({ ...request, method: 'squash' });
    expect(answer).toEqual({ kind: 'refused', message: `The base branch of #${number} is release.` });
    expect(server.pullRequest(widgets, number).merged).toBeNull();
  });

  it('with the hourly limit is told with when it ends, and GitHub is left alone until then', async () => {
    const { server, host, repository, propose, clock } = await openGithub();
    const { number } = await propose('one');
    const query = { repository, number };
    await host.readPullRequest(query);
    server.setLimits({ perHour: 1 });
    await expect(host.readChecks(repository, 'main')).rejects.toMatchObject({ trouble: 'rate_limited' });
    server.forgetCalls();
    const error: unknown = await host.readChecks(repository, 'main').catch((thrown: unknown) => thrown);
    const { retryAfterMs } = error as { readonly retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(3_500_000);
    expect(retryAfterMs).toBeLessThan(3_610_000);
    expect(total(server)).toBe(0);
    server.setLimits({ perHour: 5_000 });
    clock.advance(3_610_000);
    expect(await host.readChecks(repository, 'main')).toEqual([]);
  });

  it('with a token that ran out before its time is mended by a new one', async () => {
    const theirs = movableClock();
    const { server, host, repository, propose } = await openGithub({ clock: theirs });
    const { number } = await propose('one');
    const query = { repository, number };
    await host.readPullRequest(query);
    theirs.advance(2 * 3_600_000);
    expect(await host.readPullRequest(query)).toMatchObject({ number });
    const asked = server.calls().filter(({ operation }) => operation.startsWith('POST /app/'));
    // The clocks differ by then: asked in our time, and once more in theirs.
    expect(asked.map(({ status }) => status)).toEqual([201, 401, 201]);
  });
});

it('opens a draft for a branch that GitHub knows only a moment later', async () => {
  const { server, host, repository } = await openGithub();
  const branch = 'signalbox/main/late';
  const opened = host.openTestPullRequest(repository, { branch, baseBranch: 'main', title: 'T', body: '' });
  await sleep(200);
  await server.commit(widgets, { branch, files: { 'late.txt': 'late' } });
  expect(await opened).toBeGreaterThan(0);
});

describe('the life of a pull request', () => {
  it('takes ten calls from its submission to its landing, on a branch with required checks', async () => {
    const { server, host, repository, propose } = await openGithub();
    server.protect(widgets, 'main', { checks: { strict: false, contexts: ['ci/test'] } });
    const live = async (branch: string) => {
      const { number, headSha } = await propose(branch);
      await server.settled();
      await fetchMergeability(server, number);
      server.forgetCalls();
      const comment = { mark: 'm', mayExist: false };
      // Submitted.
      await host.readPullRequest({ repository, number });
      await host.writeCheck(repository, headSha, check('pending', 'Queued'));
      const id = await host.writeComment(repository, number, { ...comment, id: null, body: 'In line.' });
      // Tested.
      expect(await host.readRequiredChecks(repository, 'main')).toEqual([{ name: 'ci/test', source: null }]);
      const testBranch = `signalbox/main/${branch}`;
      await server.commit(widgets, { branch: testBranch, files: { [`${branch}.txt`]: 'merged' } });
      await host.openTestPullRequest(repository, {
        branch: testBranch,
        baseBranch: 'main',
        title: 'T',
        body: '',
      });
      await server.setStatus(widgets, headSha, { context: 'ci/test', state: 'success' }, 'ada');
      // Landed.
      const answer = await host.merge({
        repository,
        number,
        targetBranch: 'main',
        method: 'squash',
        headSha,
        title: branch,
        message: '',
      });
      expect(answer.kind).toBe('merged');
      await host.writeCheck(repository, headSha, check('success', 'Landed'));
      await host.writeComment(repository, number, { ...comment, id, body: 'Landed.' });
      return total(server);
    };
    const calls = [await live('one'), await live('two'), await live('three')];
    // What the branch asks for is read for the first, for all within half a minute.
    expect(calls).toEqual([12, 10, 10]);
  });
});

/** GitHub works it out when somebody first asks. */
async function fetchMergeability(server: GithubServer, number: number): Promise<void> {
  const { token } = server.newUser(`asker-${number}`);
  server.setAccess(widgets, `asker-${number}`, 'read');
  const ask = () =>
    fetch(`${server.apiUrl}/repos/${widgets}/pulls/${number}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  await ask();
  await server.settled();
}

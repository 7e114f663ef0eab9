// Pull requests as a client of GitHub sees them.
import { describe, expect, it } from 'vitest';
import { asUser, installed, openGithubServer, refusalOf } from './for-test.ts';
import { runGit } from '#git/run.ts';
import type { GithubServer } from './server.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';

async function openWidgets(options: Parameters<typeof openGithubServer>[0] = {}) {
  const github = await openGithubServer(options);
  const ada = github.newUser('ada', 'Ada Lovelace');
  const repository = await github.newRepository(name, { access: { ada: 'write' } });
  return { github, ada, octokit: installed(github), repository };
}

const change = (github: GithubServer, branch: string) =>
  github.openPullRequest(name, { branch, files: { [`${branch}.txt`]: branch }, by: 'ada' });

const parentsOf = async (directory: string, sha: string) =>
  (await runGit({ directory }, { args: ['rev-list', '--parents', '-1', sha] })).stdout
    .toString()
    .trim()
    .split(' ')
    .slice(1);

describe('a pull request', () => {
  it.each(['ghes-3.19', 'api.github.com'] as const)('is opened, seen and merged on %s', async (edition) => {
    const { github, octokit, repository } = await openWidgets({ edition });
    const sha = await github.commit(name, { branch: 'x', files: { 'x.txt': 'x' } });
    const opened = await octokit.request('POST /repos/{owner}/{repo}/pulls', {
      ...widgets,
      title: 'Add x',
      head: 'x',
      base: 'main',
      draft: false,
    });
    expect(opened.status).toBe(201);
    expect(opened.data).toMatchObject({ number: 1, head: { ref: 'x', sha }, mergeable: null, draft: false });
    expect(opened.data.user.login).toBe('signalbox[bot]');
    await github.settled();
    const at = { ...widgets, pull_number: 1 };
    const seen = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
    expect(seen.data).toMatchObject({
      mergeable: true,
      mergeable_state: 'clean',
      commits: 1,
      changed_files: 1,
    });
    const testMerge = seen.data.merge_commit_sha!;
    expect(await parentsOf(repository.directory, testMerge)).toEqual([seen.data.base.sha, sha]);
    const merged = await octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
      ...at,
      sha,
    });
    expect(merged.data).toMatchObject({ merged: true });
    const after = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
    expect(after.data).toMatchObject({ state: 'closed', merged: true, merge_commit_sha: merged.data.sha });
    expect(await parentsOf(repository.directory, merged.data.sha)).toEqual([seen.data.base.sha, sha]);
  });

  it('is squashed into one commit by its author, and rebased commit by commit', async () => {
    const { github, octokit, repository } = await openWidgets();
    const { number } = await change(github, 'x');
    await github.commit(name, { branch: 'x', files: { 'x2.txt': 'x' }, by: 'ada' });
    const second = await change(github, 'y');
    await github.commit(name, { branch: 'y', files: { 'y2.txt': 'y' }, by: 'ada' });
    const merge = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
    const squashed = await octokit.request(merge, {
      ...widgets,
      pull_number: number,
      merge_method: 'squash',
      commit_title: 'Both',
      commit_message: 'in one',
    });
    const show = async (sha: string, format: string) =>
      (
        await runGit({ directory: repository.directory }, { args: ['log', '-1', `--format=${format}`, sha] })
      ).stdout
        .toString()
        .trim();
    expect(await parentsOf(repository.directory, squashed.data.sha)).toHaveLength(1);
    expect(await show(squashed.data.sha, '%an|%cn|%B')).toBe('Ada Lovelace|GitHub|Both\n\nin one');
    const rebased = await octokit.request(merge, {
      ...widgets,
      pull_number: second.number,
      merge_method: 'rebase',
    });
    const { stdout } = await runGit(
      { directory: repository.directory },
      { args: ['log', '--format=%s', `${squashed.data.sha}..${rebased.data.sha}`] },
    );
    expect(stdout.toString().trim().split('\n')).toEqual(['Change y2.txt', 'Change y']);
  });

  it('is not merged when its head has moved, it is a draft, it conflicts, or the branch asks for more', async () => {
    const { github, octokit } = await openWidgets();
    const merge = (number: number, more: object = {}) =>
      refusalOf(
        octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
          ...widgets,
          pull_number: number,
          ...more,
        }),
      );
    const x = await change(github, 'x');
    await github.commit(name, { branch: 'x', files: { 'x.txt': 'again' } });
    expect(await merge(x.number, { sha: x.headSha })).toMatchObject({
      status: 409,
      message: expect.stringContaining('Head branch was modified') as string,
    });
    await github.changePullRequest(name, x.number, { draft: true });
    expect(await merge(x.number)).toMatchObject({
      status: 405,
      message: expect.stringContaining('draft') as string,
    });
    await github.changePullRequest(name, x.number, { draft: false });
    github.protect(name, 'main', { checks: { strict: false, contexts: ['ci'] } });
    expect((await merge(x.number)).message).toContain('Required status check "ci" is expected.');
    const { headSha } = github.pullRequest(name, x.number);
    await github.completeCheckRun(name, headSha, { name: 'ci', conclusion: 'failure' });
    expect((await merge(x.number)).message).toContain('"ci" is failing');
    github.protect(name, 'main', null);
    await github.commit(name, { files: { 'x.txt': 'other' } });
    expect(await merge(x.number)).toMatchObject({
      status: 405,
      message: expect.stringContaining('Pull Request is not mergeable') as string,
    });
    github.protect(name, 'main', { linearHistory: true });
    expect((await merge(x.number)).message).toContain('must not contain merge commits');
    github.protect(name, 'main', null);
    const parameters = { required_approving_review_count: 0, allowed_merge_methods: ['squash'] };
    github.addRuleset(name, { rules: [{ type: 'pull_request', parameters }] });
    expect((await merge(x.number)).message).toContain('The merge method is not allowed');
    github.setMergeMethods(name, ['squash']);
    expect((await merge(x.number, { merge_method: 'rebase' })).message).toContain(
      'Rebase merges are not allowed',
    );
  });

  it('tells what keeps it from being merged', async () => {
    const { github, octokit } = await openWidgets();
    const { number, headSha } = await change(github, 'x');
    const state = async () => {
      const ask = () =>
        octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...widgets, pull_number: number });
      await ask();
      await github.settled();
      return (await ask()).data.mergeable_state;
    };
    expect(await state()).toBe('clean');
    await github.setStatus(name, headSha, { context: 'lint', state: 'failure' });
    expect(await state()).toBe('unstable');
    github.protect(name, 'main', { checks: { strict: true, contexts: ['ci'] } });
    expect(await state()).toBe('blocked');
    await github.completeCheckRun(name, headSha, { name: 'ci', conclusion: 'success' });
    await github.setStatus(name, headSha, { context: 'lint', state: 'success' });
    expect(await state()).toBe('clean');
    await github.commit(name, { files: { 'other.txt': '1' } });
    expect(await state()).toBe('behind');
    await github.commit(name, { files: { 'x.txt': 'other' } });
    expect(await state()).toBe('dirty');
    await github.changePullRequest(name, number, { draft: true });
    expect(await state()).toBe('dirty');
  });

  it('cannot be opened twice, for nothing, or for what is not there', async () => {
    const { github, ada } = await openWidgets();
    const octokit = asUser(github, ada.token);
    await change(github, 'x');
    await github.setBranch(name, 'same', github.pullRequest(name, 1).baseSha);
    const open = (head: string) =>
      refusalOf(
        octokit.request('POST /repos/{owner}/{repo}/pulls', { ...widgets, title: 'x', head, base: 'main' }),
      );
    expect(await open('x')).toMatchObject({
      status: 422,
      message: expect.stringContaining('already exists for acme:x') as string,
    });
    expect((await open('same')).message).toContain('No commits between main and same');
    expect((await open('nowhere')).status).toBe(422);
  });

  it('is listed by state, base and head, a page at a time', async () => {
    const { github, octokit } = await openWidgets();
    for (const branch of ['a', 'b', 'c', 'd', 'e']) await change(github, branch);
    await github.changePullRequest(name, 2, { state: 'closed' });
    const list = 'GET /repos/{owner}/{repo}/pulls';
    const first = await octokit.request(list, { ...widgets, per_page: 3 });
    expect(first.data.map(({ number }) => number)).toEqual([5, 4, 3]);
    expect(first.headers.link).toMatch(/page=2>; rel="next"/);
    const second = await octokit.request(list, { ...widgets, per_page: 3, page: 2 });
    expect(second.data.map(({ number }) => number)).toEqual([1]);
    const closed = await octokit.request(list, { ...widgets, state: 'closed' });
    expect(closed.data.map(({ number }) => number)).toEqual([2]);
    const byHead = await octokit.request(list, { ...widgets, head: 'acme:c' });
    expect(byHead.data.map(({ number }) => number)).toEqual([3]);
    expect((await octokit.request(list, { ...widgets, base: 'other' })).data).toEqual([]);
  });

  it('closes and opens again, and its title, text and base can be changed', async () => {
    const { github, octokit } = await openWidgets();
    const { number } = await change(github, 'x');
    await github.setBranch(name, 'next', github.pullRequest(name, number).baseSha);
    const edit = (fields: object) =>
      octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', {
        ...widgets,
        pull_number: number,
        ...fields,
      });
    expect((await edit({ title: 'New', base: 'next' })).data).toMatchObject({
      title: 'New',
      base: { ref: 'next' },
    });
    expect((await edit({ state: 'closed' })).data.state).toBe('closed');
    expect((await edit({ state: 'open' })).data.state).toBe('open');
    const events = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/events', {
      ...widgets,
      issue_number: number,
    });
    expect(events.data.map(({ event }) => event)).toEqual([
      'renamed',
      'base_ref_changed',
      'closed',
      'reopened',
    ]);
  });
});

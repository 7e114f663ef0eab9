// `refs/pull/N/merge`, the ETag of a pull request, and how a pull request ends.
import { describe, expect, it } from 'vitest';
import { asUser, openGithubServer, refusalOf } from './for-test.ts';
import { cloneOf } from './git-client.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';
const get = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

async function openWidgets() {
  const github = await openGithubServer();
  const { token } = github.newUser('ada');
  await github.newRepository(name, { access: { ada: 'write' } });
  const octokit = asUser(github, token);
  const clone = await cloneOf(github, name, token);
  const read = async (number: number) =>
    (await octokit.request(get, { ...widgets, pull_number: number })).data;
  /** The parents of the test merge that git fetches; null: there is none. */
  const testMerge = async (number: number) => {
    const ref = `refs/pull/${number}/merge`;
    if ((await clone.git('ls-remote', 'origin', ref)) === '') return null;
    await clone.git('fetch', '--quiet', 'origin', ref);
    return (await clone.git('rev-parse', 'FETCH_HEAD^1', 'FETCH_HEAD^2')).split('\n');
  };
  const tip = async () => (await clone.git('ls-remote', 'origin', 'refs/heads/main')).split('\t')[0]!;
  const open = (branch: string, draft = false) =>
    github.openPullRequest(name, { branch, files: { [`${branch}.txt`]: branch }, by: 'ada', draft });
  return { github, octokit, clone, read, testMerge, tip, open };
}

describe('the test merge of a pull request', () => {
  it('stands on the base once the work in the background is done', async () => {
    const { github, testMerge, tip, open } = await openWidgets();
    const { number, headSha } = await open('x');
    await github.settled();
    expect(await testMerge(number)).toEqual([await tip(), headSha]);
  });

  it('follows the head at once, and the base only when the pull request is read', async () => {
    const { github, read, testMerge, tip, open } = await openWidgets();
    const { number, headSha } = await open('x');
    await github.settled();
    const first = await tip();
    await github.commit(name, { files: { 'main.txt': '1' } });
    await github.settled();
    expect(await testMerge(number)).toEqual([first, headSha]);
    expect((await read(number)).mergeable).toBeNull();
    await github.settled();
    expect(await testMerge(number)).toEqual([await tip(), headSha]);
    const pushed = await github.commit(name, { branch: 'x', files: { 'x.txt': '2' } });
    await github.settled();
    expect(await testMerge(number)).toEqual([await tip(), pushed]);
  });

  it('is not there on a conflict, or when the pull request is closed', async () => {
    const { github, read, testMerge, open } = await openWidgets();
    const { number } = await open('x');
    await github.settled();
    await github.commit(name, { files: { 'x.txt': 'other' } });
    await read(number);
    await github.settled();
    expect(await testMerge(number)).toBeNull();
    expect(await read(number)).toMatchObject({ mergeable: false, mergeable_state: 'dirty' });
    const other = await open('y');
    await github.settled();
    expect(await testMerge(other.number)).not.toBeNull();
    await github.changePullRequest(name, other.number, { state: 'closed' });
    expect(await testMerge(other.number)).toBeNull();
  });
});

describe('the answer for a pull request', () => {
  it('changes with every push to the repository, to whichever branch', async () => {
    const { github, octokit, open } = await openWidgets();
    const { number } = await open('x');
    await github.settled();
    await octokit.request(get, { ...widgets, pull_number: number });
    const first = await octokit.request(get, { ...widgets, pull_number: number });
    const again = { ...widgets, pull_number: number, headers: { 'if-none-match': first.headers.etag! } };
    expect((await refusalOf(octokit.request(get, again))).status).toBe(304);
    // The times in an answer are whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await github.commit(name, { branch: 'elsewhere', files: { y: 'y' } });
    expect((await octokit.request(get, again)).status).toBe(200);
  });
});

describe('a pull request ends', () => {
  it('as merged when its head becomes reachable from its base, a draft too', async () => {
    const { github, read, open } = await openWidgets();
    const { number, headSha } = await open('x');
    const draft = await github.openPullRequest(name, { branch: 'x2', files: { 'z.txt': 'z' }, draft: true });
    await github.setBranch(name, 'main', headSha);
    expect(await read(number)).toMatchObject({ state: 'closed', merged: true });
    expect((await read(draft.number)).state).toBe('open');
    await github.setBranch(name, 'main', draft.headSha);
    expect(await read(draft.number)).toMatchObject({ state: 'closed', merged: true, draft: true });
  });

  it('as closed when its head branch is deleted, and stays open when another commit with its changes is pushed', async () => {
    const { github, read, open } = await openWidgets();
    const { number } = await open('x');
    await github.commit(name, { files: { 'x.txt': 'x' }, message: 'Squashed' });
    expect(await read(number)).toMatchObject({ state: 'open', merged: false });
    await github.setBranch(name, 'x', null);
    expect(await read(number)).toMatchObject({ state: 'closed', merged: false });
  });

  it('as closed by a person, who may open it again unless it was merged or its branch is gone', async () => {
    const { github, octokit, read, open } = await openWidgets();
    const { number, headSha } = await open('x');
    const patch = (state: 'open' | 'closed') =>
      octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', {
        ...widgets,
        pull_number: number,
        state,
      });
    await patch('closed');
    expect(await read(number)).toMatchObject({ state: 'closed', merged: false });
    await patch('open');
    expect((await read(number)).state).toBe('open');
    await github.setBranch(name, 'x', null);
    expect((await refusalOf(patch('open'))).status).toBe(422);
    await github.setBranch(name, 'x', headSha);
    await patch('open');
    await github.setBranch(name, 'main', headSha);
    expect((await refusalOf(patch('open'))).status).toBe(422);
  });
});

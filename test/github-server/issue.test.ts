// Comments, labels and events.
import { describe, expect, it } from 'vitest';
import { asUser, installed, openGithubServer, refusalOf } from './for-test.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';

async function openWidgets() {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => new Date(now) };
  const github = await openGithubServer({ clock });
  const { token } = github.newUser('ada');
  await github.newRepository(name, { access: { ada: 'admin' } });
  const { number } = await github.openPullRequest(name, { branch: 'x', files: { x: 'x' }, by: 'ada' });
  return {
    github,
    octokit: asUser(github, token),
    number,
    advance: (seconds: number) => {
      now += seconds * 1_000;
    },
  };
}

describe('comments', () => {
  it('are written, edited, read and listed, for one pull request and for all since an instant', async () => {
    const { github, octokit, number, advance } = await openWidgets();
    const at = { ...widgets, issue_number: number };
    const first = github.comment(name, number, 'ada', 'first');
    advance(60);
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...at,
      body: 'second',
    });
    const all = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', at);
    expect(all.data.map(({ body }) => body)).toEqual(['first', 'second']);
    const since = { ...widgets, since: '2026-01-01T00:00:30Z', sort: 'updated' as const };
    const late = await octokit.request('GET /repos/{owner}/{repo}/issues/comments', since);
    expect(late.data.map(({ body }) => body)).toEqual(['second']);
    advance(60);
    await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...widgets,
      comment_id: first,
      body: 'edited',
    });
    const later = await octokit.request('GET /repos/{owner}/{repo}/issues/comments', since);
    expect(later.data.map(({ body }) => body)).toEqual(['second', 'edited']);
    const one = { ...widgets, comment_id: data.id };
    expect(
      (await octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', one)).data.body,
    ).toBe('second');
    await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', one);
    expect(
      await refusalOf(octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', one)),
    ).toMatchObject({ status: 404 });
  });

  it('of an App bear its name, and whoever may write edits those of others', async () => {
    const { github, number } = await openWidgets();
    const foreign = github.comment(name, number, 'ada', 'mine');
    const app = installed(github);
    const own = await app.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...widgets,
      issue_number: number,
      body: 'ours',
    });
    expect(own.data).toMatchObject({
      user: { login: 'signalbox[bot]', type: 'Bot' },
      performed_via_github_app: { slug: 'signalbox' },
    });
    const { data } = await app.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...widgets,
      comment_id: foreign,
      body: 'edited',
    });
    expect(data).toMatchObject({ body: 'edited', user: { login: 'ada' } });
  });
});

describe('labels', () => {
  it('are made as they are needed, put on and taken off, and the events say by whom', async () => {
    const { octokit, number } = await openWidgets();
    const at = { ...widgets, issue_number: number };
    await octokit.request('POST /repos/{owner}/{repo}/labels', {
      ...widgets,
      name: 'Queue',
      color: '00ff00',
    });
    expect(
      await refusalOf(octokit.request('POST /repos/{owner}/{repo}/labels', { ...widgets, name: 'queue' })),
    ).toMatchObject({ status: 422, message: expect.stringContaining('already_exists') as string });
    const added = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
      ...at,
      labels: ['queue', 'size/m'],
    });
    expect(added.data.map((label) => label.name)).toEqual(['Queue', 'size/m']);
    const remove = (label: string) =>
      octokit.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
        ...at,
        name: label,
      });
    expect((await remove('size/m')).data.map((label) => label.name)).toEqual(['Queue']);
    expect(await refusalOf(remove('size/m'))).toMatchObject({
      status: 404,
      message: expect.stringContaining('Label does not exist') as string,
    });
    const events = await octokit.request('GET /repos/{owner}/{repo}/issues/events', widgets);
    expect(events.data.map(({ event, label, actor }) => [event, label?.name, actor?.login])).toEqual([
      ['unlabeled', 'size/m', 'ada'],
      ['labeled', 'size/m', 'ada'],
      ['labeled', 'Queue', 'ada'],
    ]);
  });

  it('find pull requests among the issues, which are marked as such', async () => {
    const { github, octokit, number } = await openWidgets();
    const issue = github.openIssue(name, 'Not a pull request');
    await github.openPullRequest(name, { branch: 'y', files: { y: 'y' } });
    await github.label(name, number, 'queue', { by: 'ada' });
    await github.label(name, issue, 'queue');
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/issues', {
      ...widgets,
      labels: 'queue',
    });
    expect(data.map((one) => [one.number, one.pull_request !== undefined])).toEqual([
      [issue, false],
      [number, true],
    ]);
    const all = await octokit.request('GET /repos/{owner}/{repo}/issues', widgets);
    expect(all.data).toHaveLength(3);
  });
});

// What CI says of commits.
import { describe, expect, it } from 'vitest';
import { runCiOnPush } from './ci.ts';
import { installed, openGithubServer, refusalOf } from './for-test.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';

async function openWidgets() {
  const github = await openGithubServer();
  await github.newRepository(name);
  const pull = await github.openPullRequest(name, { branch: 'x', files: { x: 'x' } });
  return { github, octokit: installed(github), ...pull };
}

describe('statuses', () => {
  it('count by the latest of each context, by commit or by branch', async () => {
    const { octokit, headSha } = await openWidgets();
    const say = (context: string, state: 'pending' | 'success' | 'failure') =>
      octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
        ...widgets,
        sha: headSha,
        context,
        state,
      });
    const combined = async (ref: string) =>
      (await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/status', { ...widgets, ref })).data;
    expect(await combined(headSha)).toMatchObject({ state: 'pending', total_count: 0 });
    await say('ci', 'pending');
    await say('ci', 'success');
    expect(await combined('x')).toMatchObject({ state: 'success', total_count: 1, sha: headSha });
    await say('lint', 'failure');
    expect((await combined(headSha)).state).toBe('failure');
    const all = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', {
      ...widgets,
      ref: 'x',
    });
    expect(all.data.map(({ context, state }) => `${context} ${state}`)).toEqual([
      'lint failure',
      'ci success',
      'ci pending',
    ]);
  });

  it('are of commits that are there', async () => {
    const { octokit } = await openWidgets();
    const sha = '1'.repeat(40);
    expect(
      await refusalOf(
        octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...widgets, sha, state: 'success' }),
      ),
    ).toMatchObject({ status: 422, message: expect.stringContaining('No commit found for SHA') as string });
  });
});

describe('actions of a check run', () => {
  const create = 'POST /repos/{owner}/{repo}/check-runs';
  const action = { label: 'x'.repeat(20), description: 'y'.repeat(40), identifier: 'z'.repeat(20) };

  it('are at most three, with short texts', async () => {
    const { octokit, headSha } = await openWidgets();
    const made = { ...widgets, name: 'Signalbox', head_sha: headSha };
    await octokit.request(create, { ...made, actions: [action, action, action] });
    for (const actions of [
      [action, action, action, action],
      [{ ...action, label: 'x'.repeat(21) }],
      [{ ...action, description: 'y'.repeat(41) }],
      [{ ...action, identifier: 'z'.repeat(21) }],
    ])
      expect(await refusalOf(octokit.request(create, { ...made, actions }))).toMatchObject({ status: 422 });
  });

  it('are clicked by people, and reported only to the App that made the run', async () => {
    const { github, octokit, headSha } = await openWidgets();
    github.setWebhook({ url: 'http://127.0.0.1:9' });
    github.addHook(name, { url: 'http://127.0.0.1:9/repository', secret: 's', events: ['check_run'] });
    github.newUser('ada');
    const made = { ...widgets, name: 'Signalbox', head_sha: headSha, status: 'in_progress' } as const;
    await octokit.request(create, { ...made, actions: [action] });
    const click = { check: 'Signalbox', identifier: action.identifier, by: 'ada' };
    await github.clickAction(name, headSha, click);
    await expect(github.clickAction(name, headSha, { ...click, identifier: 'other' })).rejects.toThrow(
      'has no action other',
    );
    await github.settled();
    const clicks = github.deliveries().filter((delivery) => delivery.action === 'requested_action');
    expect(clicks.map(({ url }) => url)).toEqual(['http://127.0.0.1:9']);
    expect(JSON.parse(clicks[0]!.body)).toMatchObject({
      requested_action: { identifier: action.identifier },
      sender: { login: 'ada' },
    });
  });
});

describe('check runs', () => {
  it('are made and completed by an App, with the latest of each name counting', async () => {
    const { github, octokit, headSha, number } = await openWidgets();
    const made = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...widgets,
      name: 'Signalbox',
      head_sha: headSha,
      status: 'in_progress',
      output: { title: 'Waiting', summary: 'Second in line' },
    });
    expect(made.data).toMatchObject({
      status: 'in_progress',
      conclusion: null,
      output: { title: 'Waiting' },
    });
    expect(made.data.pull_requests.map((pull) => pull?.number)).toEqual([number]);
    const done = await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...widgets,
      check_run_id: made.data.id,
      conclusion: 'success',
    });
    expect(done.data).toMatchObject({ status: 'completed', conclusion: 'success' });
    const still = await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...widgets,
      check_run_id: made.data.id,
      status: 'in_progress',
    });
    expect(still.data).toMatchObject({ status: 'completed', conclusion: 'success' });
    const foreign = await github.completeCheckRun(name, headSha, { name: 'ci', conclusion: 'failure' });
    await github.completeCheckRun(name, headSha, { name: 'ci', conclusion: 'success' });
    const list = async (more: object = {}) =>
      (
        await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
          ...widgets,
          ref: headSha,
          ...more,
        })
      ).data.check_runs;
    expect((await list()).map((run) => `${run.name} ${run.conclusion}`)).toEqual([
      'Signalbox success',
      'ci success',
    ]);
    expect(await list({ filter: 'all' })).toHaveLength(3);
    expect((await list({ check_name: 'ci' })).map((run) => run.app?.slug)).toEqual(['github-actions']);
    expect(
      await refusalOf(
        octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
          ...widgets,
          check_run_id: foreign,
          conclusion: 'success',
        }),
      ),
    ).toMatchObject({ status: 403 });
  });

  it('are in suites: one for each App that may write checks on each push, and as it goes with its runs', async () => {
    const { github, octokit, headSha } = await openWidgets();
    const suites = async () =>
      (
        await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-suites', {
          ...widgets,
          ref: headSha,
        })
      ).data.check_suites.map(({ app, status, conclusion }) => `${app?.slug} ${status} ${conclusion}`);
    expect(await suites()).toEqual(['signalbox queued null']);
    await github.completeCheckRun(name, headSha, { name: 'a', conclusion: 'success' });
    await github.completeCheckRun(name, headSha, { name: 'b', conclusion: null });
    expect(await suites()).toEqual(['signalbox queued null', 'github-actions in_progress null']);
    await github.completeCheckRun(name, headSha, { name: 'b', conclusion: 'timed_out' });
    expect((await suites())[1]).toBe('github-actions completed timed_out');
  });
});

describe('CI on a push', () => {
  it('runs the script of the very commit and reports a check', async () => {
    const github = await openGithubServer();
    await github.newRepository(name);
    runCiOnPush(github, { branches: /^test\// });
    const script = '#!/bin/sh\nset -e\ntest -f good.txt\n';
    const red = await github.commit(name, { branch: 'test/red', files: { 'ci.sh': script } });
    const green = await github.commit(name, {
      branch: 'test/green',
      from: 'test/red',
      files: { 'good.txt': '1' },
    });
    const other = await github.commit(name, { branch: 'other', files: { 'x.txt': '1' } });
    await github.settled();
    const runsOf = async (ref: string) =>
      (
        await installed(github).request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
          ...widgets,
          ref,
        })
      ).data.check_runs.map((run) => run.conclusion);
    expect(await Promise.all([red, green, other].map(runsOf))).toEqual([['failure'], ['success'], []]);
  });
});

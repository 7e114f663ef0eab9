// Required checks that are bound to an App: another source does not satisfy them, by a push or by the merge call.
import { describe, expect, it } from 'vitest';
import { asUser, installed, openGithubServer, refusalOf } from './for-test.ts';
import { cloneOf } from './git-client.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';
const merge = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

async function openWidgets() {
  const github = await openGithubServer();
  const { token } = github.newUser('ada');
  await github.newRepository(name, { access: { ada: 'write' } });
  const ciId = github.newApp('ci-service');
  const { number, headSha } = await github.openPullRequest(name, {
    branch: 'x',
    files: { 'x.txt': 'x' },
    by: 'ada',
  });
  const tryMerge = () =>
    installed(github).request(merge, { ...widgets, pull_number: number, merge_method: 'squash' });
  return { github, token, ciId, sha: headSha, tryMerge };
}

const foreign = 'Required status check "build" was not set by the expected GitHub app.';

describe('a required check that is bound to an App', () => {
  it.each(['protection', 'ruleset'] as const)('of a %s takes no other source', async (kind) => {
    const { github, ciId, sha, tryMerge } = await openWidgets();
    if (kind === 'protection')
      github.protect(name, 'main', {
        checks: { strict: false, contexts: ['build'], appIds: { build: ciId } },
      });
    else
      github.addRuleset(name, {
        rules: [
          {
            type: 'required_status_checks',
            parameters: {
              strict_required_status_checks_policy: false,
              required_status_checks: [{ context: 'build', integration_id: ciId }],
            },
          },
        ],
      });
    const refusal = async () => (await refusalOf(tryMerge())).message;
    expect(await refusal()).toContain('Required status check "build" is expected.');
    await github.setStatus(name, sha, { context: 'build', state: 'success' }, 'ada');
    expect(await refusal()).toContain(foreign);
    await github.completeCheckRun(name, sha, { name: 'build', conclusion: 'success' });
    expect(await refusal()).toContain(foreign);
    await github.completeCheckRun(name, sha, { name: 'build', conclusion: 'failure', app: 'ci-service' });
    expect(await refusal()).toContain('Required status check "build" is failing.');
    await github.completeCheckRun(name, sha, { name: 'build', conclusion: 'success', app: 'ci-service' });
    expect((await tryMerge()).data.merged).toBe(true);
  });

  it('is met by a commit status that the App itself set', async () => {
    const { github, ciId, sha, tryMerge } = await openWidgets();
    const checks = { strict: false, contexts: ['build'], appIds: { build: ciId } };
    github.protect(name, 'main', { checks });
    await github.setStatus(name, sha, { context: 'build', state: 'success' }, 'ci-service[bot]');
    expect((await tryMerge()).data.merged).toBe(true);
  });

  it('binds a push in the same words', async () => {
    const { github, token, ciId } = await openWidgets();
    const checks = { strict: false, contexts: ['build'], appIds: { build: ciId } };
    github.protect(name, 'main', { checks, enforceAdmins: true });
    const clone = await cloneOf(github, name, token);
    const sha = await clone.commit('y.txt', 'y');
    await clone.git('push', '--quiet', 'origin', 'HEAD:y');
    await github.completeCheckRun(name, sha, { name: 'build', conclusion: 'success' });
    expect(await clone.refusal('push', 'origin', 'main')).toContain(foreign);
    await github.completeCheckRun(name, sha, { name: 'build', conclusion: 'success', app: 'ci-service' });
    await clone.git('push', '--quiet', 'origin', 'main');
  });

  it('is shown with the App that it is bound to, and runs and statuses with who reported them', async () => {
    const { github, token, ciId, sha } = await openWidgets();
    const checks = { strict: false, contexts: ['build', 'lint'], appIds: { build: ciId } };
    github.protect(name, 'main', { checks });
    const octokit = asUser(github, token);
    const { data: branch } = await octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', {
      ...widgets,
      branch: 'main',
    });
    expect(branch.protection.required_status_checks?.checks).toEqual([
      { context: 'build', app_id: ciId },
      { context: 'lint', app_id: null },
    ]);
    await github.completeCheckRun(name, sha, { name: 'build', conclusion: 'success', app: 'ci-service' });
    await github.setStatus(name, sha, { context: 'lint', state: 'success' }, 'ada');
    const runs = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
      ...widgets,
      ref: sha,
    });
    expect(runs.data.check_runs[0]?.app).toMatchObject({ id: ciId, slug: 'ci-service' });
    const statuses = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', {
      ...widgets,
      ref: sha,
    });
    expect(statuses.data[0]?.creator?.login).toBe('ada');
  });
});

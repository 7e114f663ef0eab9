// Repositories over git itself.
import { describe, expect, it } from 'vitest';
import { installed, openGithubServer } from './for-test.ts';
import { cloneOf, remoteOf } from './git-client.ts';
import type { Rule } from './model.ts';
import type { GithubServer, GithubServerOptions } from './server.ts';
import { usualPermissions } from './site.ts';

const name = 'acme/widgets';

async function openWidgets(options: GithubServerOptions = {}) {
  const github = await openGithubServer(options);
  const ada = github.newUser('ada');
  await github.newRepository(name, { access: { ada: 'write' } });
  return { github, ada, clone: await cloneOf(github, name, ada.token) };
}

async function installationToken(github: GithubServer): Promise<string> {
  const { token } = (await installed(github).auth({ type: 'installation' })) as { token: string };
  return token;
}

describe('a repository over git', () => {
  it('is cloned and pushed to with the token of an installation', async () => {
    const { github } = await openWidgets();
    const clone = await cloneOf(github, name, await installationToken(github));
    await clone.git('switch', '--quiet', '-c', 'signalbox/test');
    const sha = await clone.commit('x.txt', 'x');
    await clone.git('push', '--quiet', 'origin', 'signalbox/test');
    const { data } = await installed(github).request('GET /repos/{owner}/{repo}/git/ref/{ref}', {
      owner: 'acme',
      repo: 'widgets',
      ref: 'heads/signalbox/test',
    });
    expect(data.object.sha).toBe(sha);
  });

  it('asks strangers for a password, and does not tell them what is there', async () => {
    const { github, clone } = await openWidgets();
    const eve = github.newUser('eve');
    expect(await clone.refusal('ls-remote', `${github.url}/${name}.git`)).toMatch(/could not read Username/);
    expect(await clone.refusal('ls-remote', remoteOf(github, name, eve.token))).toMatch(/not found/);
    expect(await clone.refusal('ls-remote', remoteOf(github, name, 'wrong'))).toMatch(
      /Authentication failed/,
    );
    github.setAccess(name, 'eve', 'read');
    await clone.git('ls-remote', remoteOf(github, name, eve.token));
    const words = await clone.refusal('push', remoteOf(github, name, eve.token), 'HEAD:refs/heads/x');
    expect(words).toMatch(/returned error: 403/);
  });

  it('lets a pull request follow its branch, and closes it when the branch goes', async () => {
    const { github, clone } = await openWidgets();
    await clone.git('switch', '--quiet', '-c', 'x');
    await clone.commit('x.txt', '1');
    await clone.git('push', '--quiet', 'origin', 'x');
    const { number } = await github.openPullRequest(name, { branch: 'x', by: 'ada' });
    const second = await clone.commit('x.txt', '2');
    await clone.git('push', '--quiet', 'origin', 'x');
    expect(github.pullRequest(name, number).headSha).toBe(second);
    await clone.git('fetch', '--quiet', 'origin', `refs/pull/${number}/head`);
    expect(await clone.git('rev-parse', 'FETCH_HEAD')).toBe(second);
    await clone.git('push', '--quiet', 'origin', ':x');
    expect(github.pullRequest(name, number)).toMatchObject({ state: 'closed', merged: null });
  });

  it('shows a pull request as merged when its head is pushed to the base, also if its branch goes with it', async () => {
    const { github, clone } = await openWidgets();
    const one = await github.openPullRequest(name, { branch: 'x', files: { 'x.txt': 'x' } });
    const two = await github.openPullRequest(name, { branch: 'y', files: { 'y.txt': 'y' } });
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('merge', '--quiet', '--no-ff', '-m', 'Both', 'origin/x', 'origin/y');
    const sha = await clone.git('rev-parse', 'HEAD');
    await clone.git('push', '--quiet', '--atomic', 'origin', 'main', ':x');
    for (const { number } of [one, two])
      expect(github.pullRequest(name, number)).toMatchObject({
        state: 'closed',
        merged: { sha, by: { login: 'ada' } },
      });
  });

  it('has the head of a pull request from a fork, and follows it', async () => {
    const { github, clone } = await openWidgets();
    const bob = github.newUser('bob');
    const fork = await github.fork(name, 'bob');
    const { number } = await github.openPullRequest(name, {
      branch: 'x',
      fork: fork.fullName,
      files: { 'x.txt': 'x' },
      by: 'bob',
    });
    const other = await cloneOf(github, fork.fullName, bob.token);
    await other.git('switch', '--quiet', 'x');
    const sha = await other.commit('x.txt', '2');
    await other.git('push', '--quiet', 'origin', 'x');
    await clone.git('fetch', '--quiet', 'origin', `refs/pull/${number}/head`);
    expect(await clone.git('rev-parse', 'FETCH_HEAD')).toBe(sha);
    const { data } = await installed(github).request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
      owner: 'acme',
      repo: 'widgets',
      pull_number: number,
    });
    expect(data.head).toMatchObject({ label: 'bob:x', sha, repo: { full_name: 'bob/widgets', fork: true } });
    expect(data.base.repo.full_name).toBe(name);
  });

  it('keeps refs of pull requests to itself', async () => {
    const { clone } = await openWidgets();
    await clone.commit('x.txt', 'x');
    expect(await clone.refusal('push', 'origin', 'HEAD:refs/pull/1/head')).toContain(
      '(deny updating a hidden ref)',
    );
  });
});

describe('a protected branch', () => {
  it('refuses a push without its checks, and takes it when they have passed', async () => {
    const { github, clone } = await openWidgets();
    github.protect(name, 'main', { checks: { strict: false, contexts: ['ci'] } });
    const sha = await clone.commit('x.txt', 'x');
    const words = await clone.refusal('push', 'origin', 'main');
    expect(words).toContain('GH006: Protected branch update failed for refs/heads/main.');
    expect(words).toContain('Required status check "ci" is expected.');
    expect(words).toContain('[remote rejected] main -> main (protected branch hook declined)');
    await clone.git('push', '--quiet', 'origin', 'main:try');
    await github.completeCheckRun(name, sha, { name: 'ci', conclusion: 'success' });
    await clone.git('push', '--quiet', 'origin', 'main');
  });

  it('lets those push whom it names, and administrators where it does not bind them', async () => {
    const { github, clone } = await openWidgets();
    const reviews = { approvals: 1, bypass: ['signalbox'] };
    github.protect(name, 'main', { reviews });
    await clone.commit('x.txt', 'x');
    expect(await clone.refusal('push', 'origin', 'main')).toContain(
      'Changes must be made through a pull request.',
    );
    const remote = remoteOf(github, name, await installationToken(github));
    await clone.git('push', '--quiet', remote, 'main');
    await clone.commit('x.txt', '2');
    github.setAccess(name, 'ada', 'admin');
    await clone.git('push', '--quiet', 'origin', 'main');
    github.protect(name, 'main', { reviews, enforceAdmins: true });
    await clone.commit('x.txt', '3');
    await clone.refusal('push', 'origin', 'main');
    github.protect(name, 'main', { pushers: ['ada'] });
    expect(await clone.refusal('push', remote, 'main')).toContain(
      "You're not authorized to push to this branch.",
    );
    await clone.git('push', '--quiet', 'origin', 'main');
  });

  it('takes the head of an approved pull request', async () => {
    const { github, clone } = await openWidgets();
    github.protect(name, 'main', { reviews: { approvals: 1, bypass: [] } });
    const { number } = await github.openPullRequest(name, { branch: 'x', files: { 'x.txt': 'x' } });
    await clone.git('fetch', '--quiet', 'origin');
    await clone.refusal('push', 'origin', 'origin/x:main');
    github.approve(name, number, 'ada');
    await clone.git('push', '--quiet', 'origin', 'origin/x:main');
    expect(github.pullRequest(name, number).merged).not.toBeNull();
  });

  it('cannot be forced, deleted or given merges, unless that is allowed', async () => {
    const { github, clone } = await openWidgets();
    github.protect(name, 'main', { linearHistory: true });
    await clone.git('commit', '--quiet', '--amend', '-m', 'Another beginning');
    expect(await clone.refusal('push', '--force', 'origin', 'main')).toContain(
      'Cannot force-push to this branch',
    );
    expect(await clone.refusal('push', 'origin', ':main')).toContain('Cannot delete this branch');
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.git('switch', '--quiet', '-c', 'x');
    await clone.commit('x.txt', 'x');
    await clone.git('switch', '--quiet', 'main');
    await clone.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'x');
    expect(await clone.refusal('push', 'origin', 'main')).toContain('must not contain merge commits');
    await clone.git('push', '--quiet', 'origin', 'x:main');
    github.protect(name, 'main', { allowForcePushes: true, allowDeletions: true });
    await clone.git('push', '--quiet', '--force', 'origin', 'main');
  });

  it('is bound by rulesets, which let an App pass by', async () => {
    const { github, clone } = await openWidgets();
    const rules = [{ type: 'pull_request', parameters: { required_approving_review_count: 1 } }];
    github.addRuleset(name, { rules, bypassApps: [github.appId] });
    github.addRuleset(name, { rules: [{ type: 'creation' }], include: ['refs/heads/signalbox/**'] });
    await clone.commit('x.txt', 'x');
    const words = await clone.refusal('push', 'origin', 'main');
    expect(words).toContain('GH013: Repository rule violations found for refs/heads/main.');
    expect(words).toContain('(push declined due to repository rule violations)');
    const remote = remoteOf(github, name, await installationToken(github));
    await clone.git('push', '--quiet', remote, 'main');
    expect(await clone.refusal('push', remote, 'main:refs/heads/signalbox/test')).toContain(
      'Cannot create ref due to creations being restricted.',
    );
  });

  it('is bound by rules on names, signatures and checks, of which some spare a new branch', async () => {
    const { github, clone } = await openWidgets();
    const checks = (spare: boolean) => ({
      type: 'required_status_checks',
      parameters: {
        strict_required_status_checks_policy: false,
        do_not_enforce_on_create: spare,
        required_status_checks: [{ context: 'ci' }],
      },
    });
    const on = (pattern: string, rule: Rule) =>
      github.addRuleset(name, { rules: [rule], include: [`refs/heads/${pattern}`] });
    on('spared', checks(true));
    on('bound', checks(false));
    on('signed', { type: 'required_signatures' });
    on('*', {
      type: 'branch_name_pattern',
      parameters: { operator: 'contains', pattern: 'bad', negate: true },
    });
    await clone.commit('x.txt', 'x');
    const refused = (branch: string) => clone.refusal('push', 'origin', `main:refs/heads/${branch}`);
    expect(await refused('signed')).toContain('Commits must have verified signatures.');
    await clone.git('push', '--quiet', 'origin', 'main:spared');
    expect(await refused('bound')).toContain('Required status check "ci" is expected.');
    // A new branch is asked only for commits that no other branch has.
    await clone.git('push', '--quiet', 'origin', 'main:signed');
    expect(await refused('a-bad-name')).toContain('Branch name must not match a given pattern: bad');
    await clone.commit('x.txt', '2');
    expect(await refused('spared')).toContain('Required status check "ci" is expected.');
  });

  it('refuses one ref of a push and takes the other, or neither if they are to go together', async () => {
    const { github, clone } = await openWidgets();
    github.protect(name, 'main', { locked: true });
    await clone.commit('x.txt', 'x');
    await clone.refusal('push', '--atomic', 'origin', 'main', 'main:a');
    await clone.refusal('push', 'origin', 'main', 'main:b');
    expect(await clone.git('ls-remote', '--heads', 'origin')).not.toContain('refs/heads/a');
    expect(await clone.git('ls-remote', '--heads', 'origin')).toContain('refs/heads/b');
  });
});

describe('an App without the permission for workflows', () => {
  it('may not push a commit that changes one, which others may', async () => {
    const { workflows: _, ...permissions } = usualPermissions;
    const { github, clone } = await openWidgets({ permissions });
    const remote = remoteOf(github, name, await installationToken(github));
    await clone.commit('.github/workflows/ci.yml', 'on: push\n');
    expect(await clone.refusal('push', remote, 'HEAD:refs/heads/x')).toContain(
      'without `workflows` permission',
    );
    await clone.git('push', '--quiet', 'origin', 'HEAD:refs/heads/x');
    // What the repository has already may be pushed on.
    await clone.commit('x.txt', 'x');
    await clone.git('push', '--quiet', remote, 'HEAD:refs/heads/y');
  });
});

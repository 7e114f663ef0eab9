// What is special about GitHub, beyond the host contract.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CheckActionId } from '#core/queue/host-event.ts';
import { openMirror } from '#git/mirror/mirror.ts';
import type { Credentials } from '#host/connection.ts';
import { check, counted, openGithub, total, widgets } from './github-fixture.ts';
import { appCredentials, hostName } from './github-world.ts';

const runsPath = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
const createRun = 'POST /repos/{owner}/{repo}/check-runs';
const updateRun = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';

describe('what a branch asks for', () => {
  it('is the union of classic protection and rulesets, without our own check', async () => {
    const { server, host, repository } = await openGithub();
    const strict = { strict_required_status_checks_policy: false };
    const required = (...contexts: readonly string[]) => ({
      type: 'required_status_checks',
      parameters: { ...strict, required_status_checks: contexts.map((context) => ({ context })) },
    });
    server.protect(widgets, 'main', { checks: { strict: false, contexts: ['ci/classic', 'ci/both'] } });
    server.addRuleset(widgets, { rules: [required('ci/both', 'ci/ruled', 'Signalbox (main)')] });
    expect(await host.readRequiredChecks(repository, 'main')).toEqual(
      ['ci/both', 'ci/classic', 'ci/ruled'].map((name) => ({ name, source: null })),
    );
    const { protection } = await host.inspect(repository, 'main');
    // Our own check passes when all is done: required of us, it shuts us out.
    expect(protection).toMatchObject({ letsUsPush: false, letsUsMerge: false });
  });

  it('is asked for once in half a minute, and once for all who ask', async () => {
    const { server, host, repository, clock } = await openGithub();
    server.protect(widgets, 'main', { checks: { strict: false, contexts: ['ci/test'] } });
    const ask = () => host.readRequiredChecks(repository, 'main');
    await Promise.all([ask(), ask(), ask()]);
    expect(total(server)).toBe(2);
    server.protect(widgets, 'main', { checks: { strict: false, contexts: ['ci/other'] } });
    clock.advance(20_000);
    expect(await ask()).toEqual([{ name: 'ci/test', source: null }]);
    clock.advance(10_001);
    expect(await ask()).toEqual([{ name: 'ci/other', source: null }]);
    expect([total(server), counted(server)]).toEqual([4, expect.anything()]);
  });

  it('that only shields it from deletion is not taken for leave to land untested', async () => {
    const { server, host, repository } = await openGithub();
    server.addRuleset(widgets, { rules: [{ type: 'deletion' }, { type: 'non_fast_forward' }] });
    expect(await host.readRequiredChecks(repository, 'main')).toBeNull();
    const { protection } = await host.inspect(repository, 'main');
    expect(protection).toMatchObject({ requiredChecks: [], letsUsPush: true, letsUsMerge: true });
  });

  it('of test branches is named if it keeps us from making them', async () => {
    const { server, host, repository } = await openGithub();
    const ruleset = {
      name: 'No robots',
      include: ['refs/heads/signalbox/**'],
      rules: [{ type: 'creation' }],
    };
    server.addRuleset(widgets, ruleset);
    expect((await host.inspect(repository, 'main')).testBranchRule).toBe('No robots (creation)');
  });

  it('does not bind us if the ruleset lets our App pass by', async () => {
    const { server, host, repository } = await openGithub();
    const parameters = {
      required_approving_review_count: 1,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: false,
    };
    const rules = [{ type: 'pull_request', parameters }];
    server.addRuleset(widgets, { rules });
    const inspected = () => host.inspect(repository, 'main');
    expect((await inspected()).protection).toMatchObject({ letsUsPush: false, approvals: 1 });
    server.addRuleset(widgets, { rules, bypassApps: [server.appId], include: ['refs/heads/free'] });
    await server.setBranch(widgets, 'free', await server.commit(widgets, { files: { 'f.txt': 'f' } }));
    const { protection } = await host.inspect(repository, 'free');
    expect(protection).toMatchObject({ letsUsPush: true, approvals: 1 });
  });
});

describe('a pull request', () => {
  it('that lacks nothing but checks is one for the queue, which brings them', async () => {
    const { server, propose, read } = await openGithub();
    server.protect(widgets, 'main', {
      checks: { strict: true, contexts: ['ci/test', 'Signalbox (main)'] },
      enforceAdmins: true,
    });
    const { number } = await propose('one');
    await server.commit(widgets, { files: { 'm.txt': 'm' } });
    expect(await read(number)).toMatchObject({ mergeability: 'mergeable' });
  });

  it.each(['classic protection', 'a ruleset', 'a ruleset that lets us pass by'])(
    'that lacks the review %s asks for is none until it has it',
    async (kind) => {
      const { server, propose, read, clock } = await openGithub();
      const parameters = {
        required_approving_review_count: 1,
        dismiss_stale_reviews_on_push: false,
        require_code_owner_review: false,
        require_last_push_approval: false,
        required_review_thread_resolution: false,
      };
      if (kind === 'classic protection')
        server.protect(widgets, 'main', { reviews: { approvals: 1, bypass: [] } });
      else
        server.addRuleset(widgets, {
          rules: [{ type: 'pull_request', parameters }],
          bypassApps: kind.endsWith('by') ? [server.appId] : [],
        });
      const { number } = await propose('one');
      expect(await read(number)).toMatchObject({ mergeability: 'not_mergeable' });
      server.approve(widgets, number, 'grace');
      expect(await read(number)).toMatchObject({ mergeability: 'mergeable' });
      // Later the decision is remembered, for as long as nothing changes.
      clock.advance(60_000);
      await read(number);
      server.forgetCalls();
      await read(number);
      expect(counted(server)).toEqual({ 'GET /repos/{owner}/{repo}/pulls/{pull_number} (not modified)': 1 });
    },
  );

  it('from a fork is read, and its head fetched from the repository it is for', async () => {
    const { server, host, repository, read } = await openGithub();
    server.newUser('grace');
    const fork = await server.fork(widgets, 'grace');
    const files = { 'f.txt': 'f' };
    const wish = { branch: 'theirs', fork: fork.fullName, files, by: 'grace' };
    const { number, headSha } = await server.openPullRequest(widgets, wish);
    expect(await read(number)).toMatchObject({ headSha, author: 'grace', mergeability: 'mergeable' });
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-fork-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const mirror = await openMirror(join(folder, 'mirror'), () => host.remoteOf(repository));
    onTestFinished(mirror.close);
    expect((await mirror.fetch({ branch: 'main', pulls: [{ number, sha: headSha }] })).missing).toEqual([]);
  });

  it('is not said to be gone when it is we who are', async () => {
    const { server, connect, repository, propose } = await openGithub();
    const { number } = await propose('one');
    const query = { repository, number };
    const elsewhere = connect({ ...appCredentials(server), installationId: 1 } as Credentials);
    await expect(elsewhere.readPullRequest(query)).rejects.toMatchObject({ trouble: 'forbidden' });
    const other = server.install('others');
    const stranger = connect({ ...appCredentials(server), installationId: other } as Credentials);
    await expect(stranger.readPullRequest(query)).rejects.toMatchObject({ trouble: 'forbidden' });
    const revoked = connect({ kind: 'token', token: 'ghp_never' });
    await expect(revoked.readPullRequest(query)).rejects.toMatchObject({ trouble: 'forbidden' });
  });
});

describe('a repository', () => {
  it('that everybody can read is ours only where the App is installed', async () => {
    const { server, host, connect, token, repository } = await openGithub();
    const { organizationId } = repository;
    await server.newRepository('others/gadgets', { isPrivate: false });
    const gadgets = { host: hostName, owner: 'others', name: 'gadgets' };
    expect(await host.findRepository(organizationId, gadgets)).toBeNull();
    const account = connect({ kind: 'token', token });
    expect(await account.findRepository(organizationId, gadgets)).toBeNull();
    expect(await account.findRepository(organizationId, repository)).toEqual({
      host: hostName,
      owner: 'acme',
      name: 'widgets',
    });
  });
});

describe('our own check', () => {
  it('is one check run that is changed in place, also by another worker', async () => {
    const { server, host, connect, repository, propose } = await openGithub();
    const { headSha } = await propose('one');
    await host.writeCheck(repository, headSha, check('pending', 'Queued'));
    await host.writeCheck(repository, headSha, check('pending', 'Testing'));
    expect(counted(server)).toEqual({ [runsPath]: 1, [createRun]: 1, [updateRun]: 1 });
    const other = connect();
    await other.writeCheck(repository, headSha, check('success', 'Landed'));
    expect(counted(server)).toEqual({ [runsPath]: 2, [createRun]: 1, [updateRun]: 2 });
    expect(await host.readChecks(repository, headSha)).toMatchObject([
      { kind: 'check', name: 'Signalbox (main)', status: 'completed', conclusion: 'success' },
    ]);
    // The first does not know that it is over, and GitHub opens nothing again.
    await host.writeCheck(repository, headSha, check('pending', 'In line again'));
    expect(await host.readChecks(repository, headSha)).toMatchObject([
      { status: 'in_progress', conclusion: null },
    ]);
  });

  it('has the actions of its state alone, by REST and by GraphQL, and GitHub accepts their lengths', async () => {
    const { server, host, repository, propose, read } = await openGithub({
      webhookUrl: 'http://127.0.0.1:9',
    });
    const { number, headSha } = await propose('one');
    const action = (id: CheckActionId) => ({ id, label: 'x'.repeat(20), description: 'y'.repeat(40) });
    const offered = async (...ids: readonly CheckActionId[]) => {
      const known: string[] = [];
      for (const identifier of ['cancel', 'restart', 'requeue'])
        await server
          .clickAction(widgets, headSha, { check: 'Signalbox (main)', identifier, by: 'ada' })
          .then(() => known.push(identifier))
          .catch(() => undefined);
      expect(known).toEqual(ids);
    };
    const own = { ...check('pending', 'Queued'), number };
    await host.writeCheck(repository, headSha, { ...own, actions: [action('cancel')] });
    await offered('cancel');
    // The node ids are known from reading.
    await read(number);
    const comment = { id: null, mayExist: false, mark: 'm', body: 'b' };
    const both = { ...own, actions: [action('cancel'), action('restart')] };
    await host.writeStatus!(repository, number, { sha: headSha, check: both, comment });
    expect(counted(server)['POST /api/graphql']).toBeGreaterThan(0);
    await offered('cancel', 'restart');
    await host.writeCheck(repository, headSha, { ...own, state: 'success', actions: [] });
    await offered();
    await server.settled();
    const clicks = server.deliveries().filter(({ action: said }) => said === 'requested_action');
    expect(clicks.map(({ body }) => JSON.parse(body) as object)).toMatchObject(
      ['cancel', 'cancel', 'restart'].map((identifier) => ({
        requested_action: { identifier },
        sender: { login: 'ada' },
        check_run: { external_id: `pull/${number}`, app: { id: server.appId } },
      })),
    );
  });

  it('is a commit status where we are an account', async () => {
    const { server, connect, token, repository, propose } = await openGithub();
    const { headSha } = await propose('one');
    const account = connect({ kind: 'token', token });
    await account.writeCheck(repository, headSha, check('pending', 'x'.repeat(200)));
    await account.writeCheck(repository, headSha, check('failure', 'Removed from the queue'));
    expect(await account.readChecks(repository, headSha)).toMatchObject([
      { kind: 'status', name: 'Signalbox (main)', state: 'failure', url: 'http://queue.example' },
    ]);
    expect(counted(server)['POST /repos/{owner}/{repo}/statuses/{sha}']).toBe(2);
  });
});

describe('with the token of an account', () => {
  it('our comment is found again, nobody else’s is taken for it, and what we say is not heard', async () => {
    const { server, connect, repository, propose } = await openGithub();
    const { token } = server.newUser('robot');
    server.setAccess(widgets, 'robot', 'write');
    const { number } = await propose('one');
    const account = connect({ kind: 'token', token });
    const comment = { id: null, mayExist: true, mark: 'm', body: '/signalbox merge' };
    server.comment(widgets, number, 'ada', 'They say:\n\n<!-- m -->');
    const id = await account.writeComment(repository, number, comment);
    expect(await account.writeComment(repository, number, { ...comment, body: 'Landed.' })).toBe(id);
    const words = await account.readCommentsAndLabels(repository, new Date(Date.now() - 60_000), 'submit');
    expect(words).toMatchObject([{ kind: 'comment-written', author: 'ada' }]);
    expect(counted(server)['GET /user']).toBe(1);
  });

  it('the repository is described, and git let in', async () => {
    const { connect, token, repository } = await openGithub();
    const account = connect({ kind: 'token', token });
    const told = await account.inspect(repository, 'main');
    expect(told).toMatchObject({ own: 'write', branchExists: true, protection: null, webhooks: null });
    expect(told.version).toMatch(/^GitHub Enterprise Server 3\./);
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-account-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const mirror = await openMirror(join(folder, 'mirror'), () => account.remoteOf(repository));
    onTestFinished(mirror.close);
    expect([...(await mirror.remoteRefs(['refs/heads/*'])).keys()]).toEqual(['refs/heads/main']);
  });
});

describe('what people say', () => {
  it('is not heard where we said it, where it was edited since, or on an issue', async () => {
    const { server, host, token, repository, propose } = await openGithub();
    const { number } = await propose('one');
    const since = new Date(Date.now() - 5_000);
    await host.writeComment(repository, number, {
      id: null,
      mayExist: false,
      mark: 'm',
      body: '/signalbox merge',
    });
    server.comment(widgets, server.openIssue(widgets, 'Broken'), 'ada', '/signalbox merge');
    const edited = server.comment(widgets, number, 'ada', 'Nice.');
    const heard = server.comment(widgets, number, 'ada', '/signalbox status');
    await sleep(1_100);
    const answer = await fetch(`${server.apiUrl}/repos/${widgets}/issues/comments/${edited}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ body: '/signalbox merge --force' }),
    });
    expect(answer.status).toBe(200);
    const words = await host.readCommentsAndLabels(repository, since, 'submit');
    expect(words).toMatchObject([
      { kind: 'comment-written', commentId: String(heard), text: '/signalbox status' },
    ]);
  });

  it('by a label is reported once, and again when the pull request changed', async () => {
    const { server, host, repository, propose } = await openGithub();
    server.newUser('tess');
    server.setAccess(widgets, 'tess', 'triage');
    const [first, second] = [await propose('one'), await propose('two')];
    await server.label(widgets, first.number, 'submit', { by: 'tess' });
    await server.label(widgets, second.number, 'submit', { by: 'ada' });
    const words = () => host.readCommentsAndLabels(repository, new Date(), 'submit');
    expect(await words()).toMatchObject([{ number: second.number }, { number: first.number }]);
    server.forgetCalls();
    expect(await words()).toEqual([]);
    expect(Object.keys(counted(server)).toSorted()).toEqual([
      'GET /repos/{owner}/{repo}/issues (not modified)',
      'GET /repos/{owner}/{repo}/issues/comments (not modified)',
    ]);
    await sleep(1_100);
    await server.label(widgets, first.number, 'submit', { on: false, by: 'tess' });
    await server.label(widgets, first.number, 'submit', { by: 'ada' });
    expect(await words()).toMatchObject([{ number: first.number }]);
  });
});

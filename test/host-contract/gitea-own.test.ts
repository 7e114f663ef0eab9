// What only Gitea does, on a real server; what every host does is in suite.ts.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { RepositoryId } from '#base/id.ts';
import { evaluateChecks } from '#core/queue/check.ts';
import { uniqueCheckNames } from '#core/queue/rule.ts';
import { mergeMethods } from '#core/queue/settings.ts';
import type { Log } from '#base/log.ts';
import type { Credentials } from '#host/connection.ts';
import { createGiteaHost } from '#host/gitea/host.ts';
import type { Host, HostRepository } from '#host/host.ts';
import { build, eventually, openPlace, type Workplace } from './contract.ts';
import { authorize } from './gitea-oauth.ts';
import { connectionsOf, organizationId, stubHost } from './gitea-stub.ts';
import { createGiteaWorld, type GiteaWorld } from './gitea-world.ts';

const silent = () => undefined;
const quiet: Log = { debug: silent, info: silent, warn: silent, error: silent };

const shown = { title: 'T', summary: '', url: 'https://q.example', number: 1, actions: [] };

describe('Gitea', () => {
  let world: GiteaWorld;
  beforeAll(async () => {
    world = await createGiteaWorld();
  }, 600_000);
  afterAll(() => world?.close());

  const open = () => openPlace(world);
  const ask = <T = unknown>(
    { repository: { owner, name } }: Workplace,
    method: string,
    path: string,
    body?: object,
  ) =>
    world.gitea.call<T>(
      world.people.get(world.author)!.token,
      method,
      `/repos/${owner}/${name}${path}`,
      body,
    );
  const hostWith = (credentials: Credentials): Host => {
    const connections = connectionsOf(world.gitea.url, credentials);
    return createGiteaHost({ host: stubHost, connections, clock: systemClock, log: quiet });
  };

  describe('the protection of a branch', () => {
    const protect = (place: Workplace, rule: object) =>
      ask(place, 'POST', '/branch_protections', { enable_push: true, enable_status_check: true, ...rule });

    it('may name checks by patterns, which stand for what reported on the branch; our own is not meant', async () => {
      const place = await open();
      const { host, repository } = place;
      const tip = (await place.tipOf('main'))!;
      for (const name of ['ci / test (push)', 'ci / lint (push)', 'docs'])
        await place.report(tip, { name, state: 'success' });
      const own = { ...shown, name: 'Signalbox (main)' };
      await host.writeCheck(repository, tip, { ...own, state: 'success' });
      await protect(place, { rule_name: 'm*', status_check_contexts: ['ci / *', '*(*', 'e2e-?'] });
      const required = (await host.readRequiredChecks(repository, 'main'))!;
      const names = uniqueCheckNames(required).toSorted();
      expect(names).toEqual(['ci / lint (push)', 'ci / test (push)', 'e2e-?']);
    });

    it('that asks for no check is as if there were none', async () => {
      const place = await open();
      await protect(place, { rule_name: 'main', enable_status_check: false });
      expect(await place.host.readRequiredChecks(place.repository, 'main')).toBeNull();
      expect((await place.host.inspect(place.repository, 'main')).protection).toMatchObject({
        requiredChecks: [],
        letsUsPush: true,
      });
    });

    it('may ask for reviews, which the queue waits for', async () => {
      const place = await open();
      await place.grant('grace', 'write');
      const rule = { required_approvals: 1, block_on_rejected_reviews: true, status_check_contexts: ['ci'] };
      await protect(place, { rule_name: 'main', ...rule });
      const { number } = await place.propose({ 'a.txt': 'a' });
      expect(await place.readSettled(number)).toMatchObject({ mergeability: 'not_mergeable' });
      const { owner, name } = place.repository;
      const review = (event: string) =>
        world.gitea.call(
          world.people.get('grace')!.token,
          'POST',
          `/repos/${owner}/${name}/pulls/${number}/reviews`,
          { event, body: 'x' },
        );
      await review('APPROVED');
      expect(await place.readSettled(number)).toMatchObject({ mergeability: 'mergeable' });
      await review('REQUEST_CHANGES');
      expect(await place.readSettled(number)).toMatchObject({ mergeability: 'not_mergeable' });
      expect((await place.host.inspect(place.repository, 'main')).protection).toMatchObject({ approvals: 1 });
    });

    it('that requires checks and names none requires all that report', async () => {
      const place = await open();
      await place.report((await place.tipOf('main'))!, { name: 'ci/test', state: 'success' });
      await protect(place, { rule_name: 'main', status_check_contexts: [] });
      expect(await place.host.readRequiredChecks(place.repository, 'main')).toEqual([
        { name: 'ci/test', source: null },
      ]);
    });

    it('is of the rule that Gitea takes, and test branches that a rule protects are told', async () => {
      const place = await open();
      await protect(place, {
        rule_name: '**',
        status_check_contexts: ['of the first'],
        block_on_outdated_branch: true,
      });
      await protect(place, { rule_name: 'main', status_check_contexts: ['of the second'] });
      // The one that was made first, though the other has the very name.
      expect(await place.host.readRequiredChecks(place.repository, 'main')).toEqual([
        { name: 'of the first', source: null },
      ]);
      const told = await place.host.inspect(place.repository, 'main');
      expect(told.protection).toMatchObject({ requiredChecks: ['of the first'], needsUpToDate: true });
      expect(told.testBranchRule).toBe('**');
    });
  });

  describe('landing by a push', () => {
    it.each(mergeMethods)(
      'closes a pull request of %s where the repository does not let us mark it as merged',
      async (method) => {
        const place = await open();
        const { host, repository } = place;
        await ask(place, 'PATCH', '', { has_pull_requests: true, allow_manual_merge: false });
        expect((await host.inspect(repository, 'main')).marksMerged).toBe(false);
        const { number } = await place.propose({ 'a.txt': 'a' });
        const mirror = await place.mirror();
        const { base, sha } = await build(mirror, method, (await place.read(number))!);
        await mirror.push([{ ref: 'refs/heads/main', from: base, to: sha }]);
        const warnings = world.warnings.length;
        await host.markMerged(repository, number, sha);
        await host.markMerged(repository, number, sha);
        expect(await place.showPullRequest(number)).toMatchObject({ state: 'closed' });
        expect(world.warnings.slice(warnings)).toHaveLength(1);
      },
    );

    it('does not close one whose commit is not on the branch', async () => {
      const place = await open();
      const { number, sha } = await place.propose({ 'a.txt': 'a' });
      await place.host.markMerged(place.repository, number, sha);
      expect(await place.showPullRequest(number)).toMatchObject({ state: 'open' });
    });

    it('marks each of several pull requests with its own commit, also where Gitea looks for them itself', async () => {
      const place = await open();
      const { host, repository } = place;
      await ask(place, 'PATCH', '', {
        has_pull_requests: true,
        allow_manual_merge: true,
        autodetect_manual_merge: true,
      });
      const mirror = await place.mirror();
      const landed: { number: number; sha: string }[] = [];
      for (const file of ['a.txt', 'b.txt']) {
        const { number } = await place.propose({ [file]: file });
        const made = await build(mirror, 'merge_commit', (await place.read(number))!);
        landed.push({ number, sha: made.sha });
        await mirror.push([{ ref: 'refs/heads/main', from: made.base, to: made.sha }]);
      }
      for (const { number, sha } of landed) await host.markMerged(repository, number, sha);
      for (const { number, sha } of landed)
        expect(await place.showPullRequest(number)).toMatchObject({ state: 'merged', mergeSha: sha });
    });
  });

  describe('the merge call', () => {
    it('merges one after the other, though Gitea must look at each anew', async () => {
      const place = await open();
      const { host, repository } = place;
      const changes = [];
      for (const file of ['a.txt', 'b.txt', 'c.txt']) changes.push(await place.propose({ [file]: file }));
      for (const { number, sha: headSha } of changes) {
        const words = { title: `Change (#${number})`, message: '', targetBranch: 'main' };
        const answer = await host.merge({ repository, number, method: 'squash', headSha, ...words });
        expect(answer).toEqual({ kind: 'merged', sha: await place.tipOf('main') });
      }
    });

    it('refuses one that waits for another, and says for which', async () => {
      const place = await open();
      const { host, repository } = place;
      const [first, second] = [await place.propose({ 'a.txt': 'a' }), await place.propose({ 'b.txt': 'b' })];
      const { owner, name: repo } = repository;
      await ask(place, 'POST', `/issues/${second.number}/dependencies`, { index: first.number, owner, repo });
      const words = { title: 'T', message: '', targetBranch: 'main', method: 'squash' } as const;
      const answer = await host.merge({ repository, number: second.number, headSha: second.sha, ...words });
      expect(answer).toEqual({ kind: 'refused', message: `#2 is blocked by #1, which is open.` });
    });
  });

  describe('what is not there', () => {
    it('is refused, and not taken for trouble with the host', async () => {
      const place = await open();
      const { host, repository } = place;
      const absent = '1'.repeat(40);
      const check = { ...shown, name: 'n', state: 'pending' } as const;
      const comment = { id: null, mark: 'm', body: 'b' };
      const calls = [
        () => host.writeCheck(repository, absent, check),
        () => host.writeComment(repository, 999, { ...comment, mayExist: false }),
        () => host.writeComment(repository, 999, { ...comment, mayExist: true }),
        () => host.changeLabels(repository, 999, { add: ['a'], remove: [] }),
        () =>
          host.openTestPullRequest(repository, { branch: 'gone', baseBranch: 'main', title: 'T', body: '' }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ trouble: 'forbidden' });
      expect(await host.readChecks(repository, absent)).toEqual([]);
    });
  });

  describe('an account that may only write', () => {
    it('is told what it may not do', async () => {
      const place = await open();
      await place.grant('writer', 'write');
      const { token } = world.people.get('writer')!;
      const host = hostWith({ kind: 'token', token });
      const told = await host.inspect(place.repository, 'main');
      expect(told).toMatchObject({ own: 'write', webhooks: null, testBranchRule: null, marksMerged: true });
      const asked = host.permissionOf(place.repository, world.author);
      await expect(asked).rejects.toMatchObject({
        trouble: 'forbidden',
        message: expect.stringMatching(/admin/) as unknown,
      });
    });

    it('whose token is for less is told so', async () => {
      const place = await open();
      const { name, password } = world.bot;
      const answer = await fetch(`${world.gitea.url}/api/v1/users/${name}/tokens`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'less', scopes: ['read:repository'] }),
      });
      const { sha1: token } = (await answer.json()) as { sha1: string };
      const host = hostWith({ kind: 'token', token });
      const { number } = await place.propose({ 'a.txt': 'a' });
      expect(await host.readPullRequest({ repository: place.repository, number })).not.toBeNull();
      const comment = { id: null, mayExist: false, mark: 'm', body: 'b' };
      const error: unknown = await host
        .writeComment(place.repository, number, comment)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        trouble: 'forbidden',
        message: expect.stringMatching(/scope/) as unknown,
      });
      expect(String(error)).not.toContain(token);
    });
  });

  describe('an organization', () => {
    it('shares labels and webhooks with its repositories', async () => {
      const { gitea, bot, author } = world;
      const { token } = world.people.get(author)!;
      const call = <T = unknown>(method: string, path: string, body?: object) =>
        gitea.call<T>(token, method, path, body);
      await call('POST', '/orgs', { username: 'acme' });
      await call('POST', '/orgs/acme/repos', {
        name: 'gears',
        auto_init: true,
        default_branch: 'main',
        private: true,
      });
      await call('PUT', `/repos/acme/gears/collaborators/${bot.name}`, { permission: 'admin' });
      await call('POST', '/orgs/acme/labels', {
        name: 'submit',
        color: '#00aabb',
      });
      const file = { content: '', message: 'Add a', branch: 'main', new_branch: 'a' };
      await call('POST', '/repos/acme/gears/contents/a.txt', file);
      const pull = { head: 'a', base: 'main', title: 'A' };
      const { number } = await call<{ number: number }>('POST', '/repos/acme/gears/pulls', pull);
      const repository: HostRepository = {
        id: randomUUID() as RepositoryId,
        organizationId,
        host: stubHost,
        owner: 'acme',
        name: 'gears',
      };
      const labels = async () =>
        (await call<{ name: string }[]>('GET', `/repos/acme/gears/issues/${number}/labels`)).map(
          ({ name }) => name,
        );
      await world.host.changeLabels(repository, number, { add: ['submit'], remove: [] });
      expect(await call<object[]>('GET', '/repos/acme/gears/labels')).toEqual([]);
      const later = new Date(Date.now() + 5_000);
      const words = await world.host.readCommentsAndLabels(repository, later, 'submit');
      expect(words).toMatchObject([{ kind: 'label-changed', number, label: 'submit', labels: ['submit'] }]);
      await world.host.changeLabels(repository, number, { add: [], remove: ['submit'] });
      expect(await labels()).toEqual([]);

      const config = { url: 'http://127.0.0.1:1/hook', content_type: 'json', secret: 's' };
      await call('POST', '/orgs/acme/hooks', { type: 'gitea', active: true, events: ['status'], config });
      const ours = hostWith({ kind: 'token', token });
      expect((await ours.inspect(repository, 'main')).webhooks).toEqual([
        { url: config.url, isActive: true, events: ['check-changed'], lastStatus: null },
      ]);
    });
  });

  it('answers for a repository that was renamed', async () => {
    const place = await open();
    const { number } = await place.propose({ 'a.txt': 'a' });
    const { owner, name, host } = place.repository;
    await ask(place, 'PATCH', '', { name: `${name}-new` });
    expect(await place.host.findRepository(organizationId, { host, owner, name })).toEqual({
      host,
      owner,
      name: `${name}-new`,
    });
    expect(await place.read(number)).toMatchObject({ number });
    await place.host.changeLabels(place.repository, number, { add: ['a'], remove: [] });
    const mirror = await place.mirror();
    expect((await mirror.fetch({ branch: 'main', pulls: [] })).tip).toMatch(/^[0-9a-f]{40}$/);
  });

  it('lets us in by an OAuth application, whose access is renewed', async () => {
    const place = await open();
    const credentials = await authorize(world.gitea, world.people.get(world.author)!);
    // As if it had run out.
    const connections = connectionsOf(world.gitea.url, {
      ...credentials,
      expiresAt: Date.now(),
      accessToken: 'old',
    });
    const host = createGiteaHost({ host: stubHost, connections, clock: systemClock, log: quiet });
    const { owner, name } = place.repository;
    expect(await host.findRepository(organizationId, { host: stubHost, owner, name })).not.toBeNull();
    const renewed = connections.current().credentials;
    expect(renewed).toMatchObject({ kind: 'oauth', clientId: credentials.clientId });
    expect(renewed).not.toMatchObject({ accessToken: 'old' });
    const { headers = [] } = await host.remoteOf(place.repository);
    expect(Buffer.from(headers[0]!.split(' ').at(-1)!, 'base64').toString()).toContain(
      renewed.kind === 'oauth' ? renewed.accessToken : '',
    );
  });

  it('names its accounts in commits by the address that it shows', async () => {
    const { host, repository } = await open();
    const own = await host.readPerson(repository, null);
    expect(own!.name).not.toBe('');
    expect(own!.email).toMatch(/^\S+@\S+$/);
    const author = await host.readPerson(repository, world.author);
    expect(author!.email).toMatch(new RegExp(`^${world.author}@`));
    expect(await host.readPerson(repository, 'nobody-here')).toBeNull();
  });

  it('is asked at most ten times for a pull request that lands', async () => {
    const place = await open();
    const { host, repository } = place;
    await place.protect('main', { requiredChecks: ['ci/test'] });
    const { number, sha: headSha } = await place.propose({ 'a.txt': 'a' });
    await place.readSettled(number);
    await host.readRequiredChecks(repository, 'main');
    const mirror = await place.mirror();
    const fetched = vi.spyOn(globalThis, 'fetch');
    onTestFinished(() => fetched.mockRestore());
    // What a branch asks for is read once in half a minute, for all of them.
    const isCounted = (url: unknown) =>
      url instanceof URL &&
      url.href.startsWith(world.proxy.url) &&
      !/\/branch(es|_protections)\//.test(url.href);
    const asked = () => fetched.mock.calls.filter(([url]) => isCounted(url)).length;
    const read = () => place.read(number);
    const words = { ...shown, name: 'Signalbox' };
    const mark = { mayExist: false, mark: 'm' };
    const pullRequest = (await read())!;
    await host.writeCheck(repository, headSha, { ...words, state: 'pending' });
    const id = await host.writeComment(repository, number, { ...mark, id: null, body: 'In line.' });
    const { base, sha } = await build(mirror, 'squash', pullRequest);
    const branch = 'signalbox/main/1';
    await mirror.push([{ ref: `refs/heads/${branch}`, from: null, to: sha }]);
    await host.readRequiredChecks(repository, 'main');
    await host.openTestPullRequest(repository, { branch, baseBranch: 'main', title: 'Test', body: '' });
    await host.readChecks(repository, sha);
    await read();
    await mirror.push([{ ref: 'refs/heads/main', from: base, to: sha }]);
    await host.markMerged(repository, number, sha);
    await host.writeCheck(repository, headSha, { ...words, state: 'success' });
    await host.writeComment(repository, number, { ...mark, id, body: 'Merged.' });
    expect(asked()).toBe(9);
  });

  it('runs Actions: a red job decides when its workflow is over', async () => {
    const runner = await world.gitea.startRunner({ capacity: 2 });
    const place = await open();
    const job = (script: string) => `\n    runs-on: linux\n    steps:\n      - run: ${script}\n`;
    const workflow = `name: ci\non: [push]\njobs:\n  quick:${job('exit 1')}  slow:${job('sleep 6')}`;
    await ask(place, 'POST', '/contents/.gitea/workflows/ci.yaml', {
      content: Buffer.from(workflow).toString('base64'),
      message: 'CI',
      branch: 'main',
      new_branch: 'change',
    });
    const sha = (await place.tipOf('change'))!;
    const required = [{ name: 'ci / quick (push)', source: null }];
    const verdicts = new Set<string>();
    const checks = await eventually(
      async () => {
        const now = await place.host.readChecks(place.repository, sha);
        const red = now.some((check) => check.kind === 'check' && check.conclusion === 'failure');
        verdicts.add(`${red ? 'red' : 'not red'}: ${evaluateChecks(required, now, []).kind}`);
        return now;
      },
      (now) => evaluateChecks(required, now, []).kind === 'failed',
    );
    expect([...verdicts]).toEqual(expect.arrayContaining(['red: open', 'red: failed']));
    expect(checks).toMatchObject([{ suite: 'ci (push)' }, { suite: 'ci (push)' }]);
    const { headers } = world.deliveries.find((delivery) => delivery.body.includes('ci / quick (push)'))!;
    expect(headers['x-gitea-event']).toBe('status');
    await runner.stop();
  });
});

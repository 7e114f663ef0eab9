import { describe, expect, it } from 'vitest';
import type { Contract } from './contract.ts';
import { eventually } from './contract.ts';

export function pullRequestSection({ world, needs, openPlace }: Contract): void {
  describe('a pull request', () => {
    it('is told with all its facts', async () => {
      const place = await openPlace();
      const words = { title: 'Count “ünits” & <b>', body: 'Because.\n\n- one\n- `two`' };
      const { number, sha } = await place.propose({ 'a.txt': 'a' }, words);
      const told = await place.read(number);
      expect(told).toMatchObject({ number, ...words, headSha: sha, baseBranch: 'main' });
      expect(told).toMatchObject({ author: world().author, draft: false, state: 'open' });
      expect(told?.url).toMatch(new RegExp(`^https?://.*/${number}$`));
    });

    it('has the head that was pushed last', async () => {
      const place = await openPlace();
      const { number, branch, sha } = await place.propose({ 'a.txt': 'a' });
      const pushed = await place.push(branch, { 'a.txt': 'b' });
      expect(pushed).not.toBe(sha);
      const told = await eventually(
        () => place.read(number),
        (now) => now?.headSha === pushed,
      );
      expect(told?.headSha).toBe(pushed);
    });

    it('is closed and open again', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      for (const state of ['closed', 'open'] as const) {
        await place.changePullRequest(number, { state });
        expect(await place.read(number)).toMatchObject({ state });
      }
    });

    it('is moved to another base', async () => {
      const place = await openPlace();
      await place.push('release', { 'r.txt': 'r' });
      const { number } = await place.propose({ 'a.txt': 'a' });
      await place.changePullRequest(number, { base: 'release' });
      expect(await place.read(number)).toMatchObject({ baseBranch: 'release', state: 'open' });
    });

    it('is a draft for as long as it is one', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' }, { draft: true });
      expect(await place.read(number)).toMatchObject({ draft: true, state: 'open' });
      for (const draft of [false, true]) {
        await place.changePullRequest(number, { draft });
        expect(await place.read(number)).toMatchObject({ draft });
      }
    });

    it('is null where there is none', async () => {
      const place = await openPlace();
      expect(await place.read(await place.vacantNumber())).toBeNull();
    });

    it('can be merged, as soon as the host knows, until the branch has something else in its place', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      expect(await place.readSettled(number)).toMatchObject({ mergeability: 'mergeable' });
      await place.push('main', { 'a.txt': 'other' });
      const told = await eventually(
        () => place.readSettled(number),
        (now) => now?.mergeability === 'not_mergeable',
      );
      expect(told).toMatchObject({ mergeability: 'not_mergeable', state: 'open' });
    });

    it('cannot be merged where it conflicts from the start', async () => {
      const place = await openPlace();
      await place.push('change/late', { 'a.txt': 'late' });
      await place.push('main', { 'a.txt': 'early' });
      const number = await place.openPullRequest({ branch: 'change/late', title: 'Late' });
      expect(await place.readSettled(number)).toMatchObject({ mergeability: 'not_mergeable' });
    });

    it('can be fetched by its number with our credentials, which are not in the address', async () => {
      const place = await openPlace();
      const { number, sha } = await place.propose({ 'a.txt': 'a' });
      const mirror = await place.mirror();
      const fetched = await mirror.fetch({ branch: 'main', pulls: [{ number, sha }] });
      expect(fetched).toEqual({ tip: await place.tipOf('main'), missing: [], refs: new Map() });
      expect((await mirror.commit(sha)).sha).toBe(sha);
      const { url } = await place.host.remoteOf(place.repository);
      expect(world().secrets.some((secret) => url.includes(secret))).toBe(false);
    });
  });

  describe('a repository', () => {
    it('is found by its name', async () => {
      const { repository, host } = await openPlace();
      const { organizationId, host: hostName, owner, name } = repository;
      const found = await host.findRepository(organizationId, { host: hostName, owner, name });
      expect(found).toEqual({ host: hostName, owner, name });
    });

    it('is found as the host spells it, and told apart from one that is not there', async (context) => {
      needs(context, 'absentRepositories');
      const { repository, host } = await openPlace();
      const { organizationId, host: hostName, owner, name } = repository;
      const shouted = { host: hostName, owner: owner.toUpperCase(), name: name.toUpperCase() };
      expect(await host.findRepository(organizationId, shouted)).toEqual({ host: hostName, owner, name });
      const absent = { ...repository, name: `${name}-absent` };
      expect(await host.findRepository(organizationId, absent)).toBeNull();
      expect((await host.inspect(absent, 'main')).own).toBeNull();
    });

    it('is described for those who want to know whether a queue can work there', async (context) => {
      const place = await openPlace();
      const tip = (await place.tipOf('main'))!;
      await place.report(tip, { name: 'ci/lately', state: 'success' });
      const told = await place.host.inspect(place.repository, 'main');
      expect(told).toMatchObject({ branchExists: true, protection: null, testBranchRule: null });
      expect(told.version).not.toBe('');
      expect(['write', 'admin']).toContain(told.own);
      expect(told.mergeMethods).toEqual(expect.arrayContaining(['squash', 'merge_commit', 'rebase']));
      expect(told.recentChecks).toContain('ci/lately');
      expect((await place.host.inspect(place.repository, 'absent')).branchExists).toBe(false);
      needs(context, 'ownHooks');
      const hook = told.webhooks?.find(({ url }) => url === place.hookUrl);
      expect(hook).toMatchObject({ isActive: true });
      expect(hook?.events.toSorted()).toEqual([
        'branch-moved',
        'check-changed',
        'comment-written',
        'label-changed',
        'pull-request-changed',
      ]);
    });
  });
}

import { describe, expect, it } from 'vitest';
import type { RefUpdate } from '#host/host.ts';
import { mergeMethods } from '#core/queue/settings.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import { build, type Change, type Contract, eventually, type Workplace } from './contract.ts';

const testBranch = 'signalbox/main/4711';
const testRef = `refs/heads/${testBranch}`;

/** Pushes as the queue does: with our credentials, then the host is told. */
async function pushOurs({ host, repository }: Workplace, mirror: Mirror, update: RefUpdate) {
  const answer = await mirror.push([update]);
  if (answer.kind === 'pushed') await host.afterPush(repository, [update]);
  return answer;
}

/** A pull request whose candidate is on a test branch. */
async function underTest(place: Workplace) {
  const { number } = await place.propose({ 'a.txt': 'a' });
  const mirror = await place.mirror();
  const { sha } = await build(mirror, 'squash', (await place.read(number))!);
  const answer = await pushOurs(place, mirror, { ref: testRef, from: null, to: sha });
  return { number, mirror, sha, answer };
}

const testWish = { branch: testBranch, baseBranch: 'main', title: 'Test of #1', body: 'Do not merge.' };

const mergeOf = (
  { repository }: Workplace,
  { number, sha }: Change,
  method: (typeof mergeMethods)[number],
) => ({
  repository,
  number,
  targetBranch: 'main',
  method,
  headSha: sha,
  title: `A change (#${number})`,
  message: 'Because.',
});

const refused = { kind: 'refused', message: expect.stringMatching(/\S/) as unknown };

export function landingSection({ world, needs, openPlace }: Contract): void {
  describe('a test branch', () => {
    it('is pushed with our credentials, and CI has its say on it', async () => {
      const place = await openPlace();
      const { sha, mirror, answer } = await underTest(place);
      expect(answer).toEqual({ kind: 'pushed' });
      expect(await place.tipOf(testBranch)).toBe(sha);
      expect(await mirror.push([{ ref: testRef, from: null, to: sha }])).toEqual({ kind: 'pushed' });
      await place.report(sha, { name: 'ci/test', state: 'failure' });
      const checks = await place.host.readChecks(place.repository, sha);
      expect(checks).toMatchObject([{ name: 'ci/test', state: 'failure' }]);
    });

    it('is moved only from where it is', async () => {
      const place = await openPlace();
      const { sha, mirror } = await underTest(place);
      const from = '1'.repeat(40);
      const answer = await mirror.push([{ ref: testRef, from, to: (await place.tipOf('main'))! }]);
      expect(answer).toEqual({ kind: 'moved', refs: [testRef] });
      expect(await place.tipOf(testBranch)).toBe(sha);
    });

    it('is shown as one draft pull request, however often that is asked for', async () => {
      const place = await openPlace();
      const { number, sha } = await underTest(place);
      const opened = await place.host.openTestPullRequest(place.repository, testWish);
      expect(opened).not.toBe(number);
      expect(await place.showPullRequest(opened)).toMatchObject({ state: 'open', draft: true, headSha: sha });
      expect((await place.showPullRequest(opened)).title).toContain(testWish.title);
      expect(await place.host.openTestPullRequest(place.repository, testWish)).toBe(opened);
      expect((await place.listOpen()).toSorted((a, b) => a - b)).toEqual(
        [number, opened].toSorted((a, b) => a - b),
      );
      expect(await place.read(opened)).toMatchObject({ draft: true, baseBranch: 'main', headSha: sha });
    });

    it('takes its pull request with it when it is deleted, and what is tested stays open', async () => {
      const place = await openPlace();
      const { number, mirror, sha } = await underTest(place);
      const opened = await place.host.openTestPullRequest(place.repository, testWish);
      const answer = await pushOurs(place, mirror, { ref: testRef, from: sha, to: null });
      expect(answer).toEqual({ kind: 'pushed' });
      expect(await place.tipOf(testBranch)).toBeNull();
      const left = await eventually(place.listOpen, (open) => !open.includes(opened));
      expect(left).toEqual([number]);
      expect(await place.showPullRequest(opened)).toMatchObject({ state: 'closed' });
    });
  });

  describe('landing by a push', () => {
    it.each(mergeMethods)(
      'of what was built as %s shows the pull request as merged by it',
      async (method) => {
        const place = await openPlace();
        const { host, repository } = place;
        const { number } = await place.propose({ 'a.txt': 'a' }, { title: 'Land me' });
        await place.push('main', { 'm.txt': 'm' });
        const mirror = await place.mirror();
        const { base, sha } = await build(mirror, method, (await place.read(number))!);
        const answer = await pushOurs(place, mirror, { ref: 'refs/heads/main', from: base, to: sha });
        expect(answer).toEqual({ kind: 'pushed' });
        expect(await place.tipOf('main')).toBe(sha);
        await host.markMerged(repository, number, sha);
        // Once more, as after a crash.
        await host.markMerged(repository, number, sha);
        // A host that cannot show it must say so: the queue then lands by the host's merge call.
        if (!host.showsPushedAsMerged(method)) return;
        const told = await eventually(
          () => place.read(number),
          (now) => now?.state === 'merged',
        );
        expect(told).toMatchObject({ state: 'merged' });
        expect(await place.showPullRequest(number)).toMatchObject({ state: 'merged', mergeSha: sha });
      },
    );

    it('does not happen where the branch has moved', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      const mirror = await place.mirror();
      const { base, sha } = await build(mirror, 'squash', (await place.read(number))!);
      const tip = await place.push('main', { 'm.txt': 'm' });
      const answer = await mirror.push([{ ref: 'refs/heads/main', from: base, to: sha }]);
      expect(answer).toEqual({ kind: 'moved', refs: ['refs/heads/main'] });
      expect(await place.tipOf('main')).toBe(tip);
      expect(await place.read(number)).toMatchObject({ state: 'open' });
    });
  });

  describe('the merge call', () => {
    it.each([
      ['squash', 1],
      ['rebase', 2],
      ['merge_commit', 3],
    ] as const)('merges by %s on the branch as it is, once', async (method, commits) => {
      const place = await openPlace();
      const { number, branch } = await place.propose({ 'a.txt': 'a' });
      const sha = await place.push(branch, { 'b.txt': 'b' });
      const before = await place.push('main', { 'm.txt': 'm' });
      await eventually(
        () => place.readSettled(number),
        (now) => now?.headSha === sha,
      );
      const request = mergeOf(place, { number, sha, branch }, method);
      const answer = await place.host.merge(request);
      const tip = await place.tipOf('main');
      expect(answer).toEqual({ kind: 'merged', sha: tip });
      expect(await place.git('rev-list', '--count', `${before}..${tip}`)).toBe(String(commits));
      expect((await place.git('ls-tree', '--name-only', tip!)).split('\n')).toEqual(
        expect.arrayContaining(['a.txt', 'b.txt', 'm.txt']),
      );
      const subject = method === 'rebase' ? 'Change b.txt' : request.title;
      expect(await place.git('log', '-1', '--format=%s', tip!)).toBe(subject);
      expect(await place.read(number)).toMatchObject({ state: 'merged' });
      expect(await place.host.merge(request)).toEqual(answer);
      expect(await place.tipOf('main')).toBe(tip);
    });

    it('takes only the head that it was asked for', async () => {
      const place = await openPlace();
      const change = await place.propose({ 'a.txt': 'a' });
      const pushed = await place.push(change.branch, { 'a.txt': 'b' });
      await eventually(
        () => place.readSettled(change.number),
        (now) => now?.headSha === pushed,
      );
      const tip = await place.tipOf('main');
      expect(await place.host.merge(mergeOf(place, change, 'squash'))).toEqual({ kind: 'head-moved' });
      expect(await place.tipOf('main')).toBe(tip);
      expect(await place.read(change.number)).toMatchObject({ state: 'open' });
    });

    it.each([
      ['conflicts', (place: Workplace) => place.push('main', { 'a.txt': 'other' }), 'not_mergeable'],
      [
        'is a draft',
        (place: Workplace, number: number) => place.changePullRequest(number, { draft: true }),
        null,
      ],
      [
        'is closed',
        (place: Workplace, number: number) => place.changePullRequest(number, { state: 'closed' }),
        null,
      ],
    ] as const)('refuses one that %s, and says why', async (_why, change, mergeability) => {
      const place = await openPlace();
      const proposed = await place.propose({ 'a.txt': 'a' });
      await place.readSettled(proposed.number);
      await change(place, proposed.number);
      await eventually(
        () => place.readSettled(proposed.number),
        (now) => mergeability === null || now?.mergeability === mergeability,
      );
      const tip = await place.tipOf('main');
      // A host that does not tell conflicts from "not yet" is asked until patience ends.
      const answer = await world().impatient.merge(mergeOf(place, proposed, 'squash'));
      expect(answer).toMatchObject(refused);
      expect(world().secrets.some((secret) => JSON.stringify(answer).includes(secret))).toBe(false);
      expect(await place.tipOf('main')).toBe(tip);
    });

    it('refuses one that is not there', async () => {
      const place = await openPlace();
      const absent = { number: await place.vacantNumber(), sha: (await place.tipOf('main'))!, branch: '' };
      expect(await place.host.merge(mergeOf(place, absent, 'squash'))).toMatchObject(refused);
    });

    it('refuses one that is behind where the branch asks for more', async (context) => {
      needs(context, 'upToDateRule');
      const place = await openPlace();
      const { host, repository } = place;
      const change = await place.propose({ 'a.txt': 'a' });
      await place.push('main', { 'm.txt': 'm' });
      await place.protect('main', { requiredChecks: ['ci/test'], mustBeUpToDate: true });
      await place.report(change.sha, { name: 'ci/test', state: 'success' });
      await place.readSettled(change.number);
      expect((await host.inspect(repository, 'main')).protection).toMatchObject({ needsUpToDate: true });
      expect(await host.merge(mergeOf(place, change, 'squash'))).toMatchObject(refused);
      expect(await place.read(change.number)).toMatchObject({ state: 'open' });
    });
  });
}

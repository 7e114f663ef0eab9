import { describe, expect, it } from 'vitest';
import { findApprover } from '#job/queue/head-review.ts';
import { type Contract, eventually, type Workplace } from './contract.ts';

/** Who approved the head as the host shows it now, as the queue asks it. */
async function approverOf({ host, repository, read }: Workplace, number: number): Promise<string | null> {
  return findApprover(host, repository, (await read(number))!);
}

export function approvalSection({ needs, openPlace }: Contract): void {
  describe('approvals', () => {
    it('name the reviewer and the commit; a comment approves nothing', async () => {
      const place = await openPlace();
      await place.grant('grace', 'write');
      const { number, sha } = await place.propose({ 'a.txt': 'a' });
      await place.review(number, 'grace', 'commented');
      expect(await place.host.readApprovals(place.repository, number)).toEqual([]);
      await place.review(number, 'grace', 'approved');
      expect(await place.host.readApprovals(place.repository, number)).toEqual([
        { reviewer: 'grace', commit: sha },
      ]);
      expect(await approverOf(place, number)).toBe('grace');
    });

    it('of an old head do not count for the new one', async () => {
      const place = await openPlace();
      await place.grant('grace', 'write');
      const { number, branch } = await place.propose({ 'a.txt': 'a' });
      await place.review(number, 'grace', 'approved');
      const pushed = await place.push(branch, { 'a.txt': 'b' });
      await eventually(
        () => place.read(number),
        (now) => now?.headSha === pushed,
      );
      const commits = (await place.host.readApprovals(place.repository, number)).map(({ commit }) => commit);
      expect(commits).not.toContain(pushed);
      expect(await approverOf(place, number)).toBeNull();
      await place.review(number, 'grace', 'approved');
      expect(await place.host.readApprovals(place.repository, number)).toEqual([
        { reviewer: 'grace', commit: pushed },
      ]);
      expect(await approverOf(place, number)).toBe('grace');
    });

    it.each(['dismissed', 'changes_requested'] as const)(
      'that are followed by %s do not count',
      async (then) => {
        const place = await openPlace();
        await place.grant('grace', 'write');
        const { number } = await place.propose({ 'a.txt': 'a' });
        await place.review(number, 'grace', 'approved');
        await place.review(number, 'grace', then);
        expect(await place.host.readApprovals(place.repository, number)).toEqual([]);
        expect(await approverOf(place, number)).toBeNull();
      },
    );

    it('by a person without write access do not count, until that person has it', async () => {
      const place = await openPlace();
      await place.grant('mallory', 'read');
      const { number, sha } = await place.propose({ 'a.txt': 'a' });
      await place.review(number, 'mallory', 'approved');
      // Whose review it is, and not whether it counts, is what the list of the host says.
      expect(await place.host.readApprovals(place.repository, number)).toEqual([
        { reviewer: 'mallory', commit: sha },
      ]);
      expect(await approverOf(place, number)).toBeNull();
      await place.grant('mallory', 'write');
      expect(await approverOf(place, number)).toBe('mallory');
    });
  });

  describe('the head repository of a pull request', () => {
    it('is the repository itself for a branch of it', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      expect(await place.read(number)).toMatchObject({ fork: null });
    });

    it('is named where it is a fork', async () => {
      const place = await openPlace();
      await place.grant('mallory', 'read');
      const { number, fork } = await place.openFromFork('mallory');
      expect(await place.read(number)).toMatchObject({ fork, author: 'mallory', state: 'open' });
      expect(fork).toMatch(/^mallory\//);
    });

    it('is unknown where the fork was deleted, and never the repository itself', async (context) => {
      needs(context, 'deletedForks');
      const place = await openPlace();
      await place.grant('mallory', 'read');
      const { number, deleteFork } = await place.openFromFork('mallory');
      await deleteFork();
      expect(await place.read(number)).toMatchObject({ fork: 'unknown' });
    });
  });
}

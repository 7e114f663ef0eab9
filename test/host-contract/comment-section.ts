import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { permissions } from '#host/host.ts';
import { type Contract, eventually, type Workplace } from './contract.ts';

const mark = 'signalbox:status:1';

const write = (place: Workplace, number: number, comment: object) =>
  place.host.writeComment(place.repository, number, {
    id: null,
    mayExist: false,
    mark,
    body: 'In line.',
    ...comment,
  });

const textsOf = async (place: Workplace, number: number) =>
  (await place.listComments(number)).map(({ text }) => text);

export function wordSection({ world, needs, openPlace }: Contract): void {
  describe('our comment', () => {
    it('is written once and then edited in place', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      const body = '**In line**: 2 ahead.\n\n- “ä” `code`';
      const id = await write(place, number, { body });
      const [written, ...others] = await place.listComments(number);
      expect(others).toEqual([]);
      expect(written).toMatchObject({ id, text: expect.stringContaining(body) as unknown });
      expect(written?.author).not.toBe(world().author);
      expect(await write(place, number, { id, body: 'Merged.' })).toBe(id);
      const texts = await textsOf(place, number);
      expect(texts).toEqual([expect.stringContaining('Merged.')]);
      expect(texts[0]).not.toContain('Queued');
      // Once more with the same words.
      expect(await write(place, number, { id, body: 'Merged.' })).toBe(id);
    });

    it('is found by its mark where the answer was lost, also after it was edited', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      const id = await write(place, number, {});
      await write(place, number, { id, body: 'Testing.' });
      await place.comment(world().author, number, 'Nice.');
      expect(await write(place, number, { mayExist: true, body: 'Merged.' })).toBe(id);
      expect(await textsOf(place, number)).toEqual([expect.stringContaining('Merged.'), 'Nice.']);
    });

    it('is not mistaken for another of ours, nor for that of a person who quotes it', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      const other = await write(place, number, { mark: `${mark}0`, body: 'Other.' });
      const [quoted = ''] = await textsOf(place, number);
      await place.comment(world().author, number, quoted.replace(`${mark}0`, mark));
      const id = await write(place, number, { mayExist: true });
      expect(id).not.toBe(other);
      expect(await place.listComments(number)).toHaveLength(3);
      expect((await place.listComments(number)).at(-1)).toMatchObject({ id });
    });

    it('is written anew where somebody deleted it', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      const id = await write(place, number, {});
      await place.deleteComment(number, id);
      expect(await textsOf(place, number)).toEqual([]);
      const anew = await write(place, number, { id, body: 'Merged.' });
      expect(anew).not.toBe(id);
      expect(await textsOf(place, number)).toEqual([expect.stringContaining('Merged.')]);
    });
  });

  describe('labels', () => {
    it('are put on and taken off, those of others stay, and what is so already is no error', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      await place.label(number, 'theirs', true);
      const labels = async () => (await place.showPullRequest(number)).labels.toSorted();
      const change = (add: readonly string[], remove: readonly string[]) =>
        place.host.changeLabels(place.repository, number, { add, remove });
      await change(['signalbox: in line', 'ünknown'], []);
      expect(await labels()).toEqual(['signalbox: in line', 'theirs', 'ünknown']);
      await change(['signalbox: testing', 'ünknown'], ['signalbox: in line', 'never there']);
      expect(await labels()).toEqual(['signalbox: testing', 'theirs', 'ünknown']);
      await change([], ['signalbox: testing', 'signalbox: in line']);
      expect(await labels()).toEqual(['theirs', 'ünknown']);
      await change([], []);
      expect(await labels()).toEqual(['theirs', 'ünknown']);
    });
  });

  describe('who changed a label', () => {
    const label = 'submit';

    it('is the account that did it last, with the instant', async () => {
      const place = await openPlace();
      await place.grant('grace', 'write');
      const { number } = await place.propose({ 'a.txt': 'a' });
      const read = () => place.host.readLabel(place.repository, number, label);
      expect(await read()).toEqual({ isOn: false, lastChange: null });
      await place.label(number, 'another', true);
      for (const [isOn, by] of [
        [true, world().author],
        [false, 'grace'],
        [true, 'grace'],
      ] as const) {
        await place.label(number, label, isOn, by);
        const state = await read();
        expect(state).toEqual({ isOn, lastChange: { isOn, by, at: expect.any(Date) as unknown } });
        expect(Math.abs(state.lastChange!.at.getTime() - Date.now())).toBeLessThan(30_000);
      }
    });

    it('is nobody where Signalbox did it', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      await place.label(number, label, true);
      await place.host.changeLabels(place.repository, number, { add: [], remove: [label] });
      expect(await place.host.readLabel(place.repository, number, label)).toEqual({
        isOn: false,
        lastChange: null,
      });
    });
  });

  describe('the head of a pull request', () => {
    it('came before everything that was done on it afterwards, and a push makes it newer', async () => {
      const place = await openPlace();
      const { number, branch, sha } = await place.propose({ 'a.txt': 'a' });
      const since = (head: string) => place.host.headSince(place.repository, number, head);
      await sleep(1_100);
      const before = new Date();
      expect((await since(sha))?.getTime()).toBeLessThan(before.getTime());
      await sleep(2_100);
      const pushed = await place.push(branch, { 'a.txt': 'b' });
      const [later] = await eventually(
        async () => [await since(pushed)],
        ([at]) => at !== null && at !== undefined && at > before,
      );
      expect(later!.getTime()).toBeGreaterThan(before.getTime());
      expect(later!.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    });
  });

  describe('a person', () => {
    it.each(permissions)('with the permission %s has that', async (permission) => {
      const place = await openPlace();
      await place.grant('grace', permission);
      expect(await place.host.permissionOf(place.repository, 'grace')).toBe(permission);
    });

    it('has what was given last, and may write if they are the author', async () => {
      const place = await openPlace();
      for (const permission of ['admin', 'read', 'none'] as const) {
        await place.grant('grace', permission);
        expect(await place.host.permissionOf(place.repository, 'grace')).toBe(permission);
      }
      expect(['write', 'admin']).toContain(await place.host.permissionOf(place.repository, world().author));
    });

    it('whom the host does not know may do nothing', async (context) => {
      needs(context, 'absentPeople');
      const { host, repository } = await openPlace();
      expect(await host.permissionOf(repository, 'nobody-has-this-name')).toBe('none');
    });
  });

  describe('what webhooks missed', () => {
    // Some hosts count in seconds.
    const pause = () => sleep(1_100);

    it('is read again: comments since an instant, and nothing from before', async () => {
      const place = await openPlace();
      await place.grant('grace', 'write');
      const { number } = await place.propose({ 'a.txt': 'a' });
      await place.comment(world().author, number, 'From before.');
      await pause();
      const since = new Date();
      await pause();
      const id = await place.comment('grace', number, '/merge\n\n“now”');
      const { host, owner, name } = place.repository;
      const found = await place.host.readCommentsAndLabels(place.repository, since, 'submit');
      expect(found).toEqual([
        {
          kind: 'comment-written',
          repository: { host, owner, name },
          number,
          commentId: id,
          author: 'grace',
          text: '/merge\n\n“now”',
          writtenAt: expect.any(Number) as unknown,
        },
      ]);
      expect(Math.abs((found[0] as { writtenAt: number }).writtenAt - Date.now())).toBeLessThan(30_000);
      await pause();
      expect(await place.host.readCommentsAndLabels(place.repository, new Date(), 'submit')).toEqual([]);
    });

    it('leaves out a comment that was edited: its text need not be its author’s', async () => {
      const place = await openPlace();
      await place.grant('grace', 'admin');
      const { number } = await place.propose({ 'a.txt': 'a' });
      const since = new Date(Date.now() - 5_000);
      const id = await place.comment('grace', number, 'Looks good to me.');
      await pause();
      await place.editComment(number, id, '/merge --force');
      expect(await textsOf(place, number)).toEqual(['/merge --force']);
      expect(await place.host.readCommentsAndLabels(place.repository, since, 'submit')).toEqual([]);
    });

    it('is read again: open pull requests that have the label now', async () => {
      const place = await openPlace();
      const [labelled, closed, other] = [
        await place.propose({ 'a.txt': 'a' }),
        await place.propose({ 'b.txt': 'b' }),
        await place.propose({ 'c.txt': 'c' }),
      ];
      for (const { number } of [labelled, closed]) await place.label(number, 'submit', true);
      await place.label(other.number, 'another', true);
      await place.changePullRequest(closed.number, { state: 'closed' });
      await pause();
      const words = () => place.host.readCommentsAndLabels(place.repository, new Date(), 'submit');
      const { host, owner, name } = place.repository;
      expect(await words()).toEqual([
        {
          kind: 'label-changed',
          repository: { host, owner, name },
          number: labelled.number,
          label: 'submit',
          labels: ['submit'],
        },
      ]);
      await place.label(labelled.number, 'submit', false);
      expect(await words()).toEqual([]);
    });
  });
}

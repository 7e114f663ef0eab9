import { describe, expect, it } from 'vitest';
import type { OwnIssue } from '#host/own-issue.ts';
import type { Contract, Workplace } from './contract.ts';

const mark = 'signalbox:incident:1';

async function write(place: Workplace, issue: Partial<OwnIssue> = {}): Promise<number> {
  const whole = { number: null, maybeSince: null, mark, title: 'Flaky: waits', body: 'Body.', isOpen: true };
  const answer = await place.host.writeIssue(place.repository, { ...whole, ...issue });
  if (answer.kind !== 'written') throw new Error(answer.reason);
  expect(answer.url).toContain(String(answer.number));
  return answer.number;
}

export function issueSection({ world, openPlace }: Contract): void {
  describe('our issue', () => {
    it('is opened once, then edited, closed and reopened in place', async () => {
      const place = await openPlace();
      const number = await write(place, { body: '- `waits` “ä”' });
      const [opened, ...others] = await place.listIssues();
      expect(others).toEqual([]);
      expect(opened).toMatchObject({
        number,
        title: 'Flaky: waits',
        text: expect.stringContaining('- `waits` “ä”') as string,
        isOpen: true,
      });
      expect(opened?.author).not.toBe(world().author);
      const states: boolean[] = [];
      for (const isOpen of [true, false, false, true]) {
        expect(
          await write(place, { number, title: 'Flaky: waits and 1 other test', body: 'More.', isOpen }),
        ).toBe(number);
        states.push((await place.listIssues())[0]!.isOpen);
      }
      expect(states).toEqual([true, false, false, true]);
      expect(await place.listIssues()).toMatchObject([
        { number, title: 'Flaky: waits and 1 other test', text: expect.stringContaining('More.') as string },
      ]);
    });

    it('is found by its mark where the answer was lost, also if it was closed', async () => {
      const place = await openPlace();
      const maybeSince = new Date();
      const number = await write(place);
      expect(await write(place, { maybeSince, isOpen: false })).toBe(number);
      expect(await write(place, { maybeSince })).toBe(number);
      expect(await place.listIssues()).toHaveLength(1);
    });

    it('is not mistaken for another of ours, nor for that of a person who quotes it', async () => {
      const place = await openPlace();
      const maybeSince = new Date();
      const other = await write(place, { mark: `${mark}0` });
      const [quoted] = await place.listIssues();
      const theirs = await place.openIssue(world().author, 'Mine', quoted!.text.replace(`${mark}0`, mark));
      const number = await write(place, { maybeSince });
      expect([other, theirs]).not.toContain(number);
      expect(await place.listIssues()).toHaveLength(3);
    });

    it('is not opened to be closed', async () => {
      const place = await openPlace();
      const issue = { number: null, maybeSince: new Date(), mark, title: 'T', body: 'B', isOpen: false };
      expect(await place.host.writeIssue(place.repository, issue)).toMatchObject({ kind: 'cannot' });
      expect(await place.listIssues()).toEqual([]);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { type Placed, priorityCost } from './priority-cost.ts';

const entry = (prNumber: number, state: string, priorityValue = 100): Placed => ({
  prNumber,
  state,
  priorityValue,
});

const line = [entry(1, 'testing'), entry(2, 'tests_passed'), entry(3, 'pending'), entry(4, 'pending')];

describe('what a priority costs', () => {
  it('names those under test that urgent goes ahead of', () => {
    expect(priorityCost({ line, number: 4, value: 0 })).toEqual([
      'It goes ahead of everything and is tested alone.',
      'Up to 2 pull requests under test may have to begin anew behind it: #1, #2.',
    ]);
  });

  it('is nothing for what is under test before everybody', () => {
    expect(priorityCost({ line, number: 1, value: 0 }).at(-1)).toContain('nobody begins anew');
  });

  it('names those that wait and are overtaken', () => {
    const [first, last] = priorityCost({ line, number: 4, value: 10 });
    expect(first).toContain('ahead of 1 waiting pull request: #3.');
    expect(last).toBe('Nothing that is under test begins anew.');
  });

  it('names those that may go ahead when it is lowered', () => {
    expect(priorityCost({ line, number: 3, value: 200 })).toContain(
      '1 waiting pull request may go ahead of it: #4.',
    );
  });

  it('says when nothing changes', () => {
    expect(priorityCost({ line, number: 3, value: 100 })).toEqual([
      'It has this priority already: nothing changes.',
    ]);
    expect(priorityCost({ line, number: 9, value: 0 })).toEqual(['It is not in the queue any more.']);
    expect(priorityCost({ line, number: 1, value: 10 })[0]).toContain('stays there');
  });

  it('names five and counts the rest', () => {
    const many = Array.from({ length: 8 }, (_, index) => entry(index + 1, 'testing'));
    const [, sentence] = priorityCost({ line: [...many, entry(9, 'pending')], number: 9, value: 0 });
    expect(sentence).toContain('#5 and 3 more.');
  });
});

import { describe, expect, it } from 'vitest';
import { type PrioritizedEntry, describePriorityEffect } from './priority-effect.ts';

const entry = (prNumber: number, state: string, priorityValue = 100): PrioritizedEntry => ({
  prNumber,
  state,
  priorityValue,
});

const entries = [entry(1, 'testing'), entry(2, 'tests_passed'), entry(3, 'pending'), entry(4, 'pending')];

describe('the effect of a new priority', () => {
  it('urgent names the pull requests whose runs may restart', () => {
    expect(describePriorityEffect({ entries, number: 4, value: 0 })).toEqual([
      'The pull request moves to the front of the queue and is tested alone.',
      'The runs of up to 2 pull requests may restart behind it: #1, #2.',
    ]);
  });

  it('urgent restarts no run if the pull request is first already', () => {
    expect(describePriorityEffect({ entries, number: 1, value: 0 }).at(-1)).toContain('No run restarts');
  });

  it('a higher priority names the waiting pull requests that are overtaken', () => {
    const [first, last] = describePriorityEffect({ entries, number: 4, value: 10 });
    expect(first).toContain('overtakes 1 waiting pull request: #3.');
    expect(last).toBe('No run restarts.');
  });

  it('a lower priority names the waiting pull requests that may overtake it', () => {
    expect(describePriorityEffect({ entries, number: 3, value: 200 })).toContain(
      '1 waiting pull request may overtake it: #4.',
    );
  });

  it('a priority without an effect is explained', () => {
    expect(describePriorityEffect({ entries, number: 3, value: 100 })).toEqual([
      'The pull request already has this priority.',
    ]);
    expect(describePriorityEffect({ entries, number: 9, value: 0 })).toEqual([
      'The pull request is no longer in the queue.',
    ]);
    expect(describePriorityEffect({ entries, number: 1, value: 10 })[0]).toContain('keeps its position');
  });

  it('at most five pull requests are named, the others are counted', () => {
    const many = Array.from({ length: 8 }, (_, index) => entry(index + 1, 'testing'));
    const [, sentence] = describePriorityEffect({
      entries: [...many, entry(9, 'pending')],
      number: 9,
      value: 0,
    });
    expect(sentence).toContain('#5 and 3 more.');
  });
});

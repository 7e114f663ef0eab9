import { expect, it } from 'vitest';
import { isCulpritCommentWorth, worthWriting } from './comment-budget.ts';

it('writes everything while the budget is hardly used', () => {
  for (const moment of ['begin', 'between', 'end'] as const)
    expect(worthWriting(0.05, moment, false)).toEqual({ comment: true, check: true });
});

it('leaves out what lies between first, then the beginning, then a check that was never begun', () => {
  expect(worthWriting(0.12, 'between', true)).toEqual({ comment: false, check: false });
  expect(worthWriting(0.12, 'begin', false)).toEqual({ comment: true, check: true });
  expect(worthWriting(0.2, 'begin', false)).toEqual({ comment: false, check: false });
  expect(worthWriting(0.2, 'end', false)).toEqual({ comment: true, check: true });
  expect(worthWriting(0.9, 'end', false)).toEqual({ comment: true, check: false });
});

it('ends a check that is shown as under way, however much is used', () => {
  expect(worthWriting(0.9, 'end', true)).toEqual({ comment: true, check: true });
});

it('writes who broke a test while hardly more than the beginnings of attempts are written', () => {
  expect([0, 0.14, 0.15, 0.9].map(isCulpritCommentWorth)).toEqual([true, true, false, false]);
});

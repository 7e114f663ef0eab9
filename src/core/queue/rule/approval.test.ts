import { describe, expect, it } from 'vitest';
import { type Review, currentApprovals } from './approval.ts';

const review = (reviewer: string, decision: Review['decision'], commit = 'a1'): Review => ({
  reviewer,
  commit,
  decision,
});

describe('approvals that stand', () => {
  it('are those of every reviewer, each of the commit that was reviewed', () => {
    expect(currentApprovals([review('ada', 'approved', 'a1'), review('grace', 'approved', 'b2')])).toEqual([
      { reviewer: 'ada', commit: 'a1' },
      { reviewer: 'grace', commit: 'b2' },
    ]);
  });

  it('do not include one that its reviewer followed with a request for changes', () => {
    expect(currentApprovals([review('ada', 'approved'), review('Ada', 'changes_requested')])).toEqual([]);
    expect(currentApprovals([review('ada', 'changes_requested'), review('ada', 'approved')])).toHaveLength(1);
  });

  it('do not include one that was dismissed', () => {
    expect(currentApprovals([review('ada', 'approved', 'a1'), review('ada', 'dismissed', 'b2')])).toEqual([]);
  });

  it('are of the commit that was approved last by the same person', () => {
    expect(currentApprovals([review('ada', 'approved', 'a1'), review('ada', 'approved', 'b2')])).toEqual([
      { reviewer: 'ada', commit: 'b2' },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { aQueue, anEntry } from '../../../../test/fixture/entry.ts';
import { mergeabilities } from '../model.ts';
import { isReady, assessReadiness } from './readiness.ts';

const both = [false, true];

describe('readiness', () => {
  it.each(
    both.flatMap((requires) =>
      both.flatMap((base) =>
        both.flatMap((has) =>
          both.flatMap((mergeable) => both.map((open) => [requires, base, has, mergeable, open] as const)),
        ),
      ),
    ),
  )(
    'with targets required %s, base matching %s, targets known %s, mergeable %s and its head open %s is as the rule says',
    (requiresImpactedTargets, doesBaseBranchMatch, hasImpactedTargets, isMergeable, isOpen) => {
      const missing = [
        !doesBaseBranchMatch,
        !isMergeable,
        !isOpen,
        requiresImpactedTargets && !hasImpactedTargets,
      ].filter(Boolean);
      const headGate = isOpen
        ? { kind: 'open' as const }
        : { kind: 'refused' as const, fork: 'mallory/widgets' };
      const facts = { requiresImpactedTargets, doesBaseBranchMatch, hasImpactedTargets, isMergeable };
      const readiness = { ...facts, headGate };
      expect(isReady(readiness)).toBe(missing.length === 0);
    },
  );

  it('requires impacted targets in parallel mode only', () => {
    const inMode = (mode: 'single' | 'parallel') =>
      assessReadiness(aQueue({ settings: { mode } }), anEntry(), false);
    expect(inMode('single')).toMatchObject({ requiresImpactedTargets: false, hasImpactedTargets: false });
    expect(inMode('parallel')).toMatchObject({ requiresImpactedTargets: true, hasImpactedTargets: false });
    expect(assessReadiness(aQueue(), anEntry(), true)).toMatchObject({ hasImpactedTargets: true });
  });

  it('compares base branches exactly: git distinguishes upper case from lower', () => {
    const matchOf = (baseBranch: string) =>
      assessReadiness(aQueue(), anEntry({ pullRequest: { baseBranch } }), true).doesBaseBranchMatch;
    expect(['main', 'Main', 'main ', 'other'].filter(matchOf)).toEqual(['main']);
  });

  it('accepts only the host’s answer "mergeable"', () => {
    const mergeable = mergeabilities.filter(
      (mergeability) =>
        assessReadiness(aQueue(), anEntry({ pullRequest: { mergeability } }), true).isMergeable,
    );
    expect(mergeable).toEqual(['mergeable']);
  });

  it('does not call a draft mergeable', () => {
    const entry = anEntry({ pullRequest: { draft: true, mergeability: 'mergeable' } });
    expect(assessReadiness(aQueue(), entry, true).isMergeable).toBe(false);
  });

  it('lets force skip mergeability and nothing else', () => {
    const entry = anEntry({
      forced: true,
      pullRequest: {
        mergeability: 'not_mergeable',
        draft: true,
        baseBranch: 'other',
        fork: 'mallory/widgets',
      },
      stage: 'not_ready',
    });
    const readiness = assessReadiness(aQueue({ settings: { mode: 'parallel' } }), entry, false);
    expect(readiness).toEqual({
      requiresImpactedTargets: true,
      doesBaseBranchMatch: false,
      hasImpactedTargets: false,
      isMergeable: true,
      headGate: { kind: 'unexamined' },
    });
    expect(isReady(readiness)).toBe(false);
  });
});

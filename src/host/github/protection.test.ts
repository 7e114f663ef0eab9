import { describe, expect, it } from 'vitest';
import { requiredChecksOf } from './protection.ts';

const rule = (...contexts: readonly string[]) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: contexts.map((context) => ({ context })) },
});

describe('the checks that a branch requires', () => {
  it('are those of classic protection and of all rulesets, each once', () => {
    const rules = [rule('ci/lint', 'ci/test'), { type: 'deletion' }, rule('ci/e2e')];
    expect(requiredChecksOf('main', ['ci/test', 'ci/docs'], rules)).toEqual([
      'ci/docs',
      'ci/e2e',
      'ci/lint',
      'ci/test',
    ]);
  });

  it('do not have our own among them: it would wait for itself', () => {
    const rules = [rule('Signalbox (main)', 'ci/test')];
    expect(requiredChecksOf('main', ['Signalbox (main)'], rules)).toEqual(['ci/test']);
    expect(requiredChecksOf('release', [], rules)).toContain('Signalbox (main)');
  });

  it('are unknown where the branch is only kept from being deleted, so that nothing lands untested', () => {
    expect(requiredChecksOf('main', [], [{ type: 'deletion' }, { type: 'non_fast_forward' }])).toBeNull();
    expect(requiredChecksOf('main', ['Signalbox (main)'], [])).toBeNull();
    expect(requiredChecksOf('main', [], [])).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { classicChecks, collectRequiredChecks as requiredChecks } from './protection.ts';
import type { Rule } from '../schema.ts';

const rule = (...contexts: readonly string[]) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: contexts.map((context) => ({ context })) },
});

const classic = (...contexts: readonly string[]) => classicChecks({ contexts: [...contexts] });
/** By name; a bound one with its source. */
const requiredChecksOf = (branch: string, contexts: readonly string[], rules: readonly Rule[]) =>
  requiredChecks(branch, classic(...contexts), rules)?.map(({ name }) => name) ?? null;

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

  it('name the app that classic protection binds, unless it lets any app report them', () => {
    const checks = [
      { context: 'ci/bound', app_id: 15_368 },
      { context: 'ci/any', app_id: -1 },
      { context: 'ci/old', app_id: null },
    ];
    const contexts = checks.map(({ context }) => context);
    expect(requiredChecks('main', classicChecks({ contexts, checks }), [])).toEqual([
      { name: 'ci/any', source: null },
      { name: 'ci/bound', source: 'app:15368' },
      { name: 'ci/old', source: null },
    ]);
  });

  it('name the integration that a ruleset binds; two sources of one name are both required', () => {
    const bound = (integration_id: number | null) => ({
      type: 'required_status_checks',
      parameters: { required_status_checks: [{ context: 'ci/test', integration_id }] },
    });
    expect(requiredChecks('main', classic('ci/test'), [bound(null)])).toEqual([
      { name: 'ci/test', source: null },
    ]);
    expect(requiredChecks('main', classic('ci/test'), [bound(2), bound(1), bound(2)])).toEqual([
      { name: 'ci/test', source: 'app:1' },
      { name: 'ci/test', source: 'app:2' },
    ]);
  });
});

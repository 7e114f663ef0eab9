import { describe, expect, it } from 'vitest';
import { uncheckedRules } from '../../rule.ts';
import { activeRules } from './rule-type.ts';

const rule = {
  rule_name: 'main',
  branch_name: 'main',
  priority: 1,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  enable_push: true,
  required_approvals: 2,
  require_signed_commits: true,
  protected_file_patterns: '*.lock',
  block_on_outdated_branch: true,
  block_on_rejected_reviews: false,
  push_whitelist_usernames: [],
};

describe('a branch protection of Gitea', () => {
  it('is listed field by field, as far as it is enabled', () => {
    expect(activeRules(rule, 'push').map(({ name, handling }) => [name, handling])).toEqual([
      ['enable_push', 'harmless'],
      ['required_approvals', 're-implemented'],
      ['require_signed_commits', 'harmless'],
      ['protected_file_patterns', 'harmless'],
      ['block_on_outdated_branch', 're-implemented'],
    ]);
    expect(uncheckedRules(activeRules(rule, 'push'))).toEqual([]);
  });

  it('keeps a push back for a field that Signalbox cannot check or does not know', () => {
    const later = { ...rule, block_on_moon_phase: true, block_on_codeowner_reviews: true };
    expect(uncheckedRules(activeRules(later, 'push')).map(({ name }) => name)).toEqual([
      'block_on_moon_phase',
      'block_on_codeowner_reviews',
    ]);
    expect(uncheckedRules(activeRules(later, 'merge'))).toEqual([]);
  });
});

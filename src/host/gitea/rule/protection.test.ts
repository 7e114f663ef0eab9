import { describe, expect, it } from 'vitest';
import { listCoveredEventKinds } from './hook.ts';
import { firstMatch } from './inspect.ts';
import { areReviewsEnough, expanded, deriveReviewDemands } from './protection.ts';
import { ProtectionRule } from '../schema.ts';

describe('required contexts', () => {
  const reported = ['ci / test (push)', 'ci / lint (push)', 'docs', 'build [x]'];

  it('are taken as they are', () => {
    expect(expanded(['docs', 'never seen'], reported)).toEqual(['docs', 'never seen']);
  });

  it('that are patterns stand for what reported, each once', () => {
    expect(expanded(['ci / *', 'ci / test (push)'], reported)).toEqual([
      'ci / test (push)',
      'ci / lint (push)',
    ]);
    expect(expanded(['*'], reported)).toEqual(reported);
    expect(expanded(['build [x]'], reported)).toEqual(['build [x]']);
  });

  it('that match nothing stay, so that nothing passes without them', () => {
    expect(expanded(['e2e / *'], reported)).toEqual(['e2e / *']);
    expect(expanded(['*'], [])).toEqual(['*']);
  });
});

describe('the rule that counts for a branch', () => {
  const rule = (rule_name: string) => ProtectionRule.parse({ rule_name });

  it('is the first that matches', () => {
    const rules = [rule('release/*'), rule('Main'), rule('m*')];
    expect(firstMatch(rules, 'main')?.rule_name).toBe('Main');
    expect(firstMatch(rules, 'master')?.rule_name).toBe('m*');
    expect(firstMatch(rules, 'release/1')?.rule_name).toBe('release/*');
    expect(firstMatch(rules, 'signalbox/main/pr-1/x')).toBeNull();
  });
});

describe('the events that a webhook sends', () => {
  const all = ['push', 'status', 'pull_request', 'pull_request_sync', 'pull_request_label'];

  it('follows from its events', () => {
    expect(
      listCoveredEventKinds({ events: [...all, 'pull_request_comment'], branch_filter: '' }, 'main'),
    ).toHaveLength(5);
    expect(listCoveredEventKinds({ events: ['pull_request'], branch_filter: '' }, 'main')).toEqual([]);
    expect(listCoveredEventKinds({ events: ['status', 'issue_comment'], branch_filter: '' }, 'main')).toEqual(
      ['check-changed'],
    );
  });

  it('leaves out a branch that its filter leaves out', () => {
    expect(listCoveredEventKinds({ events: all, branch_filter: 'release/*' }, 'main')).not.toContain(
      'branch-moved',
    );
    expect(listCoveredEventKinds({ events: all, branch_filter: '{main,release/*}' }, 'main')).toContain(
      'branch-moved',
    );
    expect(listCoveredEventKinds({ events: all, branch_filter: '*' }, 'main')).toContain('branch-moved');
  });
});

describe('reviews', () => {
  const rule = (overrides: object) => ProtectionRule.parse({ rule_name: 'main', ...overrides });
  const review = (state: string, overrides: object = {}) => ({
    state,
    official: true,
    stale: false,
    dismissed: false,
    ...overrides,
  });
  const none = { required_approvals: 0 };
  const one = { required_approvals: 1 };

  it('are not asked for where no rule does', () => {
    expect(deriveReviewDemands(none, null)).toBeNull();
    expect(deriveReviewDemands(none, rule({ ignore_stale_approvals: true }))).toBeNull();
  });

  it('are enough when as many approve as are asked for, of those who count', () => {
    const demands = deriveReviewDemands(one, rule({}))!;
    expect(areReviewsEnough(demands, [])).toBe(false);
    expect(areReviewsEnough(demands, [review('APPROVED')])).toBe(true);
    expect(areReviewsEnough(demands, [review('APPROVED', { official: false })])).toBe(false);
    expect(areReviewsEnough(demands, [review('APPROVED', { dismissed: true })])).toBe(false);
    expect(areReviewsEnough(demands, [review('APPROVED', { stale: true })])).toBe(true);
    const fresh = deriveReviewDemands(one, rule({ ignore_stale_approvals: true }))!;
    expect(areReviewsEnough(fresh, [review('APPROVED', { stale: true })])).toBe(false);
    // A rejection does not count here unless the rule says so.
    expect(areReviewsEnough(demands, [review('APPROVED'), review('REQUEST_CHANGES')])).toBe(true);
  });

  it('may not be against it, or still be asked for, where the rule says so', () => {
    const strict = deriveReviewDemands(none, rule({ block_on_rejected_reviews: true }))!;
    expect(areReviewsEnough(strict, [])).toBe(true);
    expect(areReviewsEnough(strict, [review('REQUEST_CHANGES')])).toBe(false);
    expect(areReviewsEnough(strict, [review('REQUEST_CHANGES', { dismissed: true })])).toBe(true);
    const patient = deriveReviewDemands(none, rule({ block_on_official_review_requests: true }))!;
    expect(areReviewsEnough(patient, [review('REQUEST_REVIEW')])).toBe(false);
    expect(areReviewsEnough(patient, [review('COMMENT')])).toBe(true);
  });

  it('count as Gitea would at its strictest where we may not read the rule', () => {
    const demands = deriveReviewDemands(one, null)!;
    expect(areReviewsEnough(demands, [review('APPROVED')])).toBe(true);
    expect(areReviewsEnough(demands, [review('APPROVED'), review('REQUEST_CHANGES')])).toBe(false);
  });
});

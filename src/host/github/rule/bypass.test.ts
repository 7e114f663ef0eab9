import { describe, expect, it } from 'vitest';
import { bindingOfProtection, bindingOfRule, listMergeMethods } from './bypass.ts';

const app = { slug: 'signalbox', login: null, own: 'write' } as const;
const admin = { slug: null, login: 'Root', own: 'admin' } as const;
const checks = (...contexts: readonly string[]) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: contexts.map((context) => ({ context })) },
});

describe('a rule of a ruleset', () => {
  it.each([
    ['pull_request', false, true],
    ['required_signatures', false, true],
    ['update', false, false],
    ['merge_queue', false, false],
    ['deletion', true, true],
    ['non_fast_forward', true, true],
  ] as const)(
    '%s allows Signalbox to push: %s, and to merge: %s; unless it may bypass the rule',
    (type, letsUsPush, letsUsMerge) => {
      expect(bindingOfRule({ type }, 'main', false)).toMatchObject({ letsUsPush, letsUsMerge });
      expect(bindingOfRule({ type }, 'main', true)).toMatchObject({ letsUsPush: true, letsUsMerge: true });
    },
  );

  it('that requires checks shuts us out if our own is among them', () => {
    const open = { letsUsPush: true, letsUsMerge: true };
    const shut = { letsUsPush: false, letsUsMerge: false };
    expect(bindingOfRule(checks('ci/test'), 'main', false)).toMatchObject(open);
    expect(bindingOfRule(checks('Signalbox (main)'), 'main', false)).toMatchObject(shut);
    expect(bindingOfRule(checks('Signalbox (main)'), 'main', true)).toMatchObject(open);
  });

  it('requires approvals from everyone who merges', () => {
    const rule = { type: 'pull_request', parameters: { required_approving_review_count: 2 } };
    expect(bindingOfRule(rule, 'main', true).approvals).toBe(2);
  });
});

describe('classic protection', () => {
  const binds = (
    protection: Parameters<typeof bindingOfProtection>[0],
    who: typeof app | typeof admin = app,
  ) => {
    const { letsUsPush, letsUsMerge } = bindingOfProtection(protection, 'main', who);
    return [letsUsPush, letsUsMerge];
  };

  it('lets in those whom it names', () => {
    expect(binds({ restrictions: { apps: [{ slug: 'signalbox' }] } })).toEqual([true, true]);
    expect(binds({ restrictions: { apps: [{ slug: 'other' }], users: [] } })).toEqual([false, false]);
    expect(binds({ restrictions: { users: [{ login: 'root' }] } }, admin)).toEqual([true, true]);
  });

  it('asks for pull requests of those whom it does not except', () => {
    const reviews = { required_approving_review_count: 1 };
    expect(binds({ required_pull_request_reviews: reviews })).toEqual([false, true]);
    const excepted = { ...reviews, bypass_pull_request_allowances: { apps: [{ slug: 'signalbox' }] } };
    expect(binds({ required_pull_request_reviews: excepted })).toEqual([true, true]);
  });

  it('binds administrators only if it says so', () => {
    const protection = { restrictions: { users: [] }, required_pull_request_reviews: {} };
    expect(binds({ ...protection, enforce_admins: { enabled: true } }, admin)).toEqual([false, false]);
    expect(binds({ ...protection, enforce_admins: { enabled: false } }, admin)).toEqual([true, true]);
  });

  it('of a locked branch allows no one', () => {
    expect(binds({ lock_branch: { enabled: true }, enforce_admins: { enabled: false } }, admin)).toEqual([
      false,
      false,
    ]);
  });
});

describe('merge methods', () => {
  it('are those that the repository and all rules allow', () => {
    expect(listMergeMethods({}, [])).toEqual(['merge_commit', 'squash', 'rebase']);
    expect(listMergeMethods({ allow_squash_merge: false }, [{ type: 'required_linear_history' }])).toEqual([
      'rebase',
    ]);
    const rule = { type: 'pull_request', parameters: { allowed_merge_methods: ['squash', 'merge'] } };
    expect(listMergeMethods({ allow_merge_commit: false }, [rule])).toEqual(['squash']);
  });
});

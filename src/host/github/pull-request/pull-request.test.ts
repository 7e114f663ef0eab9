import { describe, expect, it } from 'vitest';
import { cut, forkName, decideMergeability } from './pull-request.ts';

const open = { state: 'open', merged: false } as const;

describe('a pull request', () => {
  it.each(['clean', 'unstable', 'has_hooks', 'behind', 'blocked', 'draft', 'something_new'])(
    'that goes together with its base is one for the queue in state %s: what is missing there the queue does',
    (mergeable_state) => {
      expect(decideMergeability({ ...open, mergeable: true, mergeable_state }, null)).toBe('mergeable');
      expect(decideMergeability({ ...open, mergeable: true, mergeable_state }, 'APPROVED')).toBe('mergeable');
    },
  );

  it.each(['REVIEW_REQUIRED', 'CHANGES_REQUESTED'] as const)(
    'whose review decision is %s is not mergeable, whatever else GitHub allows',
    (review) => {
      for (const mergeable_state of ['blocked', 'clean', 'unstable', 'behind'])
        expect(decideMergeability({ ...open, mergeable: true, mergeable_state }, review)).toBe(
          'not_mergeable',
        );
      const unknown = { ...open, mergeable: null, mergeable_state: 'unknown' };
      expect(decideMergeability(unknown, review)).toBe('not_mergeable');
    },
  );

  it('that has a conversation to resolve is none', () => {
    expect(decideMergeability({ ...open, mergeable: true, mergeable_state: 'clean' }, 'APPROVED', true)).toBe(
      'not_mergeable',
    );
  });

  it('that conflicts is none', () => {
    expect(decideMergeability({ ...open, mergeable: false, mergeable_state: 'dirty' }, null)).toBe(
      'not_mergeable',
    );
    expect(decideMergeability({ ...open, mergeable: false, mergeable_state: 'unknown' }, null)).toBe(
      'not_mergeable',
    );
    expect(decideMergeability({ ...open, mergeable: true, mergeable_state: 'dirty' }, null)).toBe(
      'not_mergeable',
    );
  });

  it('is neither while GitHub is working it out', () => {
    expect(decideMergeability({ ...open, mergeable: null, mergeable_state: 'unknown' }, null)).toBe(
      'in_progress',
    );
  });

  it('that is closed is not mergeable, and a merged one is not asked about', () => {
    const asked = { mergeable: null, mergeable_state: 'unknown', state: 'closed' } as const;
    expect(decideMergeability({ ...asked, merged: false }, null)).toBe('not_mergeable');
    expect(decideMergeability({ ...asked, merged: true }, null)).toBe('unspecified');
  });
});

describe('the head of a pull request', () => {
  const base = { ref: 'main', repo: { id: 1 } };

  it('is of the repository itself only where the ids are the same', () => {
    const sha = 'a'.repeat(40);
    expect(forkName({ base, head: { sha, repo: { id: 1, full_name: 'acme/widgets' } } })).toBeNull();
    expect(forkName({ base, head: { sha, repo: { id: 2, full_name: 'acme/widgets' } } })).toBe(
      'acme/widgets',
    );
  });

  it('is of an unknown fork where GitHub does not say whose it is', () => {
    const sha = 'a'.repeat(40);
    expect(forkName({ base, head: { sha, repo: null } })).toBe('unknown');
    expect(forkName({ base: { ref: 'main' }, head: { sha } })).toBe('unknown');
  });
});

describe('a long text', () => {
  it('is cut between letters', () => {
    expect(cut('grün', 3)).toBe('gr');
    expect(cut('grün', 4)).toBe('grü');
    expect(cut('grün')).toBe('grün');
    expect(Buffer.byteLength(cut('€'.repeat(100_000)))).toBe(65_535);
  });
});

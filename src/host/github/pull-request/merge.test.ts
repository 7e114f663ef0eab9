import { describe, expect, it } from 'vitest';
import { classifyRefusal, settledAnswer } from './merge.ts';

const asked = { number: 7, headSha: 'a'.repeat(40), targetBranch: 'main' };
const open = {
  state: 'open',
  draft: false,
  merged: false,
  merge_commit_sha: 'b'.repeat(40),
  head: { sha: asked.headSha },
  base: { ref: 'main' },
} as const;

describe('before the merge call', () => {
  it('one that is open, has the head and the base that we mean, and is no draft can be tried', () => {
    expect(settledAnswer(open, asked)).toBeNull();
  });

  it('one that is merged is answered with its merge', () => {
    const merged = { ...open, state: 'closed', merged: true } as const;
    expect(settledAnswer(merged, asked)).toEqual({ kind: 'merged', sha: open.merge_commit_sha });
  });

  it.each([
    ['is not there', null, 'There is no pull request #7.'],
    ['was retargeted', { ...open, base: { ref: 'release' } }, 'The base branch of #7 is release.'],
    [
      'was merged elsewhere',
      { ...open, state: 'closed', merged: true, base: { ref: 'release' } },
      'The base branch of #7 is release.',
    ],
    ['is closed', { ...open, state: 'closed' }, '#7 is closed.'],
    ['is a draft', { ...open, draft: true }, '#7 is a draft.'],
  ] as const)('one that %s is refused', (_what, now, message) => {
    expect(settledAnswer(now, asked)).toEqual({ kind: 'refused', message });
  });

  it('one that was pushed to is not what was tested', () => {
    expect(settledAnswer({ ...open, head: { sha: 'c'.repeat(40) } }, asked)).toEqual({ kind: 'head-moved' });
  });
});

describe('a refused merge call', () => {
  it.each([
    ['Base branch was modified. Review and try the merge again.', true],
    ['Merge already in progress', true],
    ['Pull Request is not mergeable', null],
  ] as const)('is tried again after “%s”', (message, mergeable) => {
    expect(classifyRefusal({ status: 405, message }, { mergeable })).toBeNull();
  });

  it.each([
    'Pull Request is not mergeable',
    'Required status check "ci/test" is expected.',
    'At least 1 approving review is required by reviewers with write access.',
    'Squash merges are not allowed on this repository.',
    'Changes must be made through the merge queue',
  ])('is final after “%s”', (message) => {
    expect(classifyRefusal({ status: 405, message }, { mergeable: false })).toEqual({
      kind: 'refused',
      message,
    });
  });

  it('with 409 is a head that moved, also where GitHub still shows the old one', () => {
    const message = 'Head branch was modified. Review and try the merge again.';
    expect(classifyRefusal({ status: 409, message }, { mergeable: true })).toEqual({ kind: 'head-moved' });
  });
});

import { describe, expect, it } from 'vitest';
import {
  type Act,
  clockSlackMs,
  resolveHeadSince,
  isNamed,
  checkAct,
  type Submittable,
} from './authority.ts';

const head = 'a1'.repeat(20);
const act: Act = { kind: 'label', by: 'ada', mayWrite: true, at: 100_000, namedSha: null };
const comment: Act = { ...act, kind: 'comment' };
const state: Submittable = { headSha: head, headSince: 50_000, endedAt: null, usedAt: null };

describe('an act', () => {
  it('counts if a person with write access did it after the head came', () => {
    expect(checkAct(act, state)).toBe('allowed');
    expect(checkAct(comment, state)).toBe('allowed');
    expect(checkAct(act, { ...state, headSince: 0 })).toBe('allowed');
  });

  it('does not count without a name or without write access', () => {
    expect(checkAct({ ...act, by: null }, state)).toBe('unnamed');
    expect(checkAct({ ...comment, mayWrite: false }, state)).toBe('no_write_access');
    expect(checkAct({ ...comment, mayWrite: false, namedSha: head }, state)).toBe('no_write_access');
  });

  it('does not count for a head that came later, at the same instant, or at an unknown one', () => {
    for (const one of [act, comment]) {
      expect(checkAct(one, { ...state, headSince: one.at + 1 })).toBe('head_is_newer');
      expect(checkAct(one, { ...state, headSince: one.at })).toBe('head_is_newer');
      expect(checkAct(one, { ...state, headSince: null })).toBe('head_age_unknown');
    }
  });

  it('that names a commit is about that commit alone, whenever it came', () => {
    for (const headSince of [null, 0, comment.at + 1]) {
      const now = { ...state, headSince };
      expect(checkAct({ ...comment, namedSha: head.slice(0, 7).toUpperCase() }, now)).toBe('allowed');
      expect(checkAct({ ...comment, namedSha: 'b2b2b2b' }, now)).toBe('names_other_head');
    }
    expect(isNamed(head, head)).toBe(true);
    expect(isNamed(head, `${head}0`)).toBe(false);
  });

  it('with a label counts once, and not if the last attempt ended after it', () => {
    expect(checkAct(act, { ...state, usedAt: act.at })).toBe('used_up');
    expect(checkAct(act, { ...state, usedAt: act.at - 1 })).toBe('allowed');
    expect(checkAct(act, { ...state, endedAt: act.at + clockSlackMs + 1 })).toBe('used_up');
    // Two clocks: a few seconds are no reason to refuse.
    expect(checkAct(act, { ...state, endedAt: act.at + clockSlackMs })).toBe('allowed');
    expect(checkAct(comment, { ...state, usedAt: act.at, endedAt: act.at + 3_600_000 })).toBe('allowed');
  });
});

describe('when a head came', () => {
  const other = { sha: 'b2'.repeat(20), since: 10 };

  it('is what was recorded, what the host answers, or the earlier of both', () => {
    expect(resolveHeadSince(head, [{ sha: head, since: 70 }], null)).toBe(70);
    expect(resolveHeadSince(head, [], 60)).toBe(60);
    expect(resolveHeadSince(head, [{ sha: head, since: 70 }], 60)).toBe(60);
    expect(resolveHeadSince(head, [{ sha: head, since: null }], 60)).toBe(60);
    expect(resolveHeadSince(head, [other], null)).toBeNull();
  });

  it('is unknown where the host knows of no push although there was another head', () => {
    expect(resolveHeadSince(head, [], 0)).toBe(0);
    expect(resolveHeadSince(head, [other], 0)).toBeNull();
    expect(resolveHeadSince(head, [{ sha: head, since: null }], 0)).toBeNull();
    expect(resolveHeadSince(head, [{ sha: head, since: 0 }], 0)).toBe(0);
    expect(resolveHeadSince(head, [other, { sha: head, since: 70 }], 0)).toBe(70);
  });
});

import { describe, expect, it } from 'vitest';
import { isOpening } from './label.ts';
import type { TimelineEntry } from '../schema.ts';

const openedAt = Date.parse('2026-01-05T10:00:00Z');
const entry = (type: string, user: string, second: number, body = ''): TimelineEntry => ({
  type,
  user,
  body,
  created_at: openedAt + second * 1_000,
});
const pushed = '{"is_force_push":false,"commit_ids":["a1"]}';
const forced = '{"is_force_push":true,"commit_ids":["a1","b2"]}';
const push = (user: string, second: number, body = pushed) => entry('pull_push', user, second, body);
const pullRequest = { user: 'ada', created_at: openedAt };

describe('the push that opens a pull request', () => {
  it.each([
    ['in the second of the opening', [push('ada', 0)]],
    ['half a minute later, while Gitea copied the commits', [push('ada', 30)]],
    ['after the label that the author gave with it', [entry('label', 'ada', 0, '1'), push('ada', 30)]],
    ['before what others did', [push('ada', 30), entry('label', 'grace', 30, '1')]],
  ])('is known: %s', (_, timeline) => expect(isOpening(timeline, pullRequest)).toBe(true));

  it.each([
    ['of another account', [push('mallory', 30)]],
    ['after the label of another account', [entry('label', 'grace', 1, '1'), push('ada', 30)]],
    ['after a label that the author put on later', [entry('label', 'ada', 20, '1'), push('ada', 30)]],
    ['the second of two, even in the second of the opening', [push('ada', 0), push('ada', 0)]],
    ['a force push that deleted the entry of the opening', [push('ada', 30, forced)]],
    ['none in the timeline', []],
  ])('is not taken for it: %s', (_, timeline) => expect(isOpening(timeline, pullRequest)).toBe(false));
});

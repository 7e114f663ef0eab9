import { expect, it } from 'vitest';
import { landedRuleChangeText, ruleChangeTexts, sourceText } from './rule-text.ts';

it('names the source of a required check', () => {
  expect(['app:15368', 'check_run', 'commit_status', null].map(sourceText)).toEqual([
    'a check run of app 15368',
    'a check run',
    'a commit status',
    'any source',
  ]);
});

it('names what a landing changed in the required checks', () => {
  expect(landedRuleChangeText({ prNumber: 7, added: ['e2e', 'lint'], removed: [] })).toBe(
    '#7 adds e2e, lint',
  );
  expect(landedRuleChangeText({ prNumber: 7, added: ['e2e'], removed: ['old'] })).toBe(
    '#7 adds e2e and removes old',
  );
});

it('names the changes of required checks in an event of the timeline, and nothing where there are none', () => {
  const event = {
    timestamp: '2026-01-01T00:00:00.000Z',
    state: 'testing',
    reason: null,
    actor: 'queue',
    trip: 1,
  } as const;
  expect(ruleChangeTexts(event)).toEqual([]);
  expect(ruleChangeTexts({ ...event, ruleChange: { added: [], removed: ['old'] } })).toEqual([
    'Required checks: it removes old.',
  ]);
  const bound = [{ name: 'lint', source: 'app:7' }];
  expect(
    ruleChangeTexts({ ...event, branchRuleChange: { added: ['e2e'], bound, removed: ['old'] } }),
  ).toEqual([
    'Required now: e2e.',
    'Required of another source now: lint from a check run of app 7.',
    'Not required any more: old.',
  ]);
});

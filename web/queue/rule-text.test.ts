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

it('lists the changes that a landing made to the required checks', () => {
  expect(landedRuleChangeText({ prNumber: 7, added: ['e2e', 'lint'], removed: [] })).toBe(
    '#7 adds e2e, lint',
  );
  expect(landedRuleChangeText({ prNumber: 7, added: ['e2e'], removed: ['old'] })).toBe(
    '#7 adds e2e and removes old',
  );
});

it('lists the changes of required checks in a timeline event, if there are any', () => {
  const event = {
    timestamp: '2026-01-01T00:00:00.000Z',
    state: 'testing',
    reason: null,
    actor: 'queue',
    trip: 1,
  } as const;
  expect(ruleChangeTexts(event)).toEqual([]);
  expect(ruleChangeTexts({ ...event, ruleChange: { added: [], removed: ['old'] } })).toEqual([
    'Changes the required checks: removes old.',
  ]);
  const bound = [{ name: 'lint', source: 'app:7' }];
  expect(
    ruleChangeTexts({ ...event, branchRuleChange: { added: ['e2e'], bound, removed: ['old'] } }),
  ).toEqual([
    'Newly required: e2e.',
    'Now required from a check run of app 7: lint.',
    'No longer required: old.',
  ]);
});

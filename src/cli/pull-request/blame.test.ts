import { expect, it } from 'vitest';
import { attributeBlame } from './blame.ts';

type Verdict = 'flaky' | 'broken' | 'new' | 'unknown';

const failed = (...verdicts: readonly Verdict[]) => ({
  count: verdicts.length,
  first: verdicts.map((verdict) => ({ testCaseId: 'id', name: verdict, verdict, isQuarantined: false })),
});

it.each([
  ['nothing_failed', null],
  ['unknown', failed()],
  ['likely', failed('new', 'flaky')],
  ['possible', failed('unknown', 'broken')],
  ['unlikely', failed('flaky', 'broken')],
] as const)('says %s', (answer, tests) => {
  expect(attributeBlame(tests).answer).toBe(answer);
});

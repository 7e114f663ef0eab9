import { expect, it } from 'vitest';
import { clearLastSeenId, recordLastSeenId, getLastSeenId } from './last-seen.ts';

it('an event without its own id is identified by its version', () => {
  recordLastSeenId('7f3a-12', '{"queue":"a/b/c@main","version":12}');
  expect(getLastSeenId()).toBe('7f3a-12');
  recordLastSeenId('7f3a-12', '{"queue":"a/b/c@main","version":14}');
  expect(getLastSeenId()).toBe('7f3a-14');
  clearLastSeenId();
  expect(getLastSeenId()).toBeUndefined();
});

it('without an epoch or a version there is no id', () => {
  recordLastSeenId('7f3a-12', '{"version":12}');
  recordLastSeenId('', '{"version":13}');
  expect(getLastSeenId()).toBeUndefined();
  recordLastSeenId('7f3a-12', '{}');
  expect(getLastSeenId()).toBeUndefined();
});

import { describe, expect, it } from 'vitest';
import type { TestTerms } from '#db/rename/carried-store.ts';
import { chooseTerms, termsToReturn } from './rename-test.ts';

const none: TestTerms = {
  manual_status: null,
  quarantine_setting: 'AUTO_QUARANTINE',
  quarantined_at: null,
  quarantine_expires_at: null,
  quarantine_held_back: null,
  quarantine_warned_days: null,
  quarantine_owner: null,
  quarantine_note: null,
  ticket_id: null,
};
const automatic: TestTerms = {
  ...none,
  quarantined_at: '2026-11-01',
  quarantine_expires_at: '2026-12-01',
  quarantine_warned_days: 7,
};
const byPerson: TestTerms = {
  ...automatic,
  quarantine_setting: 'ALWAYS_QUARANTINE',
  manual_status: 'flaky',
  quarantine_owner: 'ada',
  quarantine_note: 'waits for a fix',
  ticket_id: 'T-7',
};

describe('what a test takes over from its former name', () => {
  it('is its owner, note and ticket; nothing that hides a failure, if only the name is similar', () => {
    expect(chooseTerms(none, byPerson, 'renamed')).toEqual({
      quarantine_owner: 'ada',
      quarantine_note: 'waits for a fix',
      ticket_id: 'T-7',
    });
    expect(chooseTerms(none, automatic, 'renamed')).toEqual({});
  });

  it('is an automatic quarantine with its end, if its file moved', () => {
    const { quarantined_at, quarantine_expires_at, quarantine_warned_days } = automatic;
    expect(chooseTerms(none, automatic, 'moved')).toEqual({
      quarantined_at,
      quarantine_expires_at,
      quarantine_held_back: null,
      quarantine_warned_days,
    });
    expect(chooseTerms(none, byPerson, 'moved')).not.toHaveProperty('quarantine_setting');
    const ended = { ...none, quarantine_held_back: 'ENDED' };
    expect(chooseTerms(none, ended, 'moved')).toMatchObject({ quarantine_held_back: 'ENDED' });
  });

  it('is everything, if a person confirms the rename', () => {
    expect({ ...none, ...chooseTerms(none, byPerson, 'confirmed') }).toEqual(byPerson);
  });

  it('is always that it must never be quarantined', () => {
    const never = { ...none, quarantine_setting: 'NEVER_QUARANTINE' as const };
    expect(chooseTerms(none, never, 'renamed')).toEqual({ quarantine_setting: 'NEVER_QUARANTINE' });
  });

  it('is nothing that a person has set for it under its new name', () => {
    const own: TestTerms = {
      ...none,
      quarantine_setting: 'NEVER_QUARANTINE',
      quarantine_owner: 'grace',
      manual_status: 'healthy',
    };
    expect(chooseTerms(own, byPerson, 'confirmed')).toEqual({
      quarantine_note: 'waits for a fix',
      ticket_id: 'T-7',
    });
  });
});

describe('what a test gives back', () => {
  const after = chooseTerms(none, byPerson, 'confirmed');
  const before = Object.fromEntries(Object.entries(none).filter(([name]) => name in after));

  it('is all that it took over', () => {
    const own = { ...none, ...after };
    expect({ ...own, ...termsToReturn(own, { before, after, mutes: [] }) }).toEqual(none);
  });

  it('is not what a person has changed since', () => {
    const own = { ...none, ...after, quarantine_owner: 'grace', ticket_id: 'T-9' };
    expect({ ...own, ...termsToReturn(own, { before, after, mutes: [] }) }).toEqual({
      ...none,
      quarantine_owner: 'grace',
      ticket_id: 'T-9',
    });
  });

  it('is its automatic quarantine, also if its dates have changed since', () => {
    const carried = chooseTerms(none, automatic, 'moved');
    const dates = Object.fromEntries(Object.entries(none).filter(([name]) => name in carried));
    const own = { ...none, ...carried, quarantine_warned_days: 1 };
    const returned = termsToReturn(own, { before: dates, after: carried, mutes: [] });
    expect({ ...own, ...returned }).toEqual(none);
  });
});

import { describe, expect, it } from 'vitest';
import { isExcused, shouldQuarantine, type QuarantineFacts } from './quarantine.ts';
import { completeSettings, defaultHealthSettings } from '../settings.ts';

const now = Date.UTC(2026, 10, 1);
const on = completeSettings({ quarantine: { enabled: true } });
const facts: QuarantineFacts = {
  settings: on,
  setting: 'AUTO_QUARANTINE',
  expiresAt: null,
  status: 'flaky',
  mayAutoQuarantine: true,
};

describe('quarantine', () => {
  it('applies to flaky tests automatically where it is on', () => {
    expect(shouldQuarantine(facts, now)).toBe(true);
    expect(shouldQuarantine({ ...facts, settings: defaultHealthSettings }, now)).toBe(false);
    expect(
      shouldQuarantine(
        { ...facts, settings: completeSettings({ quarantine: { enabled: true, auto: false } }) },
        now,
      ),
    ).toBe(false);
  });

  it('never applies automatically to broken tests, nor to uncertain ones', () => {
    expect(shouldQuarantine({ ...facts, status: 'broken' }, now)).toBe(false);
    expect(shouldQuarantine({ ...facts, status: 'healthy' }, now)).toBe(false);
    expect(shouldQuarantine({ ...facts, mayAutoQuarantine: false }, now)).toBe(false);
  });

  it('is what a person set, until that expires', () => {
    const always = { ...facts, setting: 'ALWAYS_QUARANTINE', status: 'broken', expiresAt: now + 1 } as const;
    expect(shouldQuarantine(always, now)).toBe(true);
    expect(shouldQuarantine(always, now + 1)).toBe(false);
    const never = { ...facts, setting: 'NEVER_QUARANTINE', expiresAt: now + 1 } as const;
    expect(shouldQuarantine(never, now)).toBe(false);
    expect(shouldQuarantine(never, now + 1)).toBe(true);
  });

  it('is off for all where it is off for the repository', () => {
    const settings = completeSettings({ quarantine: { enabled: false } });
    expect(shouldQuarantine({ ...facts, settings, setting: 'ALWAYS_QUARANTINE' }, now)).toBe(false);
  });
});

describe('an excuse', () => {
  const excuse = { isQuarantined: true, setting: 'AUTO_QUARANTINE', known: ['a', 'b'] } as const;

  it('is for failures that the test showed when it was contradicted', () => {
    expect(isExcused({ ...excuse, fingerprints: ['a'] })).toBe(true);
    expect(isExcused({ ...excuse, fingerprints: ['a', 'b', 'a'] })).toBe(true);
  });

  it('is not for a failure that is new, even beside one that is known', () => {
    expect(isExcused({ ...excuse, fingerprints: ['c'] })).toBe(false);
    expect(isExcused({ ...excuse, fingerprints: ['a', 'c'] })).toBe(false);
  });

  it('is not for a failure of which nothing is known', () => {
    expect(isExcused({ ...excuse, fingerprints: [] })).toBe(false);
    expect(isExcused({ ...excuse, fingerprints: [''] })).toBe(false);
    expect(isExcused({ ...excuse, fingerprints: [''], known: [''] })).toBe(true);
  });

  it('is for everything where a person quarantined the test, and for nothing where it is not quarantined', () => {
    expect(isExcused({ ...excuse, setting: 'ALWAYS_QUARANTINE', fingerprints: ['c'] })).toBe(true);
    expect(isExcused({ ...excuse, isQuarantined: false, fingerprints: ['a'] })).toBe(false);
  });
});

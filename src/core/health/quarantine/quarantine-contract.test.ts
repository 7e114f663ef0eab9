import { describe, expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { completeSettings } from '../settings.ts';
import {
  beginsQuarantine,
  type ContractFacts,
  decideQuarantine,
  type DecidedQuarantine,
  reachedWarning,
  suiteEnough,
} from './quarantine-contract.ts';

const now = Date.UTC(2026, 10, 1);
const settings = completeSettings({ quarantine: { enabled: true, maxTests: 10, maxShare: 0.1 } });
const plenty = { quarantined: 0, suite: 1_000 };
const flaky: ContractFacts = {
  settings,
  before: {
    setting: 'AUTO_QUARANTINE',
    isQuarantined: false,
    expiresAt: null,
    heldBack: null,
    warnedDays: null,
  },
  status: 'flaky',
  mayAutoQuarantine: true,
  test: { name: 'waits', file: 'test/pay/card.test.ts' },
};
const after = (decided: DecidedQuarantine, change: Partial<ContractFacts> = {}): ContractFacts => ({
  ...flaky,
  before: decided,
  ...change,
});
const begun = decideQuarantine(flaky, plenty, now);
const at = (days: number) => now + days * dayMs;

describe('the end of an automatic quarantine', () => {
  it('is 30 days after it began, and later classifications do not move it', () => {
    expect(begun).toMatchObject({ isQuarantined: true, expiresAt: at(30), heldBack: null, warning: null });
    expect(decideQuarantine(after(begun), plenty, at(5))).toEqual(begun);
  });

  it('comes earlier if the test is healthy, and the next one has an end of its own', () => {
    const healthy = decideQuarantine(after(begun, { status: 'healthy' }), plenty, at(5));
    expect(healthy).toMatchObject({ isQuarantined: false, expiresAt: null, heldBack: null });
    expect(decideQuarantine(after(healthy), plenty, at(6))).toMatchObject({
      isQuarantined: true,
      expiresAt: at(36),
    });
  });

  it('stays where it was while the test is broken in between', () => {
    const broken = decideQuarantine(after(begun, { status: 'broken' }), plenty, at(5));
    expect(broken).toMatchObject({ isQuarantined: false, heldBack: null });
    expect(decideQuarantine(after(broken), plenty, at(6))).toMatchObject({
      isQuarantined: true,
      expiresAt: at(30),
    });
  });

  it('holds while the test is still flaky, until it was healthy', () => {
    const ended = decideQuarantine(after(begun), plenty, at(30));
    expect(ended).toMatchObject({ isQuarantined: false, expiresAt: null, heldBack: 'ENDED' });
    const later = decideQuarantine(after(ended), plenty, at(31));
    expect(later).toMatchObject({ isQuarantined: false, heldBack: 'ENDED' });
    const broken = decideQuarantine(after(later, { status: 'broken' }), plenty, at(32));
    expect(decideQuarantine(after(broken), plenty, at(33)).heldBack).toBe('ENDED');
    const healthy = decideQuarantine(after(broken, { status: 'healthy' }), plenty, at(34));
    expect(healthy.heldBack).toBeNull();
    expect(decideQuarantine(after(healthy), plenty, at(35)).isQuarantined).toBe(true);
  });
});

describe("a person's quarantine", () => {
  const always: ContractFacts = {
    ...flaky,
    status: 'healthy',
    before: { ...flaky.before, setting: 'ALWAYS_QUARANTINE' },
  };

  it('has the end that was chosen, else that of the settings', () => {
    const chosen = { ...always, before: { ...always.before, expiresAt: at(90) } };
    expect(decideQuarantine(chosen, plenty, now)).toMatchObject({ isQuarantined: true, expiresAt: at(90) });
    expect(decideQuarantine(always, plenty, now)).toMatchObject({ isQuarantined: true, expiresAt: at(30) });
  });

  it('makes the test automatic when it ends, which holds a flaky test on', () => {
    const held = decideQuarantine(always, plenty, now);
    const over = decideQuarantine(after(held, { status: 'healthy' }), plenty, at(30));
    expect(over).toMatchObject({ setting: 'AUTO_QUARANTINE', isQuarantined: false, heldBack: null });
    expect(decideQuarantine(after(held), plenty, at(30))).toMatchObject({
      setting: 'AUTO_QUARANTINE',
      isQuarantined: true,
      expiresAt: at(60),
    });
  });

  it('needs room as well', () => {
    const full = { quarantined: 10, suite: 1_000 };
    expect(decideQuarantine(always, full, now)).toMatchObject({
      setting: 'ALWAYS_QUARANTINE',
      isQuarantined: false,
      heldBack: 'CAP_TESTS',
    });
  });
});

describe('the room', () => {
  it.each([
    [9, 1_000, null],
    [10, 1_000, 'CAP_TESTS'],
    [7, 70, 'CAP_SHARE'],
    [6, 70, null],
    [4, 8, null],
    [5, 8, 'CAP_SHARE'],
  ])('with %i of %i tests quarantined', (quarantined, suite, heldBack) => {
    const decided = decideQuarantine(flaky, { quarantined, suite }, now);
    expect(decided).toMatchObject({ isQuarantined: heldBack === null, heldBack });
  });

  it('is not asked for by a test that is quarantined, or not to be', () => {
    expect(beginsQuarantine(flaky, now)).toBe(true);
    expect(beginsQuarantine(after(begun), now)).toBe(false);
    expect(beginsQuarantine({ ...flaky, status: 'broken' }, now)).toBe(false);
    expect(decideQuarantine(after(begun), { quarantined: 99, suite: 1 }, at(1)).isQuarantined).toBe(true);
  });

  it('needs so many tests of a suite to be decided', () => {
    expect(suiteEnough(settings.quarantine)).toBe(110);
    expect(suiteEnough({ ...settings.quarantine, maxShare: 0 })).toBe(0);
    const enough = { quarantined: 9, suite: 110 };
    expect(decideQuarantine(flaky, enough, now)).toEqual(decideQuarantine(flaky, plenty, now));
  });
});

describe('a critical test', () => {
  it.each([
    [['test/pay/*'], 'CRITICAL'],
    [['wait?'], 'CRITICAL'],
    [['pay'], null],
  ])('by the patterns %j', (criticalTests, heldBack) => {
    const critical = { ...settings, quarantine: { ...settings.quarantine, criticalTests } };
    for (const setting of ['AUTO_QUARANTINE', 'ALWAYS_QUARANTINE'] as const)
      expect(
        decideQuarantine({ ...flaky, settings: critical, before: { ...flaky.before, setting } }, plenty, now),
      ).toMatchObject({ isQuarantined: heldBack === null, heldBack });
  });

  it('that was quarantined before it became critical is not any more', () => {
    const critical = { ...settings, quarantine: { ...settings.quarantine, criticalTests: ['*'] } };
    expect(decideQuarantine(after(begun, { settings: critical }), plenty, at(1)).isQuarantined).toBe(false);
  });
});

describe('the warnings', () => {
  it('come 7 days and 1 day before the end, once each', () => {
    const warnings: [number, number][] = [];
    let state = begun;
    for (let hour = 1; hour < 30 * 24; hour++) {
      state = decideQuarantine(after(state), plenty, now + hour * 3_600_000);
      if (state.warning !== null) warnings.push([hour / 24, state.warning]);
    }
    expect(warnings).toEqual([
      [23, 7],
      [29, 1],
    ]);
  });

  it('are one if none was possible for a while', () => {
    const late = decideQuarantine(after(begun), plenty, at(29.5));
    expect(late.warning).toBe(1);
    expect(decideQuarantine(after(late), plenty, at(29.9)).warning).toBeNull();
  });

  it('wait for a test that is out of quarantine while it fails in a row', () => {
    const out = decideQuarantine(after(begun, { mayAutoQuarantine: false }), plenty, at(24));
    expect(out).toMatchObject({ isQuarantined: false, expiresAt: at(30), warning: null });
    const back = decideQuarantine(after(out), plenty, at(25));
    expect(back).toMatchObject({ isQuarantined: true, expiresAt: at(30), warning: 7 });
  });

  it('begin with the first that the whole quarantine is longer than', () => {
    expect([0.5, 1, 3, 7, 8].map((days) => reachedWarning(at(days), now))).toEqual([1, 1, 7, 7, null]);
    const short = { ...settings, quarantine: { ...settings.quarantine, days: 3 } };
    const first = decideQuarantine({ ...flaky, settings: short }, plenty, now);
    expect(first).toMatchObject({ warning: null, warnedDays: 7 });
    expect(decideQuarantine(after(first), plenty, at(1)).warning).toBeNull();
    expect(decideQuarantine(after(first), plenty, at(2)).warning).toBe(1);
  });
});

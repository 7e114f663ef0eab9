import { describe, expect, it } from 'vitest';
import { type CurrentTerms, type ListedTerms, planListImport } from './quarantine-list.ts';

const now = new Date('2026-11-01T00:00:00Z');
const later = new Date('2026-12-01T00:00:00Z');
const past = new Date('2026-10-01T00:00:00Z');
const terms: ListedTerms = {
  testCaseId: 'a',
  setting: 'ALWAYS_QUARANTINE',
  expiresAt: later,
  owner: 'ada',
  note: null,
  ticketId: 'T-1',
};
const automatic: ListedTerms = { ...terms, setting: 'AUTO_QUARANTINE', expiresAt: null, owner: null };
const current = (own: ListedTerms, isQuarantined = true): CurrentTerms => ({ ...own, isQuarantined });
const afterOf = (plan: ReturnType<typeof planListImport>) => plan.changes.map(({ after }) => after);

describe('a list of quarantines', () => {
  it('that was exported and not changed changes nothing', () => {
    expect(planListImport([current(terms)], [terms], now)).toEqual({ changes: [], unknown: [], ended: [] });
  });

  it('keeps an end and a ticket that it leaves out, and gives a new setting a new end', () => {
    const bare = { ...terms, expiresAt: null, ticketId: null };
    expect(planListImport([current(terms)], [bare], now).changes).toEqual([]);
    expect(afterOf(planListImport([current(automatic)], [bare], now))).toMatchObject([
      { setting: 'ALWAYS_QUARANTINE', expiresAt: null, ticketId: 'T-1' },
    ]);
  });

  it('makes a test automatic that it does not name', () => {
    expect(afterOf(planListImport([current(terms)], [], now))).toMatchObject([
      { setting: 'AUTO_QUARANTINE', expiresAt: null, owner: null },
    ]);
    expect(planListImport([current({ ...automatic, expiresAt: later })], [], now).changes).toEqual([]);
  });

  it('revives nothing that has ended, and ignores tests that are gone', () => {
    const old = { ...terms, expiresAt: past };
    const plan = planListImport([current(automatic, false)], [old, { ...terms, testCaseId: 'gone' }], now);
    expect(plan).toEqual({ changes: [], unknown: ['gone'], ended: ['a'] });
    expect(afterOf(planListImport([current(terms)], [old], now))).toMatchObject([
      { setting: 'AUTO_QUARANTINE', expiresAt: null },
    ]);
  });

  it('gives no end to an automatic test that is healthy by now', () => {
    const listed = { ...automatic, expiresAt: later };
    expect(planListImport([current(automatic, false)], [listed], now).changes).toEqual([]);
    expect(afterOf(planListImport([current(automatic)], [listed], now))).toMatchObject([
      { expiresAt: later },
    ]);
  });
});

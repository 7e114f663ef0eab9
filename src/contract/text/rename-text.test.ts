import { describe, expect, it } from 'vitest';
import type { TestRename } from '../test-health.ts';
import { formerNameText, presentNameText } from './rename-text.ts';

const rename: TestRename = {
  test_case_id: '01940000-0000-7000-8000-000000000001',
  name: 'adds an item',
  file_path: 'unit/cart.test.ts',
  is_stored: true,
  is_carried: true,
  how: 'moved',
  at: '2026-11-25T10:00:00Z',
  commit: '1a2b3c4'.padEnd(40, '0'),
  carries_quarantine: true,
  confirmed_by: null,
};
const inFull = (at: string) => at;

describe('the former name of a test', () => {
  it('is given with the commit, and with what is carried over', () => {
    expect(formerNameText(rename, inFull)).toBe(
      'Was “adds an item” (unit/cart.test.ts) until commit 1a2b3c4, 2026-11-25T10:00:00Z. Found by Signalbox: its history and its quarantine are carried over.',
    );
    const similar = { ...rename, file_path: null, carries_quarantine: false };
    expect(formerNameText(similar, inFull)).toBe(
      'Was “adds an item” until commit 1a2b3c4, 2026-11-25T10:00:00Z. Found by Signalbox: its history is carried over, its quarantine is not.',
    );
  });

  it('names the person who stated it', () => {
    const stated = { ...rename, how: 'stated', commit: null, confirmed_by: 'ada' } as const;
    expect(formerNameText(stated, inFull)).toBe(
      'Was “adds an item” (unit/cart.test.ts) until 2026-11-25T10:00:00Z. Confirmed by ada: its history and its quarantine are carried over.',
    );
  });

  it('is only a suspicion before two further commits', () => {
    const suspected = { ...rename, is_carried: false };
    expect(formerNameText(suspected, inFull)).toContain('Perhaps “adds an item”');
    expect(presentNameText(suspected, inFull)).toContain('Perhaps “adds an item”');
    expect(presentNameText(rename, inFull)).toContain('Is “adds an item”');
  });
});

import { describe, expect, it } from 'vitest';
import type { RunId } from '#base/id.ts';
import { anEntry, aQueue, aStatus } from '../../../../test/fixture/entry.ts';
import { type Entry, entryStates, type Stage } from '../model.ts';
import { cancelledReasons } from '../reason.ts';
import type { NamedEntries, Situation } from '../situation.ts';
import type { EntryStatus } from './entry-status.ts';
import { drawProgress } from './picture.ts';

const runId = 'run-1' as RunId;

const draw = (entry: Partial<Entry>, status: Partial<EntryStatus> = {}, queue = aQueue()) =>
  drawProgress(queue, {
    ...aStatus({ ...anEntry(), ...entry }),
    ...status,
  });

describe('the stages of an attempt', () => {
  it.each([
    [{ kind: 'not_ready' }, '● **Submitted** → Queued → Tested → Merged'],
    [{ kind: 'pending' }, '✓ Submitted → ● **Queued** → Tested → Merged'],
    [{ kind: 'testing', runId }, '✓ Submitted → ✓ Queued → ● **Testing** → Merged'],
    [{ kind: 'pending_failure', runId }, '✓ Submitted → ✓ Queued → ● **Testing** → Merged'],
    [{ kind: 'tests_passed', runId }, '✓ Submitted → ✓ Queued → ✓ Tested → ● **Merging**'],
    [{ kind: 'merged', reason: 'MERGE_GRAPH_MERGE' }, '✓ Submitted → ✓ Queued → ✓ Tested → ✓ Merged'],
    [{ kind: 'failed', reason: 'TEST_RUN_TIMEOUT' }, '✓ Submitted → ✓ Queued → ✗ **Testing** → Merged'],
    [
      { kind: 'failed', reason: 'PR_UPDATED_AT_MERGE_TIME' },
      '✓ Submitted → ✓ Queued → ✓ Tested → ✗ **Merging**',
    ],
  ])('are drawn as they are (%#)', (stage, drawn) => {
    expect(draw({ stage: stage as Stage })).toEqual([drawn]);
  });

  it('show a landing as such, whatever its tests are', () => {
    expect(draw({ stage: { kind: 'testing', runId }, landing: true })).toEqual([
      '✓ Submitted → ✓ Queued → ✓ Tested → ● **Merging**',
    ]);
  });

  it('are not drawn for an attempt that the queue did not end', () => {
    for (const reason of cancelledReasons) expect(draw({ stage: { kind: 'cancelled', reason } })).toEqual([]);
    expect(draw({ stage: { kind: 'merged', reason: 'MANUAL_MERGE' } as Stage })).toEqual([]);
  });

  it('are one line with every word that is in it, for every state', () => {
    for (const state of entryStates) {
      const { stage } = anEntry({ stage: state });
      expect(
        draw({ stage })
          .join('\n')
          .replaceAll(/[✓●✗→* ]/g, ''),
      ).toMatch(/^(SubmittedQueued(Tested|Testing)(Merged|Merging))?$/);
    }
  });
});

describe('what is between a pull request and the branch', () => {
  const named = (...first: readonly number[]): NamedEntries => ({ first, count: first.length });
  const testing = (ahead: NamedEntries): Situation => ({
    kind: 'testing',
    ahead,
    times: { requestedAt: 0, pushedAt: null, startedAt: null },
    limits: null,
  });
  const pending: Situation = { kind: 'pending', conflictsWith: null, startsAlone: false };
  const inQueue = { underTest: 2, firstPending: [8, 9, 10, 11, 7], slotsTaken: 2, frozenAt: null };
  const stage = { kind: 'testing', runId } as Stage;

  it('is what it is tested with, the next to merge first', () => {
    expect(draw({ stage }, { situation: testing(named(4, 5)) })[1]).toBe(
      '`main` ← `#4` ← `#5` ← **this pull request**',
    );
    expect(draw({ stage }, { situation: testing({ first: [1, 2, 3], count: 5 }) })[1]).toBe(
      '`main` ← `#1` ← `#2` ← `#3` ← 2 more ← **this pull request**',
    );
    expect(draw({ stage }, { situation: { kind: 'passed', ahead: named(4) } })[1]).toBe(
      '`main` ← `#4` ← **this pull request**',
    );
  });

  it('is what is under test and what waits before it', () => {
    const at = (position: number) =>
      draw({ stage: { kind: 'pending' } }, { situation: pending, queueSituation: inQueue, position })[1];
    expect(at(6)).toBe('`main` ← 2 under test ← `#8` ← `#9` ← `#10` ← 1 more ← **this pull request**');
    expect(at(3)).toBe('`main` ← 2 under test ← `#8` ← **this pull request**');
    expect(at(2)).toBe('`main` ← 2 under test ← **this pull request**');
    expect(at(1)).toBe('`main` ← 1 under test ← **this pull request**');
    expect(at(0)).toBeUndefined();
  });

  it('is nothing if nothing is ahead, if it is not known, or if it is landing', () => {
    expect(draw({ stage }, { situation: testing(named()) })).toHaveLength(1);
    expect(draw({ stage }, { situation: { kind: 'retrying' } })).toHaveLength(1);
    expect(draw({ stage, landing: true }, { situation: testing(named(4)) })).toHaveLength(1);
    const status = { situation: pending, queueSituation: inQueue, position: 6 };
    const parallel = aQueue({ settings: { mode: 'parallel' } });
    expect(draw({ stage: { kind: 'pending' } }, status, parallel)).toHaveLength(1);
  });

  it('shows the name of the branch as text, whatever it is', () => {
    const queue = aQueue({ targetBranch: '`@ada`[x](http://y)' });
    expect(draw({ stage }, { situation: testing(named(4)) }, queue)[1]).toBe(
      '`@ada[x](http://y)` ← `#4` ← **this pull request**',
    );
  });
});

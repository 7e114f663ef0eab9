import { describe, expect, it } from 'vitest';
import { anEntry, aQueue, aStage, endedStates, liveStates, noon } from '../../../../test/fixture/entry.ts';
import {
  anInput,
  anInputEntry,
  aRun,
  eventsIn,
  storedItem,
} from '../../../../test/fixture/reconcile-input.ts';
import type { EntryState } from '../model.ts';
import type { QueueSettings } from '../settings.ts';
import type { ReconcileInput, InputEntry } from './reconcile-input.ts';
import { needsProbe, restore } from './restore.ts';
import { emptyPlan } from './stored.ts';

const kinds = (...given: Parameters<typeof eventsIn>) => eventsIn(...given).map(({ kind }) => kind);

const parallel = aQueue({ settings: { mode: 'parallel' } });
const targets = { at: 3, set: Uint32Array.of(1, 2) };

describe('the branch and the Git host', () => {
  it('that have not changed are no event', () => {
    expect(eventsIn({})).toEqual([]);
  });

  it('stop the clocks once when the host stops answering, and start them once when it answers', () => {
    expect(kinds({ hostAwayAt: noon })).toEqual(['host-away']);
    expect(kinds({ hostAwayAt: noon }, { frozenAt: 1 })).toEqual([]);
    expect(kinds({}, { frozenAt: 1 })).toEqual(['host-back']);
  });

  it('stop the clocks also while the branch was never read', () => {
    expect(kinds({ branchSha: null })).toEqual(['host-away']);
  });

  it('report that the branch moved, but not during a landing, whose outcome shows that', () => {
    expect(eventsIn({ branchSha: 'U' })).toEqual([{ kind: 'branch-moved', tip: 'U' }]);
    const landing = { id: 1, members: [1], proof: { kind: 'direct' } } as const;
    expect(eventsIn({ branchSha: 'U' }, { landing })).toEqual([]);
  });
});

describe('the report on a landing', () => {
  it.each<[NonNullable<ReconcileInput['landing']>, object[]]>([
    [{ kind: 'landed', number: 4, tip: 'U' }, [{ kind: 'landed', landing: 4, tip: 'U' }]],
    [
      {
        kind: 'landed',
        number: 4,
        tip: 'U',
        inPart: { members: [1], pr: 2, reason: 'MERGE_REFUSED_BY_HOST' },
      },
      [
        {
          kind: 'landed-in-part',
          landing: 4,
          tip: 'U',
          members: [1],
          pr: 2,
          reason: 'MERGE_REFUSED_BY_HOST',
        },
      ],
    ],
    [
      { kind: 'lost', number: 4, tip: 'U', restart: [1, 2] },
      [
        { kind: 'landing-lost', landing: 4, tip: 'U' },
        { kind: 'restart', pr: 1 },
        { kind: 'restart', pr: 2 },
      ],
    ],
    [
      { kind: 'refused', number: 4, pr: 2, reason: 'PR_UPDATED_AT_MERGE_TIME' },
      [{ kind: 'landing-refused', landing: 4, pr: 2, reason: 'PR_UPDATED_AT_MERGE_TIME' }],
    ],
  ])('%j is an event about that landing', (landing, expected) => {
    expect(eventsIn({ landing, branchSha: 'T' })).toEqual(expected);
  });
});

describe('an entry', () => {
  it('that has not changed is no event, in whatever stage it is', () => {
    for (const stage of liveStates)
      expect(eventsIn({ entries: [anInputEntry({ entry: anEntry({ stage }) })] })).toEqual([]);
  });

  it('that the planner does not know is submitted, with all that a plan reads of it', () => {
    const entry = anEntry({ stage: 'not_ready', priority: 10, seniority: 4, noBatch: true });
    expect(eventsIn({ entries: [anInputEntry({ entry, stored: null })] })).toEqual([
      {
        kind: 'submitted',
        item: {
          pr: 7,
          priority: 10,
          seniority: 4,
          noBatch: true,
          submittedAt: noon.getTime(),
          ready: true,
          targets: new Uint32Array(0),
        },
      },
    ]);
  });

  it('that the planner does not know is submitted with what is predicted of it', () => {
    const entry = anEntry({ stage: 'not_ready' });
    expect(eventsIn({ entries: [anInputEntry({ entry, stored: null, odds: 0.8 })] })).toMatchObject([
      { kind: 'submitted', item: { pr: 7, odds: 0.8 } },
    ]);
  });

  it('keeps what was predicted of it as long as the queue predicts failures', () => {
    const entries = [anInputEntry({ stored: { ...storedItem, odds: 0.8 } })];
    const oddsIn = (settings: Partial<QueueSettings>) =>
      restore(anInput({ queue: aQueue({ settings }), entries })).items.get(7)!.odds;
    expect(oddsIn({ strategy: 'adaptive', predictFailures: true })).toBe(0.8);
    expect(oddsIn({ strategy: 'adaptive', predictFailures: false })).toBeUndefined();
    expect(oddsIn({ strategy: 'manual', predictFailures: true })).toBeUndefined();
  });

  it('that was submitted again ends as the attempt before, and begins as a new one', () => {
    const entry = anEntry({ stage: 'not_ready', attempt: 2 });
    expect(eventsIn({ entries: [anInputEntry({ entry })] })).toMatchObject([
      { kind: 'ended', pr: 7, reason: 'USER_REQUESTED' },
      { kind: 'submitted', item: { pr: 7 } },
    ]);
  });

  it('that ended before the planner knew it is no event', () => {
    for (const stage of endedStates)
      expect(eventsIn({ entries: [anInputEntry({ entry: anEntry({ stage }), stored: null })] })).toEqual([]);
  });

  it('that a command cancelled ends with the reason of the command', () => {
    const entry = anEntry({ stage: { kind: 'cancelled', reason: 'PR_CLOSED' } });
    expect(eventsIn({ entries: [anInputEntry({ entry })] })).toEqual([
      { kind: 'ended', pr: 7, reason: 'PR_CLOSED' },
    ]);
  });

  it('that was merged by hand leaves the branch where it is now, or else where it was last', () => {
    const entries = [anInputEntry({ entry: anEntry({ stage: 'merged' }) })];
    expect(eventsIn({ entries, branchSha: 'U' }, { tip: 'U' })).toEqual([
      { kind: 'merged-by-hand', pr: 7, tip: 'U' },
    ]);
    expect(eventsIn({ entries, branchSha: null }, { frozenAt: 1 })).toEqual([
      { kind: 'merged-by-hand', pr: 7, tip: 'T' },
    ]);
  });

  it('that the plan itself removed is no event', () => {
    expect(eventsIn({ entries: [anInputEntry({ entry: anEntry({ stage: 'failed' }) })] })).toEqual([]);
  });

  it('whose targets were uploaded again is an event in parallel mode, with the new targets', () => {
    const known = { ...storedItem, targetsAt: 2 };
    expect(eventsIn({ queue: parallel, entries: [anInputEntry({ targets, stored: known })] })).toEqual([
      { kind: 'targets', pr: 7, targets: targets.set },
    ]);
    expect(
      eventsIn({
        queue: parallel,
        entries: [anInputEntry({ targets, stored: { ...storedItem, targetsAt: 3 } })],
      }),
    ).toEqual([]);
  });

  it('whose targets are gone impacts everything', () => {
    expect(
      eventsIn({ queue: parallel, entries: [anInputEntry({ stored: { ...storedItem, targetsAt: 2 } })] }),
    ).toEqual([{ kind: 'targets', pr: 7, targets: 'ALL' }]);
  });

  it('whose head is tested on the tip is an event once, and so is the end of that', () => {
    expect(eventsIn({ entries: [anInputEntry({ testedOnTip: 'T' })] })).toEqual([
      { kind: 'tested-on-tip', pr: 7, tip: 'T' },
    ]);
    const known = { ...storedItem, testedOnTip: 'T' };
    expect(eventsIn({ entries: [anInputEntry({ testedOnTip: 'T', stored: known })] })).toEqual([]);
    expect(eventsIn({ entries: [anInputEntry({ stored: known })] })).toEqual([
      { kind: 'tested-on-tip', pr: 7, tip: null },
    ]);
  });

  it('whose restart was requested is restarted, unless it has ended', () => {
    const restartRequested = true;
    expect(eventsIn({ entries: [anInputEntry({ entry: anEntry({ restartRequested }) })] })).toEqual([
      { kind: 'restart', pr: 7 },
    ]);
    expect(
      eventsIn({ entries: [anInputEntry({ entry: anEntry({ restartRequested, stage: 'failed' }) })] }),
    ).toEqual([]);
  });

  it('ends before others change', () => {
    const first = anInputEntry({ entry: anEntry({ restartRequested: true, pullRequest: { number: 1 } }) });
    const second = anInputEntry({ entry: anEntry({ stage: 'merged', pullRequest: { number: 2 } }) });
    expect(kinds({ entries: [first, second] })).toEqual(['merged-by-hand', 'restart']);
  });
});

describe('the restored snapshot', () => {
  const itemIn = (change: Partial<ReconcileInput>) => restore(anInput(change)).items.get(7);

  it('has no entry that the planner does not know yet, and an empty plan for a queue without one', () => {
    const snapshot = restore(anInput({ entries: [anInputEntry({ stored: null })], stored: null }));
    expect(snapshot).toMatchObject({ tip: 'T', line: [], nextId: 1, outageSince: null });
    expect(snapshot.items.size).toBe(0);
    expect(restore(anInput({ stored: null, branchSha: null })).tip).toBe('');
  });

  it('has what was stored about an entry, and what its row says now', () => {
    const entry = anEntry({ priority: 0, seniority: 9, noBatch: true, endRequested: 'PR_CLOSED' });
    const known = { ...storedItem, testedOnTip: 'T', queuedAt: 8, patienceFrom: 6 };
    expect(itemIn({ entries: [anInputEntry({ entry, stored: known })] })).toEqual({
      pr: 7,
      priority: 0,
      seniority: 9,
      submittedAt: noon.getTime(),
      noBatch: true,
      ready: true,
      targets: new Uint32Array(0),
      endRequested: 'PR_CLOSED',
      place: storedItem.place,
      queuedAt: 8,
      patienceFrom: 6,
      testedOnTip: 'T',
      screen: 'none',
    });
    const screened = { ...known, screen: 'passed' } as const;
    expect(itemIn({ entries: [anInputEntry({ entry, stored: screened })] })?.screen).toBe('passed');
  });

  it('has an entry of an attempt before as not ready', () => {
    expect(itemIn({ entries: [anInputEntry({ entry: anEntry({ attempt: 2 }) })] })?.ready).toBe(false);
  });

  it('has an entry as not ready that cannot be merged, or that has no targets in parallel mode', () => {
    const conflicting = anEntry({ pullRequest: { mergeability: 'not_mergeable' } });
    expect(itemIn({ entries: [anInputEntry({ entry: conflicting })] })?.ready).toBe(false);
    expect(itemIn({ queue: parallel, entries: [anInputEntry()] })?.ready).toBe(false);
    expect(itemIn({ queue: parallel, entries: [anInputEntry({ targets })] })?.ready).toBe(true);
  });

  it('has the targets of an entry where the mode is parallel or becomes so, and none in single mode', () => {
    const entries = [anInputEntry({ targets })];
    const switching = { mode: 'parallel', returnTo: 'RUNNING' } as const;
    expect(itemIn({ entries })?.targets).toEqual(new Uint32Array(0));
    expect(itemIn({ queue: parallel, entries })?.targets).toBe(targets.set);
    expect(itemIn({ queue: { ...aQueue(), switching }, entries })?.targets).toBe(targets.set);
    expect(itemIn({ queue: parallel, entries: [anInputEntry()] })?.targets).toBe('ALL');
  });

  it('completes runs that an earlier version stored', () => {
    const { pushedAt: _pushedAt, timeouts: _timeouts, ...old } = aRun;
    const plan = {
      ...emptyPlan('T'),
      runs: [old, { ...old, id: 2, pushedAt: 4 }, { ...aRun, id: 3, timeouts: 1 }],
    };
    const { runs } = restore(anInput({ stored: plan }));
    expect([...runs.values()].map(({ pushedAt, timeouts }) => [pushedAt, timeouts])).toEqual([
      [null, 0],
      [4, 0],
      [null, 1],
    ]);
  });
});

describe('an entry that may merge directly', () => {
  const direct = aQueue({ settings: { directMergeMode: 'always' } });
  const waits = (change: Partial<ReconcileInput>, of: Partial<InputEntry> = {}) =>
    needsProbe(anInput({ queue: direct, ...change }), anInputEntry(of));

  it('waits until its head was compared with the tip of the branch', () => {
    expect(waits({})).toBe(true);
    expect(waits({}, { probedTip: 'S' })).toBe(true);
    expect(waits({}, { probedTip: 'T' })).toBe(false);
    const before = anInput({ queue: direct, entries: [anInputEntry()] });
    expect(restore(before).items.get(7)?.ready).toBe(false);
    const after = anInput({ queue: direct, entries: [anInputEntry({ probedTip: 'T' })] });
    expect(restore(after).items.get(7)?.ready).toBe(true);
  });

  it('does not wait where the queue does not merge directly, or where the branch is unknown', () => {
    expect(waits({ queue: aQueue() })).toBe(false);
    expect(waits({ branchSha: null })).toBe(false);
  });

  it('does not wait where others are under test or landing, since it cannot merge directly then', () => {
    const line = [{ id: 1, members: [1] }];
    expect(waits({ stored: { ...emptyPlan('T'), line } })).toBe(false);
    const landing = { id: 1, members: [1], proof: { kind: 'direct' } } as const;
    expect(waits({ stored: { ...emptyPlan('T'), landing } })).toBe(false);
    expect(waits({ stored: null })).toBe(true);
  });

  it.each<[EntryState, boolean]>([
    ['not_ready', true],
    ['pending', true],
    ['testing', false],
    ['tests_passed', false],
    ['failed', false],
  ])('waits in the stage %s: %s', (stage, expected) => {
    expect(waits({}, { entry: anEntry({ stage: aStage(stage) }) })).toBe(expected);
  });
});

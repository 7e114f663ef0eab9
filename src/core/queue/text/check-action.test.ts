import { describe, expect, it } from 'vitest';
import type { RunId } from '#base/id.ts';
import { anEntry, aQueue, sha } from '../../../../test/fixture/entry.ts';
import { checkActionIds } from '../host-event.ts';
import { type Entry, entryStates, type Stage } from '../model.ts';
import { cancelledReasons, reasons } from '../reason.ts';
import { commandOfAction, listCheckActions } from './check-action.ts';

const runId = 'run-1' as RunId;
const idsOf = (stage: Stage, change: Partial<Entry> = {}, queue = aQueue()) =>
  listCheckActions(queue, { ...anEntry(), stage, ...change }).map(({ id }) => id);

describe('the actions of the check', () => {
  it.each([
    [{ kind: 'not_ready' }, ['cancel']],
    [{ kind: 'pending' }, ['cancel']],
    [{ kind: 'testing', runId }, ['cancel', 'restart']],
    [{ kind: 'tests_passed', runId }, ['cancel', 'restart']],
    [{ kind: 'pending_failure', runId }, ['cancel', 'restart']],
    [{ kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId }, []],
    [{ kind: 'failed', reason: 'TEST_RUN_TIMEOUT', runId }, ['requeue']],
    [{ kind: 'cancelled', reason: 'USER_REQUESTED' }, ['requeue']],
  ] as [Stage, string[]][])('are those that do something in its state (%#)', (stage, ids) => {
    expect(idsOf(stage)).toEqual(ids);
  });

  it('are none while it merges, and none for a head that the pull request no longer has', () => {
    expect(idsOf({ kind: 'tests_passed', runId }, { landing: true })).toEqual([]);
    for (const reason of ['PR_CLOSED', 'PR_PUSHED_TO'] as const)
      expect(idsOf({ kind: 'cancelled', reason })).toEqual([]);
    expect(idsOf({ kind: 'failed', reason: 'PR_UPDATED_AT_MERGE_TIME', runId })).toEqual([]);
  });

  it('are none where commands are switched off', () => {
    const off = aQueue({ settings: { commandsEnabled: false } });
    expect(idsOf({ kind: 'pending' }, {}, off)).toEqual([]);
  });

  it('are within the limits of GitHub in every state', () => {
    const stages = [
      ...entryStates.map((state) => anEntry({ stage: state }).stage),
      ...reasons.map((reason) => ({ kind: 'failed', reason, runId }) as Stage),
      ...cancelledReasons.map((reason): Stage => ({ kind: 'cancelled', reason })),
    ];
    for (const stage of stages) {
      const actions = listCheckActions(aQueue(), { ...anEntry(), stage });
      expect(actions.length).toBeLessThanOrEqual(3);
      for (const { id, label, description } of actions)
        expect([id.length <= 20, label.length <= 20, description.length <= 40]).toEqual([true, true, true]);
    }
  });

  it('are the commands of a comment; the one that submits names the commit of the check', () => {
    expect(checkActionIds.map((id) => commandOfAction({ id, headSha: sha('b') }))).toEqual([
      { kind: 'cancel' },
      { kind: 'restart' },
      { kind: 'merge', priority: null, noBatch: false, force: false, sha: sha('b') },
    ]);
  });
});

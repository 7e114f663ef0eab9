import { describe, expect, it } from 'vitest';
import type { RunId } from '#base/id.ts';
import { aPullRequest, aStage, noon } from '../../../test/fixture/entry.ts';
import type { FactBody } from './fact.ts';
import type { EntryState } from './model.ts';
import { outgoingAction, outgoingActions, outgoingRun } from './outgoing.ts';

const actionFor = (body: FactBody) => outgoingAction({ ...body, at: noon, actor: 'queue' });
const movedTo = (state: EntryState): FactBody => ({ kind: 'moved', to: aStage(state), reason: null });

describe('the webhook event of a fact', () => {
  it('has one of these names, which receivers subscribe to', () => {
    expect(outgoingActions).toEqual([
      'submitted',
      'queued',
      'testing',
      'pending_failure',
      'failed',
      'canceled',
      'merged',
    ]);
  });

  it.each<[EntryState, string | null]>([
    ['not_ready', null],
    ['pending', 'queued'],
    ['testing', 'testing'],
    ['tests_passed', null],
    ['pending_failure', 'pending_failure'],
    ['merged', 'merged'],
    ['failed', 'failed'],
    ['cancelled', 'canceled'],
  ])('of a move to %s is %s', (state, action) => {
    expect(actionFor(movedTo(state))).toBe(action);
  });

  it('is "submitted" for a submission, and "queued" for a requested restart', () => {
    const submitted = {
      kind: 'submitted',
      pullRequest: aPullRequest(),
      priority: 100,
      usedDefaultPriority: true,
      noBatch: false,
      forced: false,
      seniority: 1,
    } as const;
    expect(actionFor(submitted)).toBe('submitted');
    expect(actionFor({ kind: 'restart_requested', reason: 'TESTS_RESTARTED_BY_USER' })).toBe('queued');
  });

  it('does not exist for facts that no receiver needs', () => {
    expect(actionFor({ kind: 'restarted' })).toBeNull();
    expect(actionFor({ kind: 'landing_begun' })).toBeNull();
    expect(actionFor({ kind: 'observed', pullRequest: aPullRequest() })).toBeNull();
  });
});

describe('the run of a webhook event', () => {
  const [old, present] = ['run-old' as RunId, 'run-new' as RunId];
  const testing = (runId: RunId) => ({ stage: { kind: 'testing', runId } as const });
  const pending = { stage: aStage('pending') };

  it('is the current run of the entry, also if it had another before', () => {
    expect(outgoingRun(null, testing(present))).toBe(present);
    expect(outgoingRun(testing(old), testing(present))).toBe(present);
  });

  it('is the run that an entry leaves if it has none any more', () => {
    expect(outgoingRun(testing(old), pending)).toBe(old);
  });

  it('is none if the entry was not under test', () => {
    expect(outgoingRun(null, pending)).toBeNull();
    expect(outgoingRun(pending, pending)).toBeNull();
    // The run of an earlier attempt that failed is not the run of the new attempt.
    expect(outgoingRun({ stage: aStage('failed') }, pending)).toBeNull();
  });
});

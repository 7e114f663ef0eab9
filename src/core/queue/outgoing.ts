// Which facts of an entry are sent as webhook events, and by what name.

import { unreachable } from '#base/assert.ts';
import type { Fact } from './fact.ts';
import { type Entry, isUnderTest, type Stage } from './model.ts';

export const outgoingActions = [
  'submitted',
  'queued',
  'testing',
  'pending_failure',
  'failed',
  'canceled',
  'merged',
] as const;
export type OutgoingAction = (typeof outgoingActions)[number];

function actionOfStage({ kind }: Stage): OutgoingAction | null {
  switch (kind) {
    case 'pending':
      return 'queued';
    case 'testing':
    case 'pending_failure':
    case 'failed':
    case 'merged':
      return kind;
    case 'cancelled':
      return 'canceled';
    // Neither has an event of its own.
    case 'not_ready':
    case 'tests_passed':
      return null;
    default:
      return unreachable(kind);
  }
}

/** Null: no event is sent. */
export function outgoingAction(fact: Fact): OutgoingAction | null {
  switch (fact.kind) {
    case 'submitted':
      return 'submitted';
    case 'restart_requested':
      return 'queued';
    case 'moved':
      return actionOfStage(fact.to);
    default:
      return null;
  }
}

type Staged = Pick<Entry, 'stage'>;

/** The test run that an event is about: the entry's current run, or the one that it leaves. */
export function outgoingRun(before: Staged | null, after: Staged): string | null {
  if ('runId' in after.stage) return after.stage.runId;
  return before !== null && isUnderTest(before.stage) && 'runId' in before.stage ? before.stage.runId : null;
}

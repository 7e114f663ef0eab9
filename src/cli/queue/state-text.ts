// The states of a pull request in a queue, as the command line shows them.

import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import type { Pen } from '../terminal/output.ts';

type EntryStateName = SubmittedPullRequest['state'];

export const stateLabels: {
  readonly [Name in EntryStateName]: {
    readonly label: string;
    readonly tone: Parameters<Pen>[0];
    readonly step: number;
  };
} = {
  not_ready: { label: 'not ready', tone: 'warning', step: 0 },
  pending: { label: 'queued', tone: 'info', step: 1 },
  testing: { label: 'testing', tone: 'info', step: 2 },
  pending_failure: { label: 'pending failure', tone: 'warning', step: 2 },
  tests_passed: { label: 'passed', tone: 'good', step: 3 },
  merged: { label: 'merged', tone: 'good', step: 4 },
  failed: { label: 'failed', tone: 'bad', step: 2 },
  cancelled: { label: 'cancelled', tone: 'quiet', step: 1 },
};

export const hasEnded = (state: EntryStateName): boolean => ['merged', 'failed', 'cancelled'].includes(state);

// The states of a pull request in a queue, in the words of the command line.

import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import type { Pen } from '../terminal/output.ts';

type State = SubmittedPullRequest['state'];

/** Each state in the words of the command line. */
export const stateWords: {
  readonly [Name in State]: {
    readonly word: string;
    readonly tone: Parameters<Pen>[0];
    readonly step: number;
  };
} = {
  not_ready: { word: 'not ready', tone: 'warning', step: 0 },
  pending: { word: 'in line', tone: 'info', step: 1 },
  testing: { word: 'testing', tone: 'info', step: 2 },
  pending_failure: { word: 'failed, in doubt', tone: 'warning', step: 2 },
  tests_passed: { word: 'passed', tone: 'good', step: 3 },
  merged: { word: 'merged', tone: 'good', step: 4 },
  failed: { word: 'failed', tone: 'bad', step: 2 },
  cancelled: { word: 'cancelled', tone: 'quiet', step: 1 },
};

export const hasEnded = (state: State): boolean => ['merged', 'failed', 'cancelled'].includes(state);

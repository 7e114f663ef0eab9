// An entry follows from its facts: evolve(entry, fact) → entry. Pure, total, and the only place that computes
// times.

import { assert, unreachable } from '#base/assert.ts';
import type { EntryId } from '#base/id.ts';
import type { Fact, ProgressFact } from './fact.ts';
import { type Entry, type Stage, isEnded, isInQueue, isUnderTest } from './model.ts';

/** `newId` is used only when the pull request has no entry in this queue yet. */
export function evolve(entry: Entry | null, fact: Fact, newId: EntryId): Entry {
  if (fact.kind === 'submitted') {
    const { priority, usedDefaultPriority, noBatch, forced, seniority, pullRequest } = fact;
    return {
      id: entry?.id ?? newId,
      pullRequest,
      // Each attempt reads the approvals of its head again.
      headReview: null,
      attempt: (entry?.attempt ?? 0) + 1,
      stage: { kind: 'not_ready' },
      stageChangedAt: fact.at,
      priority,
      usedDefaultPriority,
      noBatch,
      forced,
      submittedAt: fact.at,
      seniority,
      queuedAt: null,
      waitMs: 0,
      testMs: 0,
      inQueueMs: 0,
      restarts: 0,
      commitTitle: pullRequest.title,
      landing: false,
      endRequested: null,
      restartRequested: false,
    };
  }
  assert(entry !== null, `a fact "${fact.kind}" needs an entry`);
  switch (fact.kind) {
    case 'rewritten': {
      const { priority, usedDefaultPriority, noBatch, forced } = fact;
      return { ...entry, priority, usedDefaultPriority, noBatch, forced };
    }
    case 'observed':
      // Its commits keep the text of the submission.
      return { ...entry, pullRequest: { ...fact.pullRequest, body: entry.pullRequest.body } };
    case 'examined':
      return { ...entry, headReview: fact.review };
    default:
      return progress(entry, fact);
  }
}

/** The part of an entry that a reconcile may change. */
type EntryProgress = Pick<
  Entry,
  | 'stage'
  | 'stageChangedAt'
  | 'queuedAt'
  | 'waitMs'
  | 'testMs'
  | 'inQueueMs'
  | 'restarts'
  | 'landing'
  | 'endRequested'
  | 'restartRequested'
>;

/** The same for facts that are not about the pull request itself: they need only this part of an entry. */
export function progress<Known extends EntryProgress>(entry: Known, fact: ProgressFact): Known {
  switch (fact.kind) {
    case 'restart_requested':
      return { ...entry, restarts: entry.restarts + 1, restartRequested: true };
    case 'restarted':
      return { ...entry, restartRequested: false };
    case 'landing_begun':
      return { ...entry, landing: true };
    case 'landing_ended':
      return { ...entry, landing: false };
    case 'end_requested':
      return { ...entry, endRequested: fact.reason };
    case 'moved':
      return move(entry, fact.to, fact.at);
    default:
      return unreachable(fact);
  }
}

function move<Known extends EntryProgress>(entry: Known, to: Stage, at: Date): Known {
  const from = entry.stage;
  const elapsedMs = Math.max(0, at.getTime() - entry.stageChangedAt.getTime());
  return {
    ...entry,
    stage: to,
    stageChangedAt: at,
    landing: entry.landing && !isEnded(to),
    endRequested: isEnded(to) ? null : entry.endRequested,
    restartRequested: entry.restartRequested && isUnderTest(to),
    queuedAt: entry.queuedAt ?? (to.kind === 'pending' ? at : null),
    waitMs: entry.waitMs + (from.kind === 'pending' ? elapsedMs : 0),
    testMs: entry.testMs + (from.kind === 'testing' ? elapsedMs : 0),
    inQueueMs: entry.inQueueMs + (isInQueue(from) ? elapsedMs : 0),
    restarts: entry.restarts + (isUnderTest(from) && to.kind === 'pending' ? 1 : 0),
  };
}

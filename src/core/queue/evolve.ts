// An entry is what its facts made of it: evolve(entry, fact) → entry. Pure, total, and the only place that computes times.

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
      // Who approved a head is asked for with every attempt.
      headReview: null,
      trip: (entry?.trip ?? 0) + 1,
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
      // Its commits keep the text that it was submitted with.
      return { ...entry, pullRequest: { ...fact.pullRequest, body: entry.pullRequest.body } };
    case 'examined':
      return { ...entry, headReview: fact.review };
    default:
      return progress(entry, fact);
  }
}

/** What a reconcile may change of an entry. */
type Progress = Pick<
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

/** The same for facts that are not about the pull request itself: they need no more of an entry than this. */
export function progress<Known extends Progress>(entry: Known, fact: ProgressFact): Known {
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

function move<Known extends Progress>(entry: Known, to: Stage, at: Date): Known {
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

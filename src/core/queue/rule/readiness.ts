// When may a submitted pull request start testing? Its base branch is the queue's, the host says it can be merged,
// its head may be tested (head-gate.ts), and in parallel mode its impacted targets are known.

import { headGate, type HeadGate } from './head-gate.ts';
import type { PlannedEntry, Queue } from '../model.ts';

export type Readiness = {
  /** In parallel mode a pull request needs impacted targets before it can be put in a lane. */
  readonly requiresImpactedTargets: boolean;
  readonly doesBaseBranchMatch: boolean;
  /** Targets were uploaded for exactly its head. */
  readonly hasImpactedTargets: boolean;
  /** As the Git host reports, or force, which skips this one condition. */
  readonly isMergeable: boolean;
  /** What keeps its head from being tested; force does not skip it. */
  readonly headGate: HeadGate;
};

export function assessReadiness(queue: Queue, entry: PlannedEntry, hasImpactedTargets: boolean): Readiness {
  const { pullRequest } = entry;
  return {
    requiresImpactedTargets: queue.settings.mode === 'parallel',
    doesBaseBranchMatch: pullRequest.baseBranch === queue.targetBranch,
    hasImpactedTargets,
    isMergeable: entry.forced || (pullRequest.mergeability === 'mergeable' && !pullRequest.draft),
    headGate: effectiveHeadGate(queue, entry),
  };
}

/**
 * An entry in the line keeps its place until its head was examined: the globs were changed, or an older version admitted
 * it. No test branch is pushed before that either way (job/queue/head-review.ts).
 */
function effectiveHeadGate(queue: Queue, entry: PlannedEntry): HeadGate {
  const gate = headGate(queue.settings, entry);
  return gate.kind === 'unexamined' && entry.stage.kind !== 'not_ready' ? { kind: 'open' } : gate;
}

export const isReady = (readiness: Readiness): boolean =>
  readiness.doesBaseBranchMatch &&
  readiness.isMergeable &&
  readiness.headGate.kind === 'open' &&
  (!readiness.requiresImpactedTargets || readiness.hasImpactedTargets);

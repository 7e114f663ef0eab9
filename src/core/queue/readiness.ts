// When may a submitted pull request start testing? Its base branch is the queue's, the host says it can be merged,
// and in parallel mode its impacted targets are known.

import type { Entry, Queue } from './model.ts';

export type Readiness = {
  /** In parallel mode a pull request needs impacted targets before it can be put in a lane. */
  readonly requiresImpactedTargets: boolean;
  readonly doesBaseBranchMatch: boolean;
  /** Targets were uploaded for exactly its head. */
  readonly hasImpactedTargets: boolean;
  /** The host's word, or force, which skips this one condition. */
  readonly isMergeable: boolean;
};

export function readinessOf(queue: Queue, entry: Entry, hasImpactedTargets: boolean): Readiness {
  const { pullRequest } = entry;
  return {
    requiresImpactedTargets: queue.settings.mode === 'parallel',
    doesBaseBranchMatch: pullRequest.baseBranch === queue.targetBranch,
    hasImpactedTargets,
    isMergeable: entry.forced || (pullRequest.mergeability === 'mergeable' && !pullRequest.draft),
  };
}

export const isReady = (readiness: Readiness): boolean =>
  readiness.doesBaseBranchMatch &&
  readiness.isMergeable &&
  (!readiness.requiresImpactedTargets || readiness.hasImpactedTargets);

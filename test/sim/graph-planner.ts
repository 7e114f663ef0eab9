// Planners that follow one path for each change, in order of arrival.

import { pathOf, type GraphQueue } from './graph-queue.ts';
import type { Planner, Wanted } from './graph-simulation.ts';

/** A change is built only once nothing it shares with is pending: what bors does for each lane. */
export function createSerialPlanner(queue: GraphQueue): Planner {
  return createOnePathPlanner(
    queue,
    () => false,
    (place) => queue.pendingPredecessors[place] === 0,
  );
}

/** Every predecessor is assumed to land; after a failure everything behind it starts again. */
export function createOptimisticPlanner(queue: GraphQueue): Planner {
  return createOnePathPlanner(
    queue,
    () => true,
    () => true,
  );
}

/** Knows which changes will land, so that it builds each change once, on the path that comes true. */
export function createOraclePlanner(queue: GraphQueue): Planner {
  const willLand = new Uint8Array(queue.changes.length);
  for (const [place, { isGood }] of queue.changes.entries()) {
    const conflictsWithLanding = queue.conflictPositions[place]!.some(
      (position) => willLand[queue.predecessors[place]![position]!] === 1,
    );
    willLand[place] = isGood && !conflictsWithLanding ? 1 : 0;
  }
  return createOnePathPlanner(
    queue,
    (predecessor) => willLand[predecessor] === 1,
    () => true,
  );
}

function createOnePathPlanner(
  queue: GraphQueue,
  assumesLanding: (predecessor: number) => boolean,
  mayBuild: (place: number) => boolean,
): Planner {
  const paths: (string | undefined)[] = queue.changes.map(() => undefined);
  const currentPath = (place: number) => (paths[place] ??= pathOf(queue, place, assumesLanding));
  return {
    plan: (slots) => {
      const wanted: Wanted[] = [];
      for (const place of queue.pendingPlaces) {
        if (wanted.length === slots) break;
        if (!mayBuild(place)) continue;
        const path = currentPath(place);
        if (!queue.results[place]!.has(path)) wanted.push({ place, path });
      }
      return wanted;
    },
    predecessorDecided: (place, position, hasLanded) => {
      // A prediction that came true leaves the path as it is: without this, long paths are rebuilt at every decision.
      if (paths[place]?.[position] !== (hasLanded ? '1' : '0')) paths[place] = undefined;
    },
  };
}

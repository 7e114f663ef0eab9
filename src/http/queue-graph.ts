// A queue as a graph, put together from the line, the plan and the targets. What is read of targets is kept per cell:
// it is most of the work, and changes only with an upload.

import type { QueueGraph } from '#contract/graph.ts';
import { type Bisection, bisectionOf } from '#core/queue/engine/bisection.ts';
import { failedChecks } from '#core/queue/check.ts';
import { type Dependency, graphOf, type GraphGroup } from '#core/queue/engine/graph.ts';
import type { Queue } from '#core/queue/model.ts';
import type { Place } from '#core/queue/planner/model.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import type { Cell } from '#db/cell.ts';
import {
  type FailedBatch,
  graphEntriesMax,
  type GraphPicture,
  type GraphRow,
  listFailedBatches,
  readGraph,
} from '#db/graph-view.ts';
import type { Repository } from '#db/scope-view.ts';
import { createTargetCache, type TargetCache } from '#db/target-cache.ts';
import { createTargetNames, type NamedBy, type TargetNames } from '#db/target-name.ts';

/** Null when the queue was deleted meanwhile. */
export type ReadQueueGraph = (cell: Cell, repository: Repository, queue: Queue) => Promise<QueueGraph | null>;

type Kept = { readonly targets: TargetCache; readonly names: TargetNames };

export function createQueueGraphs(): ReadQueueGraph {
  const byCell = new WeakMap<Cell, Kept>();
  return async (cell, repository, queue) => {
    const kept = byCell.get(cell) ?? { targets: createTargetCache(cell), names: createTargetNames(cell) };
    byCell.set(cell, kept);
    const picture = await readGraph(cell.reader, queue.id);
    if (picture === null) return null;
    const { mode } = queue.settings;
    const rows = picture.entries.slice(0, graphEntriesMax);
    const { sets, hashOf } = await kept.targets.read(
      repository.id,
      mode === 'single' ? [] : rows.flatMap(wantedOf),
    );
    const entries = rows.map((row) => ({
      pr: row.prNumber,
      place: placeOf(row),
      targets: targetsOf(row, sets),
    }));
    const groups = graphOf({ mode, entries, runs: picture.runs, rankOf: hashOf });
    const rowOf = new Map(rows.map((row) => [row.prNumber, row]));
    const names = await kept.names(repository.id, wantedNames(groups, rowOf, sets, hashOf));
    const failed = picture.searches.length === 0 ? [] : await listFailedBatches(cell.reader, queue.id);
    const nameOf = (target: number) => names.get(hashOf(target));
    return {
      mode,
      branchSha: picture.tip,
      groups: groups.map((group) => presentGroup(group, rowOf, picture, nameOf)),
      isCut: picture.entries.length > rows.length,
      bisections: picture.searches.map((search) =>
        presentBisection(
          bisectionOf(search, picture.runs),
          picture,
          failed,
          queue.settings.skippableStatuses,
        ),
      ),
    };
  };
}

const wantedOf = ({ prNumber, headSha, targetsAt, impactsAll }: GraphRow) =>
  targetsAt === null || impactsAll !== false ? [] : [{ prNumber, headSha, at: targetsAt }];

/** As the planner has it: one without targets shares with everybody. */
const targetsOf = ({ prNumber }: GraphRow, sets: ReadonlyMap<number, Targets>): Targets =>
  sets.get(prNumber) ?? 'ALL';

/** What the planner said of an earlier trip is not about this one. */
function placeOf({ plan, trip }: GraphRow): Place {
  if (plan !== null && plan.trip === trip) return plan.place;
  return { kind: 'pending', since: 0, restarting: false, alone: false, behind: null };
}

/** Whose names are to be read: for each target that is told, one of the two groups that share it. */
function wantedNames(
  groups: readonly GraphGroup[],
  rowOf: ReadonlyMap<number, GraphRow>,
  sets: ReadonlyMap<number, Targets>,
  hashOf: (target: number) => number,
): readonly NamedBy[] {
  return groups.flatMap(({ members, dependsOn }) =>
    dependsOn.flatMap(({ shared }) =>
      shared.flatMap((target) => {
        const prNumber = members.find((pr) => holds(sets.get(pr), target));
        const row = prNumber === undefined ? undefined : rowOf.get(prNumber);
        return row === undefined
          ? []
          : [{ hash: hashOf(target), prNumber: row.prNumber, headSha: row.headSha }];
      }),
    ),
  );
}

const holds = (targets: Targets | undefined, target: number): boolean =>
  targets !== undefined && targets !== 'ALL' && targets.includes(target);

type GraphOut = QueueGraph['groups'][number];

function presentGroup(
  group: GraphGroup,
  rowOf: ReadonlyMap<number, GraphRow>,
  { runIds }: GraphPicture,
  nameOf: (target: number) => string | undefined,
): GraphOut {
  return {
    kind: group.kind,
    pullRequests: group.members.map((pr) => presentRow(rowOf.get(pr)!)),
    testRunId: group.run === null ? null : (runIds[group.run.id] ?? null),
    testedOn: [...group.testedOn],
    conflictsWith: group.conflictsWith,
    dependencyCount: group.dependencyCount,
    dependsOn: group.dependsOn.map((dependency) => presentDependency(dependency, nameOf)),
  };
}

const presentRow = (row: GraphRow): GraphOut['pullRequests'][number] => ({
  prNumber: row.prNumber,
  prTitle: row.title,
  state: row.state,
  isLanding: row.isLanding,
  impactedTargetCount: row.impactsAll === true ? null : row.targetCount,
  impactsEverything: row.impactsAll === true,
});

const presentDependency = (
  { on, why, sharedCount, shared }: Dependency,
  nameOf: (target: number) => string | undefined,
): GraphOut['dependsOn'][number] => ({
  prNumber: on,
  why,
  sharedTargetCount: sharedCount,
  sharedTargets: shared.flatMap((target) => nameOf(target) ?? []).toSorted(),
});

function presentBisection(
  { search, base, members, cleared, failing, rounds }: Bisection,
  { runIds }: GraphPicture,
  failed: readonly FailedBatch[],
  skippable: readonly string[],
): QueueGraph['bisections'][number] {
  const batch = failed.find((each) => each.search === search);
  return {
    pullRequests: [...members],
    baseSha: base,
    failedTestRunId: batch?.runId ?? null,
    failedChecks:
      batch === undefined
        ? []
        : failedChecks(batch.required, batch.checks, skippable).map(({ name, url }) => ({ name, url })),
    cleared: members.slice(0, cleared),
    suspects: members.slice(cleared, failing),
    undecided: members.slice(failing),
    rounds: rounds.map(({ from, to, runs }) => ({
      suspects: members.slice(from, to),
      runs: runs.map(({ run, length, status }) => ({
        testRunId: runIds[run] ?? null,
        testedCount: length,
        status,
      })),
    })),
  };
}

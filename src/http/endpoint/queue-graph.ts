// A queue as a graph, built from the entries, the plan and the targets. Targets are cached per cell: reading
// them is most of the work, and they change only with an upload.

import type { QueueGraph } from '#contract/graph.ts';
import { type Bisection, summarizeBisection } from '#core/queue/engine/bisection.ts';
import { failedChecks } from '#core/queue/check.ts';
import { type Dependency, buildGraph, type GraphGroup } from '#core/queue/engine/graph.ts';
import type { Queue } from '#core/queue/model.ts';
import { isScreen, type QueuePosition } from '#core/queue/planner/model.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import type { Cell } from '#db/cell.ts';
import {
  type FailedBatch,
  graphEntriesMax,
  type QueueGraphRows,
  type GraphRow,
  listFailedBatches,
  readGraph,
} from '#db/history/graph-view.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { createTargetCache, type TargetCache } from '#db/queue/target-cache.ts';
import { createTargetNames, type NamedBy, type TargetNames } from '#db/run/target-name.ts';

/** Null when the queue was deleted meanwhile. */
export type ReadQueueGraph = (
  cell: Cell,
  repository: RepositoryRecord,
  queue: Queue,
) => Promise<QueueGraph | null>;

type TargetCaches = { readonly targets: TargetCache; readonly names: TargetNames };

export function createQueueGraphs(): ReadQueueGraph {
  const byCell = new WeakMap<Cell, TargetCaches>();
  return async (cell, repository, queue) => {
    const kept = byCell.get(cell) ?? { targets: createTargetCache(cell), names: createTargetNames(cell) };
    byCell.set(cell, kept);
    const graph = await readGraph(cell.reader, queue.id);
    if (graph === null) return null;
    const { mode } = queue.settings;
    const rows = graph.entries.slice(0, graphEntriesMax);
    const { sets, hashOf } = await kept.targets.read(
      repository.id,
      mode === 'single' ? [] : rows.flatMap(targetsToRead),
    );
    const entries = rows.map((row) => ({
      pr: row.prNumber,
      place: plannedPosition(row),
      targets: entryTargets(row, sets),
    }));
    const groups = buildGraph({ mode, entries, searches: graph.searches, runs: graph.runs, rankOf: hashOf });
    const rowOf = new Map(rows.map((row) => [row.prNumber, row]));
    const names = await kept.names(repository.id, wantedNames(groups, rowOf, sets, hashOf));
    const bisected = graph.searches.filter((search) => !isScreen(search));
    const failed = bisected.length === 0 ? [] : await listFailedBatches(cell.reader, queue.id);
    const findTargetName = (target: number) => names.get(hashOf(target));
    return {
      mode,
      branchSha: graph.tip,
      groups: groups.map((group) => presentGroup(group, rowOf, graph, findTargetName)),
      isCut: graph.entries.length > rows.length,
      bisections: bisected.map((search) =>
        presentBisection(
          summarizeBisection(search, graph.runs),
          graph,
          failed,
          queue.settings.skippableStatuses,
        ),
      ),
    };
  };
}

const targetsToRead = ({ prNumber, headSha, targetsAt, impactsAll }: GraphRow) =>
  targetsAt === null || impactsAll !== false ? [] : [{ prNumber, headSha, at: targetsAt }];

/** As in the planner, an entry without targets shares a target with every other entry. */
const entryTargets = ({ prNumber }: GraphRow, sets: ReadonlyMap<number, Targets>): Targets =>
  sets.get(prNumber) ?? 'ALL';

/** A plan of an earlier attempt does not apply to this one. */
function plannedPosition({ plan, attempt }: GraphRow): QueuePosition {
  if (plan !== null && plan.attempt === attempt) return plan.place;
  return { kind: 'pending', since: 0, restarting: false, alone: false, behind: null };
}

/** For each shared target that is shown: an entry of the group, from which the target's name is read. */
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
  { runIds }: QueueGraphRows,
  findTargetName: (target: number) => string | undefined,
): GraphOut {
  return {
    kind: group.kind,
    pullRequests: group.members.map((pr) => presentRow(rowOf.get(pr)!)),
    testRunId: group.run === null ? null : (runIds[group.run.id] ?? null),
    testedOn: [...group.testedOn],
    conflictsWith: group.conflictsWith,
    dependencyCount: group.dependencyCount,
    dependsOn: group.dependsOn.map((dependency) => presentDependency(dependency, findTargetName)),
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
  findTargetName: (target: number) => string | undefined,
): GraphOut['dependsOn'][number] => ({
  prNumber: on,
  why,
  sharedTargetCount: sharedCount,
  sharedTargets: shared.flatMap((target) => findTargetName(target) ?? []).toSorted(),
});

function presentBisection(
  { search, base, members, cleared, failing, rounds }: Bisection,
  { runIds }: QueueGraphRows,
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

// Records a simulation in the form of a queue's history, as input for a fit.

import { minuteMs } from '#base/duration.ts';
import { priorities } from '#core/queue/priority.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { isActive } from '#core/queue/planner/model.ts';
import type { RecordedHistory, PastRun } from './history.ts';
import { type Played, playPlanner } from '../kernel/play.ts';
import { mean } from '../kernel/statistics.ts';
import type { Workload } from '../kernel/workload.ts';

export function recordHistory(
  workload: Workload,
  settings: Partial<QueueSettings>,
): { readonly history: RecordedHistory; readonly played: Played } {
  const startMs = mean(workload.timing?.startMin ?? [0]) * minuteMs;
  const runs: PastRun[] = [];
  type Begun = Omit<PastRun, 'outcome' | 'concludedAt' | 'byChance'>;
  const begun = new Map<number, Begun>();
  const end = (id: number, outcome: PastRun['outcome'], concludedAt: number) => {
    const run = begun.get(id);
    if (run === undefined) return;
    begun.delete(id);
    runs.push({
      ...run,
      pushedAt: Math.min(run.pushedAt, concludedAt),
      outcome,
      concludedAt,
      byChance: null,
    });
  };
  const played = playPlanner(workload, settings, (snapshot, { event }, nowMs) => {
    if (event?.kind === 'run-passed') end(event.run, 'passed', nowMs);
    if (event?.kind === 'run-failed') end(event.run, 'failed', nowMs);
    for (const id of begun.keys()) {
      const run = snapshot.runs.get(id);
      if (run === undefined || !isActive(run)) end(id, 'cancelled', nowMs);
    }
    for (const { id, composition, requestedAt } of snapshot.runs.values()) {
      if (begun.has(id) || requestedAt !== nowMs) continue;
      const { members, tested } = composition;
      begun.set(id, {
        createdAt: nowMs,
        pushedAt: nowMs + startMs,
        tested: members.slice(members.length - tested),
        ahead: members.slice(0, members.length - tested),
      });
    }
  });
  const attemptCounts = new Map<number, number>();
  const changes = new Map(workload.changes.map((change) => [change.number, change]));
  const history: RecordedHistory = {
    runs,
    attempts: played.attempts.map(({ number, outcome, fromMin, toMin }) => {
      attemptCounts.set(number, (attemptCounts.get(number) ?? 0) + 1);
      const from = fromMin * minuteMs;
      return {
        pr: number,
        attempt: attemptCounts.get(number)!,
        outcome,
        isByTests: outcome !== 'cancelled',
        submittedAt: from,
        queuedAt: from,
        concludedAt: toMin * minuteMs,
        headSha: `head-${number}`,
        priority: changes.get(number)!.priority ?? priorities.medium,
        noBatch: changes.get(number)!.noBatch ?? false,
        restarts: 0,
      };
    }),
  };
  return { history, played };
}

// Starts the next run that verifies a fix, if the queue has a slot for it: the commit is built and recorded, then pushed.

import { randomUUID } from 'node:crypto';
import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { emptyHistory } from '#core/health/history.ts';
import { type FixCandidate, planFixRuns } from '#core/health/fix/fix-verification.ts';
import { findRecovery } from '#core/health/monitor/monitor.ts';
import type { ResolvedHealthSettings } from '#core/health/settings.ts';
import {
  addFixRun,
  endFixRun,
  type FixRunRow,
  listFixRuns,
  listOpenVerifications,
  type OpenVerification,
  putVerificationSeen,
  recordFixRunPushed,
} from '#db/run/fix-store.ts';
import { type QueueForFixes, readFixUse } from '#db/run/fix-view.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { findHistoriesByTestId } from '#db/health/history-store.ts';
import { findMutes } from '#db/health/verdict-store.ts';
import { buildFixCommit } from '#git/candidate/fix-commit.ts';
import { branchRef } from '#git/ref.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import type { Served } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

type StartSession = {
  readonly served: Served;
  readonly mirror: Mirror;
  readonly queue: QueueForFixes;
  readonly tip: string;
};

/** How far back CI must have said that it can run single tests. */
const saidDays = 30;

export async function startFixRun(
  deps: TaskDeps,
  session: StartSession,
  repositoryId: RepositoryId,
): Promise<void> {
  const { cell, clock } = deps;
  const now = clock.now();
  const open = await listOpenVerifications(cell.db, repositoryId);
  if (open.length === 0) return;
  const runs = await listFixRuns(cell.db, repositoryId);
  const settings = await findHealthSettings(cell.db, repositoryId);
  const use = await readFixUse(cell.db, repositoryId, {
    since: new Date(now.getTime() - saidDays * dayMs),
    dayAgo: new Date(now.getTime() - dayMs),
  });
  const candidates: FixCandidate[] = [];
  for (const verification of open) {
    const missing = await countMissing(deps, repositoryId, verification, settings);
    candidates.push(toCandidate(verification, runs, session.tip, missing));
  }
  const { start, waits } = planFixRuns(
    { ...session.queue, ...use, runsPerDay: settings.fixes.runsPerDay },
    candidates,
    runs.some(({ endedAt }) => endedAt === null),
  );
  for (const verification of open) {
    const waitsFor = waits.get(verification.id) ?? null;
    if (waitsFor !== verification.waitsFor)
      await putVerificationSeen(cell.db, repositoryId, { ...verification, waitsFor });
  }
  const chosen = open.find(({ id }) => id === start?.id);
  if (start !== null && chosen !== undefined)
    await push(deps, session, repositoryId, { verification: chosen, repeats: start.repeats });
}

/** Clean runs that are still missing; null: no number of them ends it. */
async function countMissing(
  { cell, clock }: TaskDeps,
  repositoryId: RepositoryId,
  { testCaseId }: OpenVerification,
  settings: ResolvedHealthSettings,
): Promise<number | null> {
  const now = clock.now();
  const [watched] = await findHistoriesByTestId(cell.db, repositoryId, [testCaseId]);
  const mutes = await findMutes(cell.db, repositoryId, [testCaseId], now);
  const before = {
    mutes: mutes.get(testCaseId) ?? [],
    manualStatus: null,
    wasActive: watched?.activeMonitors ?? [],
  };
  const recovery = findRecovery(watched?.history ?? emptyHistory, settings, before, now.getTime());
  if (recovery === null || recovery.cleanRunsNeeded === null) return null;
  return Math.max(0, recovery.cleanRunsNeeded - recovery.cleanRuns);
}

function toCandidate(
  { id, sinceSha }: OpenVerification,
  runs: readonly FixRunRow[],
  tip: string,
  missing: number | null,
): FixCandidate {
  // A run that gave way, or was stopped, shows nothing about CI.
  const own = runs.filter(({ verificationId }) => verificationId === id);
  const answered = own.filter(
    ({ outcome }) => outcome !== null && outcome !== 'gave_way' && outcome !== 'stopped',
  );
  return {
    id,
    missing,
    hasLanded: sinceSha !== null,
    isTipTested: own.some((run) => run.baseSha === tip && run.outcome === 'reported'),
    unreported: answered.length - 1 - answered.findLastIndex(({ outcome }) => outcome === 'reported'),
    lastRunAt: own.at(-1)?.startedAt.getTime() ?? 0,
  };
}

type StartedRun = { readonly verification: OpenVerification; readonly repeats: number };

async function push(
  { cell, clock, committer, log }: TaskDeps,
  { served: { host, repository }, mirror, queue, tip }: StartSession,
  repositoryId: RepositoryId,
  { verification, repeats }: StartedRun,
): Promise<void> {
  const now = clock.now();
  const id = randomUUID();
  const { file, classname, name } = verification;
  const request = { base: tip, test: { file, classname, name }, repeats, at: now, committer };
  const sha = await buildFixCommit(mirror, request);
  const testBranch = `signalbox/${queue.branch}/fix/${id}`;
  const run = { id, verificationId: verification.id, baseSha: tip, sha, testBranch, repeats };
  await addFixRun(cell.db, repositoryId, run, now);
  const update = { ref: branchRef(testBranch), from: null, to: sha };
  const answer = await mirror.push([update], { isAtomic: false });
  if (answer.kind !== 'pushed') {
    log.warn(
      { repository: repositoryId, run: id, answer },
      'git host refused the branch of a verification run',
    );
    await endFixRun(cell.db, repositoryId, id, 'refused', clock.now());
    return;
  }
  await host.afterPush(repository, [update]);
  await recordFixRunPushed(cell.db, repositoryId, id, clock.now());
}

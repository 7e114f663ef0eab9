// Verifies the fixes of tests of one repository: what was shown, which runs have ended, and which run is started next
// (core/health/fix/fix-verification.ts decides). Jobs of a repository run one after the other.
//
// Each step can be repeated: a run is recorded before its branch is pushed, and ends before its branch is removed. A worker
// that was killed in between leaves a run that was not pushed, which the next job ends, or a branch of a run that has ended,
// which the next job removes; so does the poll of the queue (queue/sweep.ts).

import { minuteMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { concludeVerification } from '#command/verify-fix.ts';
import { findFixEnd, findFixRunEnd } from '#core/health/fix/fix-verification.ts';
import type { Check } from '#core/queue/check.ts';
import type { Tx } from '#db/cell.ts';
import {
  endFixRun,
  type FixFailure,
  type FixRunRow,
  listFixFailures,
  listFixRuns,
  listOpenVerifications,
  type OpenVerification,
  putVerificationSeen,
  recordFixRunsRemoved,
} from '#db/run/fix-store.ts';
import { findQueueForFixes, type QueueForFixes } from '#db/run/fix-view.ts';
import { findHealthContext } from '#db/health/verdict-store.ts';
import { enqueueForRepository, type JobPayloads } from '#db/job/job.ts';
import { withTestsLock } from '#db/transaction.ts';
import { branchRef } from '#git/ref.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import { type Served, withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';
import { readChecksByCommit } from '../run-check.ts';
import { startFixRun } from './start-fix-run.ts';

/** While a run is in progress, and while none is. */
const pauseRunningMs = minuteMs;
const pauseMs = 2 * minuteMs;

export async function verifyFixes(deps: TaskDeps, payload: JobPayloads['verify-fixes']): Promise<void> {
  const { cell } = deps;
  const { repositoryId } = payload;
  const context = await findHealthContext(cell.db, repositoryId);
  if (context === null) return;
  const queue = await findQueueForFixes(cell.db, repositoryId, context.defaultBranches);
  // What time ends does not wait for the Git host. A fix is confirmed only after failures on its commits were looked for.
  await settle(deps, repositoryId, new Map(), queue === null);
  const open = await listOpenVerifications(cell.db, repositoryId);
  const runs = await listFixRuns(cell.db, repositoryId);
  if (open.length === 0 && runs.length === 0) return;
  if (queue === null) await waitWithoutQueue(cell.db, repositoryId, open);
  // Without a queue there may be no connection to the Git host either. Time alone is looked at once an hour (revisit-tests).
  if (queue === null && runs.every(({ isRemoved }) => isRemoved)) return;
  await withHost(deps, 'verify-fixes', payload, [], async (served) => {
    const mirror = await deps.mirrors.open(repositoryId, () => served.host.remoteOf(served.repository));
    try {
      await verifyAtHost(deps, { served, mirror, queue }, repositoryId);
    } finally {
      deps.mirrors.leave(repositoryId);
    }
  });
}

async function waitWithoutQueue(
  db: Tx,
  repositoryId: RepositoryId,
  open: readonly OpenVerification[],
): Promise<void> {
  for (const verification of open)
    if (verification.waitsFor !== 'no_queue')
      await putVerificationSeen(db, repositoryId, { ...verification, waitsFor: 'no_queue' });
}

type FixSession = {
  readonly served: Served;
  readonly mirror: Mirror;
  readonly queue: QueueForFixes | null;
};

async function verifyAtHost(deps: TaskDeps, session: FixSession, repositoryId: RepositoryId): Promise<void> {
  const { cell } = deps;
  const { mirror, queue } = session;
  const tip = queue === null ? null : (await mirror.fetch({ branch: queue.branch, pulls: [] })).tip;
  await settle(deps, repositoryId, await examine(deps, session, repositoryId, tip), true);
  await endRuns(deps, session, repositoryId);
  await removeEnded(deps, session, repositoryId);
  if (queue !== null && tip !== null) await startFixRun(deps, { ...session, queue, tip }, repositoryId);
  const open = await listOpenVerifications(cell.db, repositoryId);
  const runs = await listFixRuns(cell.db, repositoryId);
  const isRunning = runs.some(({ endedAt }) => endedAt === null);
  if (open.length === 0 && runs.every(({ isRemoved }) => isRemoved)) return;
  await enqueueForRepository(cell.db, 'verify-fixes', { repositoryId }, isRunning ? pauseRunningMs : pauseMs);
}

/** By verification: the first failure on a commit that contains the fix. */
type Failures = ReadonlyMap<string, FixFailure>;

/** Ends the verifications of which it is decided. What the tests are now is read under the lock under which they are classified. */
function settle(
  { cell, clock }: TaskDeps,
  repositoryId: RepositoryId,
  failures: Failures,
  mayConfirm: boolean,
): Promise<void> {
  return withTestsLock(cell, repositoryId, async (tx, lock) => {
    const now = clock.now();
    for (const verification of await listOpenVerifications(tx, repositoryId)) {
      const failure = failures.get(verification.id) ?? null;
      const outcome = decideEnd(verification, failure, now);
      if (outcome === null || (outcome === 'fixed' && !mayConfirm)) continue;
      const end = { outcome, failedSha: failure?.sha ?? null, trigger: { kind: 'time' } } as const;
      await concludeVerification(tx, lock, verification, end, now);
    }
  });
}

const decideEnd = (
  { status, isAnyMonitorActive, manualStatus, endsAt }: OpenVerification,
  failure: FixFailure | null,
  now: Date,
) =>
  findFixEnd(
    { status, isAnyMonitorActive, isStatusManual: manualStatus !== null, failure, endsAt: endsAt.getTime() },
    now.getTime(),
  );

/** Whether the tip contains the fix, and whether the test failed on a commit that does. */
async function examine(
  { cell }: TaskDeps,
  { mirror }: FixSession,
  repositoryId: RepositoryId,
  tip: string | null,
): Promise<Failures> {
  const found = new Map<string, FixFailure>();
  const runs = await listFixRuns(cell.db, repositoryId);
  for (const verification of await listOpenVerifications(cell.db, repositoryId)) {
    const { id, fixSha } = verification;
    const contains = (ancestor: string, sha: string) => mirror.contains(ancestor, sha).catch(() => false);
    const hasLanded = tip !== null && (fixSha === null || (await contains(fixSha, tip)));
    const sinceSha = verification.sinceSha ?? (hasLanded ? tip : null);
    if (sinceSha === null) continue;
    const tested = new Set(runs.filter((run) => run.verificationId === id).map(({ baseSha }) => baseSha));
    const failures = await listFixFailures(cell.db, repositoryId, verification);
    for (const failure of failures)
      if (!found.has(id) && (tested.has(failure.sha) || (await contains(fixSha ?? sinceSha, failure.sha))))
        found.set(id, failure);
    const examinedAt = failures.at(-1)?.failedAt ?? verification.examinedAt;
    // A failure that ends the verification is examined again if the worker is killed before it does.
    if (!found.has(id) && (sinceSha !== verification.sinceSha || examinedAt !== verification.examinedAt))
      await putVerificationSeen(cell.db, repositoryId, { ...verification, sinceSha, examinedAt });
  }
  return found;
}

const isOver = (check: Check): boolean =>
  check.kind === 'check' ? check.status === 'completed' : check.state !== 'pending';

async function endRuns(
  { cell, clock }: TaskDeps,
  { served: { host, repository }, queue }: FixSession,
  repositoryId: RepositoryId,
): Promise<void> {
  const runs = (await listFixRuns(cell.db, repositoryId)).filter(({ endedAt }) => endedAt === null);
  if (runs.length === 0) return;
  const open = new Set((await listOpenVerifications(cell.db, repositoryId)).map(({ id }) => id));
  const pushed = runs.filter(({ pushedAt }) => pushedAt !== null).map(({ sha }) => sha);
  const checks = await readChecksByCommit(host, repository, pushed);
  const now = clock.now();
  for (const run of runs) {
    const ofRun = checks.get(run.sha) ?? [];
    const state = {
      id: run.id,
      pushedAt: run.pushedAt?.getTime() ?? null,
      isVerificationOver: !open.has(run.verificationId),
      reports: run.reports,
      areChecksOver: ofRun.length === 0 ? null : ofRun.every(isOver),
    };
    const outcome = findFixRunEnd(state, queue ?? { concurrency: 0, busy: 0 }, now.getTime());
    if (outcome !== null) await endFixRun(cell.db, repositoryId, run.id, outcome, now);
  }
}

/** Removes the branches of runs that have ended, and stops what CI still does for them. */
async function removeEnded(
  deps: TaskDeps,
  { served: { host, repository }, mirror }: FixSession,
  repositoryId: RepositoryId,
): Promise<void> {
  const { cell } = deps;
  const runs = (await listFixRuns(cell.db, repositoryId)).filter(
    ({ endedAt, isRemoved }) => endedAt !== null && !isRemoved,
  );
  if (runs.length === 0) return;
  const updates = runs.map(({ testBranch, sha }) => ({ ref: branchRef(testBranch), from: sha, to: null }));
  const answer = await mirror.push(updates, { isAtomic: false });
  const kept = new Set(answer.kind === 'pushed' ? [] : answer.refs);
  const removed = updates.filter(({ ref }) => !kept.has(ref));
  if (removed.length > 0) await host.afterPush(repository, removed);
  // A branch that the Git host keeps, or that is gone, does no harm: its removal is not repeated.
  await recordFixRunsRemoved(
    cell.db,
    repositoryId,
    runs.map(({ id }) => id),
  );
  for (const run of runs) if (run.outcome !== 'reported') await stopCi(deps, { host, repository }, run);
}

/** It only saves minutes of CI: a failure changes nothing. */
async function stopCi(
  { log }: TaskDeps,
  { host, repository }: Served,
  { id, testBranch: branch, sha }: FixRunRow,
): Promise<void> {
  try {
    await host.stopRuns(repository, { branch, sha });
  } catch (err) {
    log.info({ repository: repository.id, run: id, err }, 'could not cancel the ci of an ended run');
  }
}

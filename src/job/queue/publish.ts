// Pushes the planned runs to the host as test branches and deletes the branches that no run needs, all of one
// queue in one push. The wanted branches are read from the tables each time, so publishing twice does no
// harm, and the next job completes a push that was interrupted.

import type { RunReport } from '#core/queue/engine/reconcile-input.ts';
import type { Rules } from '#core/queue/rule.ts';
import { testPullRequestContent } from '#core/queue/text/message.ts';
import type { FailedReason } from '#core/queue/reason.ts';
import type { RunId } from '#base/id.ts';
import { haltQueue } from '#command/change-queue.ts';
import { enqueueReconciles, type JobPayloads } from '#db/job/job.ts';
import { loadLastLandedChecks } from '#db/run/kept-check.ts';
import {
  type AskedRun,
  type BuiltRun,
  holdRuns,
  loadPublishing,
  type MemberRecord,
  type Publishing,
  recordBuilt,
  recordClosed,
  recordPushed,
  recordUnstarted,
  wasTested,
} from '#db/run/run-store.ts';
import { withQueueLock, withTransaction } from '#db/transaction.ts';
import { buildCandidate, type Candidate, type TestCommitMember } from '#git/candidate/candidate.ts';
import { GitError } from '#git/error.ts';
import { branchRef } from '#git/ref.ts';
import { HostError, type RefUpdate } from '#host/host.ts';
import { atHost, NotYet, type HostSession } from '../at-host.ts';
import { identified } from './commit-identity.ts';
import type { TaskDeps } from '../deps.ts';
import { holdsUntestable } from './head-check.ts';
import { resolveLandingMode } from '#host/landing-mode.ts';
import { type BranchReports, branchReports, requiredChecks, ruleChanges } from './required.ts';
import { stopDeadRuns } from './stop-runs.ts';

export async function publishRuns(deps: TaskDeps, payload: JobPayloads['publish-runs']): Promise<void> {
  const load = () => loadPublishing(deps.cell.db, payload.queueId);
  await atHost(deps, 'publish-runs', payload, load, (work, place) => publish(deps, work, place));
}

type UnstartedRun = Parameters<typeof recordUnstarted>[2][number];

async function publish(deps: TaskDeps, work: Publishing, place: HostSession): Promise<void> {
  const { cell, clock } = deps;
  const { queue, repository, stale } = work;
  const asked = await identifiedRuns(deps, work, place);
  const missing = await fetchMembers(work, place);
  const built: (BuiltRun & { readonly testBranch: string })[] = [];
  const unstarted: UnstartedRun[] = [];
  const lastLanded = asked.length === 0 ? [] : await loadLastLandedChecks(cell.reader, queue.id);
  const reportsOn = branchReports(work, place, lastLanded);
  let halt: string | null = null;
  for (const run of asked) {
    const isTested = async (sha: string) =>
      built.some((other) => other.sha === sha) || (await wasTested(cell.db, queue.id, run.id, sha));
    const result = await build(deps, work, place, run, { missing, isTested, reportsOn });
    if ('sha' in result) built.push({ ...result, testBranch: run.testBranch });
    else if (result.kind === 'halted') halt = result.why;
    else unstarted.push({ id: run.id, outcome: result });
  }
  if (built.length > 0) await withTransaction(cell, (tx) => recordBuilt(tx, queue.id, built));
  const updates: RefUpdate[] = [
    ...built.map((run) => ({ ref: branchRef(run.testBranch), from: null, to: run.sha })),
    ...stale.map((run) => ({ ref: branchRef(run.testBranch), from: run.sha, to: null })),
  ];
  const refused = await push(deps, work, place, updates);
  const isPushed = ({ testBranch }: { readonly testBranch: string }) => !refused.has(branchRef(testBranch));
  const accepted = updates.filter(({ ref }) => !refused.has(ref));
  if (accepted.length > 0) await place.host.afterPush(repository, accepted);
  const pushed = built.filter(isPushed);
  const shown = await openTestPullRequests(deps, work, place, pushed);
  await withTransaction(cell, async (tx) => {
    await holdRuns(tx, queue.id);
    await recordPushed(
      tx,
      queue.id,
      pushed.map((run) => ({ id: run.id, testPr: shown.find(({ id }) => id === run.id)?.number ?? null })),
      clock.now(),
    );
    // A branch that the host keeps does no harm: its deletion is not retried.
    await recordClosed(
      tx,
      queue.id,
      stale.map((run) => run.id),
    );
    for (const run of built)
      if (!isPushed(run))
        unstarted.push({ id: run.id, outcome: notStarted('START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH') });
    if (unstarted.length > 0) await recordUnstarted(tx, queue.id, unstarted);
    if (asked.length > 0) await enqueueReconciles(tx, [queue.id]);
  });
  await stopDeadRuns(deps, work, place.host);
  if (halt !== null) await haltForRules(deps, work, halt);
}

/**
 * Only a person can fix the rules. Until then nothing starts; these runs are retried, so no entry is removed.
 */
async function haltForRules(
  { cell, clock, log }: TaskDeps,
  { queue, repository }: Publishing,
  reason: string,
): Promise<void> {
  log.error({ queue: queue.id, reason }, 'queue halted: rules of the branch cannot be read');
  await withQueueLock(cell, queue.id, (tx, lock) =>
    haltQueue(tx, lock, repository, { reason, now: clock.now() }),
  );
  throw new NotYet(reason);
}

/**
 * Opens draft pull requests for CI that runs on nothing else. This happens before the runs count as pushed,
 * so that one which could not be opened is retried. If the host forbids it, the run continues without: its CI
 * may run on branches.
 */
async function openTestPullRequests(
  { log }: TaskDeps,
  { queue, repository, asked }: Publishing,
  { host }: HostSession,
  built: readonly BuiltRun[],
): Promise<readonly { readonly id: RunId; readonly number: number }[]> {
  if (!queue.settings.createPrsForTestingBranches) return [];
  const opened: { id: RunId; number: number }[] = [];
  for (const { id } of built) {
    const { members, testBranch: branch } = asked.find((run) => run.id === id)!;
    const { targetBranch: baseBranch } = queue;
    try {
      const titleAndBody = testPullRequestContent(queue, members);
      opened.push({
        id,
        number: await host.openTestPullRequest(repository, { branch, baseBranch, ...titleAndBody }),
      });
    } catch (error) {
      if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
      log.warn({ queue: queue.id, run: id, err: error }, 'not allowed to open draft pull requests');
    }
  }
  return opened;
}

/** The planned runs, with the commit identity of each member. */
async function identifiedRuns(
  deps: TaskDeps,
  work: Publishing,
  place: HostSession,
): Promise<readonly AskedRun[]> {
  const members = new Map(work.asked.flatMap((run) => run.members.map((member) => [member.number, member])));
  const all = await identified(deps, work, place, [...members.values()]);
  const identities = new Map(all.map(({ number, identity }) => [number, identity]));
  return work.asked.map((run) => ({
    ...run,
    members: run.members.map((member) => ({ ...member, identity: identities.get(member.number) ?? null })),
  }));
}

const notStarted = (why: FailedReason | null): NonNullable<RunReport['outcome']> => ({
  kind: 'not_started',
  why,
});

/**
 * Returns the refs that the host refused. Each ref is decided separately: an old branch that the host does
 * not allow Signalbox to delete says nothing about a new one. A branch that is not at the expected commit was moved by an
 * earlier push of Signalbox.
 */
async function push(
  { log }: TaskDeps,
  { queue }: Publishing,
  { mirror }: HostSession,
  updates: readonly RefUpdate[],
): Promise<ReadonlySet<string>> {
  if (updates.length === 0) return new Set();
  const answer = await mirror.push(updates, { isAtomic: false });
  if (answer.kind !== 'refused') return new Set();
  const { refs, message } = answer;
  log.warn({ queue: queue.id, refs, reason: message }, 'git host refused test branches');
  return new Set(refs);
}

/** Fetches the heads of the members and returns those that are missing. */
async function fetchMembers(
  { queue, asked }: Publishing,
  { mirror }: HostSession,
): Promise<ReadonlySet<string>> {
  if (asked.length === 0) return new Set();
  const heads = new Map<string, MemberRecord>();
  for (const { members } of asked) for (const member of members) heads.set(member.headSha, member);
  const pulls = [...heads.values()].map(({ number, headSha: sha }) => ({ number, sha }));
  const fetched = await mirror.fetch({ branch: queue.targetBranch, pulls });
  return new Set(fetched.missing.map(({ sha }) => sha));
}

type RunBuildContext = {
  /** Heads that could not be fetched. */
  readonly missing: ReadonlySet<string>;
  /** Whether another run of the queue has tested this very commit. */
  readonly isTested: (sha: string) => Promise<boolean>;
  /** Who reports each check on the branch. */
  readonly reportsOn: BranchReports;
};

/**
 * Builds a commit that no other run of the queue has tested. Different members can produce the same commit:
 * the branch with #1 and #2 becomes the branch with #2 once #1 has landed. So the commit is compared, not its
 * members.
 */
async function buildUntested(
  { queue }: Publishing,
  { mirror }: HostSession,
  run: AskedRun,
  isTested: RunBuildContext['isTested'],
): Promise<Candidate> {
  for (let { repeats } = run; ; repeats += 1) {
    const members = toTestCommitMembers(run.members, repeats);
    const method = queue.settings.mergeMethod;
    const selection = run.selection === null ? {} : { selection: run.selection };
    const candidate = await buildCandidate(mirror, { base: run.baseSha, members, method, ...selection });
    if (candidate.kind === 'conflict' || !(await isTested(candidate.sha))) return candidate;
  }
}

async function build(
  deps: TaskDeps,
  work: Publishing,
  place: HostSession,
  run: AskedRun,
  { missing, isTested, reportsOn }: RunBuildContext,
): Promise<BuiltRun | NonNullable<RunReport['outcome']> | Extract<Rules, { kind: 'halted' }>> {
  if (run.members.some(({ headSha }) => missing.has(headSha))) return notStarted(null);
  try {
    const candidate = await buildUntested(work, place, run, isTested);
    if (candidate.kind === 'conflict')
      return { kind: 'conflict', pr: candidate.number, with: candidate.with };
    const { sha, tree, commits } = candidate;
    // Its entry is no longer ready: the queue plans without it.
    if (await holdsUntestable(deps, work, place, { ...run, commits })) return notStarted(null);
    const kept = commits.find(({ isReworded }) => isReworded === true);
    // The host's own rebase would keep a message that skips CI, and nothing would run on the branch.
    if (
      kept !== undefined &&
      resolveLandingMode(place.host, work.queue.settings, work.queue.settings.mergeMethod) === 'host'
    )
      return { kind: 'conflict', pr: kept.number, with: 'tip' };
    const rules = await requiredChecks(work, place, { base: run.baseSha, candidate: sha }, reportsOn);
    if (rules.kind === 'failed') return { kind: 'failed', why: rules.why };
    if (rules.kind === 'halted') return rules;
    const changes = await ruleChanges(place, run.baseSha, commits);
    return { id: run.id, sha, tree, required: rules.checks, ruleChanges: changes, source: rules.source };
  } catch (error) {
    // The branch was rewritten, and the base of the run no longer exists.
    if (error instanceof GitError && error.kind === 'missing') return notStarted(null);
    throw error;
  }
}

/**
 * The input of the test commits. The same members give the same commits, so that the commits tested ahead are
 * those that land. Only a run that repeats an earlier one gets a different last commit, a second younger each
 * time: check results of the earlier run must not count for this one.
 */
export const toTestCommitMembers = (members: readonly MemberRecord[], repeats: number): TestCommitMember[] =>
  members.map(({ number, headSha, title, body, url, author, submittedAt, identity }, index) => ({
    number,
    headSha,
    title,
    body,
    url,
    author: { name: author, email: `${author}@users.noreply.invalid` },
    account: identity?.author ?? null,
    ...(identity === null ? {} : { committer: identity.committer }),
    at: index === members.length - 1 ? new Date(submittedAt.getTime() + repeats * 1_000) : submittedAt,
  }));

// Brings the runs that were asked for to the host, as test branches, and takes away those that nobody needs: everything
// of one queue in one push. What is to be there is read from the tables each time, so doing it twice does no harm, and a
// push that was interrupted is finished by the next.

import type { RunReport } from '#core/queue/engine/picture.ts';
import type { Rules } from '#core/queue/rule.ts';
import { testPullRequestWords } from '#core/queue/message.ts';
import type { FailedReason } from '#core/queue/reason.ts';
import type { RunId } from '#base/id.ts';
import { haltQueue } from '#command/change-queue.ts';
import { enqueueReconciles, type JobPayloads } from '#db/job.ts';
import { loadLastLandedChecks } from '#db/kept-check.ts';
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
} from '#db/run-store.ts';
import { withQueueLock, withTransaction } from '#db/transaction.ts';
import { buildCandidate, type Candidate, type Change } from '#git/candidate.ts';
import { GitError } from '#git/error.ts';
import { branchRef } from '#git/ref.ts';
import { HostError, type RefUpdate } from '#host/host.ts';
import { atHost, NotYet, type Place } from './at-host.ts';
import { identified } from './commit-identity.ts';
import type { TaskDeps } from './deps.ts';
import { holdsUntestable } from './head-check.ts';
import { modeOf } from './landing-mode.ts';
import { type BranchReports, branchReports, requiredChecks, ruleChanges } from './required.ts';
import { stopDeadRuns } from './stop-runs.ts';

export async function publishRuns(deps: TaskDeps, payload: JobPayloads['publish-runs']): Promise<void> {
  const load = () => loadPublishing(deps.cell.db, payload.queueId);
  await atHost(deps, 'publish-runs', payload, load, (work, place) => publish(deps, work, place));
}

type Unstarted = Parameters<typeof recordUnstarted>[2][number];

async function publish(deps: TaskDeps, work: Publishing, place: Place): Promise<void> {
  const { cell, clock } = deps;
  const { queue, repository, stale } = work;
  const asked = await identifiedRuns(deps, work, place);
  const missing = await fetchMembers(work, place);
  const built: (BuiltRun & { readonly testBranch: string })[] = [];
  const unstarted: Unstarted[] = [];
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
    // A branch that the host keeps does no harm: its deletion is not tried again.
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

/** Only a person can fix the rules: nothing starts until then, and these runs are tried again, so nothing is removed. */
async function haltForRules(
  { cell, clock, log }: TaskDeps,
  { queue, repository }: Publishing,
  reason: string,
): Promise<void> {
  log.error({ queue: queue.id, reason }, 'queue stopped: its rules cannot be read');
  await withQueueLock(cell, queue.id, (tx, lock) =>
    haltQueue(tx, lock, repository, { reason, now: clock.now() }),
  );
  throw new NotYet(reason);
}

/**
 * Draft pull requests for CI that looks at nothing else. Before the runs count as pushed, so that one which could not be
 * opened is tried again. What a host forbids is left: its CI may well look at branches.
 */
async function openTestPullRequests(
  { log }: TaskDeps,
  { queue, repository, asked }: Publishing,
  { host }: Place,
  built: readonly BuiltRun[],
): Promise<readonly { readonly id: RunId; readonly number: number }[]> {
  // The CI of the sandbox looks at branches.
  if (!queue.settings.createPrsForTestingBranches || host.repositories === 'implicit') return [];
  const opened: { id: RunId; number: number }[] = [];
  for (const { id } of built) {
    const { members, testBranch: branch } = asked.find((run) => run.id === id)!;
    const { targetBranch: baseBranch } = queue;
    try {
      const words = testPullRequestWords(queue, members);
      opened.push({
        id,
        number: await host.openTestPullRequest(repository, { branch, baseBranch, ...words }),
      });
    } catch (error) {
      if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
      log.warn({ queue: queue.id, run: id, err: error }, 'the host lets us open no draft pull request');
    }
  }
  return opened;
}

/** The runs, their members with who is named in their commits. */
async function identifiedRuns(deps: TaskDeps, work: Publishing, place: Place): Promise<readonly AskedRun[]> {
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
 * The references that the host refused, each by itself: an old branch that it does not let us delete says nothing about a
 * new one. A branch that is not where it was believed to be was moved by us before.
 */
async function push(
  { log }: TaskDeps,
  { queue }: Publishing,
  { mirror }: Place,
  updates: readonly RefUpdate[],
): Promise<ReadonlySet<string>> {
  if (updates.length === 0) return new Set();
  const answer = await mirror.push(updates, { isAtomic: false });
  if (answer.kind !== 'refused') return new Set();
  const { refs, message } = answer;
  log.warn({ queue: queue.id, refs, reason: message }, 'the host refused test branches');
  return new Set(refs);
}

/** The heads that cannot be had. */
async function fetchMembers({ queue, asked }: Publishing, { mirror }: Place): Promise<ReadonlySet<string>> {
  if (asked.length === 0) return new Set();
  const heads = new Map<string, MemberRecord>();
  for (const { members } of asked) for (const member of members) heads.set(member.headSha, member);
  const pulls = [...heads.values()].map(({ number, headSha: sha }) => ({ number, sha }));
  const fetched = await mirror.fetch({ branch: queue.targetBranch, pulls });
  return new Set(fetched.missing.map(({ sha }) => sha));
}

type Known = {
  /** Heads that cannot be had. */
  readonly missing: ReadonlySet<string>;
  /** Whether another run of the queue has tested this very commit. */
  readonly isTested: (sha: string) => Promise<boolean>;
  /** Who reports each check on the branch. */
  readonly reportsOn: BranchReports;
};

/**
 * A commit that no other run of the queue has tested. The same commits can be asked for by different names: what was the
 * branch, #1 and #2 is the branch and #2 once #1 has landed. So the commit itself is looked for, not what it is made of.
 */
async function buildUntested(
  { queue }: Publishing,
  { mirror }: Place,
  run: AskedRun,
  isTested: Known['isTested'],
): Promise<Candidate> {
  for (let { repeats } = run; ; repeats += 1) {
    const members = changesOf(run.members, repeats);
    const method = queue.settings.mergeMethod;
    const candidate = await buildCandidate(mirror, { base: run.baseSha, members, method });
    if (candidate.kind === 'conflict' || !(await isTested(candidate.sha))) return candidate;
  }
}

async function build(
  deps: TaskDeps,
  work: Publishing,
  place: Place,
  run: AskedRun,
  { missing, isTested, reportsOn }: Known,
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
    // The host's own rebase would keep the words that skip CI, and nothing would run on the branch.
    if (kept !== undefined && modeOf({ ...work, method: work.queue.settings.mergeMethod }, place) === 'host')
      return { kind: 'conflict', pr: kept.number, with: 'tip' };
    const rules = await requiredChecks(work, place, { base: run.baseSha, candidate: sha }, reportsOn);
    if (rules.kind === 'failed') return { kind: 'failed', why: rules.why };
    if (rules.kind === 'halted') return rules;
    const changes = await ruleChanges(place, run.baseSha, commits);
    return { id: run.id, sha, tree, required: rules.checks, ruleChanges: changes, source: rules.source };
  } catch (error) {
    // The branch was rewritten, and what the run was to be built on is gone.
    if (error instanceof GitError && error.kind === 'missing') return notStarted(null);
    throw error;
  }
}

/**
 * What the commits are made of. The same members give the same commits, so that what was tested ahead is what lands. Only
 * a run that repeats an earlier one has a last commit of its own, a second younger each time: what CI said of the
 * earlier must not be taken for its word on this one.
 */
export const changesOf = (members: readonly MemberRecord[], repeats: number): Change[] =>
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

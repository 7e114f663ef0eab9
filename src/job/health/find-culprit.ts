// Lists what landed where tests broke, and names the likeliest pull request (core/health/monitor/culprit.ts). The commits come from
// our mirror of the repository; if it is not available for a while, from the landings that the queue has stored. What was
// found, its event and the job of its comment commit together.

import type { RepositoryId } from '#base/id.ts';
import {
  attributeCommits,
  chainLandings,
  type CommitCandidate,
  type CommitRange,
  type LandedCommit,
  rankCandidates,
  type RankedCandidate,
  revertCommand,
} from '#core/health/monitor/culprit.ts';
import type { Tx } from '#db/cell.ts';
import {
  listUnsearchedBreakages,
  putSearched,
  type SearchedBreakage,
  type StoredCandidate,
  type UnsearchedBreakage,
  unsearchedMax,
} from '#db/run/breakage-store.ts';
import { appendTestFacts, type TestFact } from '#db/health/verdict-store.ts';
import { enqueueForRepository, type JobPayloads } from '#db/job/job.ts';
import {
  findEarlierFailures,
  findExplainedTests,
  findLandedCommits,
  listLandingsBetween,
} from '#db/run/culprit-view.ts';
import { withTestsLock } from '#db/transaction.ts';
import { GitError } from '#git/error.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import { withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

/** From then on the stored landings are used: half a minute. */
const triesMax = 6;
/** Most commits that are listed between two; with more the culprit is not looked for. */
const commitsMax = 500;
/** Candidates that are stored, and those whose files or titles are read. */
const storedMax = 50;
const titleMax = 200;

export async function findCulprits(deps: TaskDeps, payload: JobPayloads['find-culprits']): Promise<void> {
  const { repositoryId, tries = 0 } = payload;
  const unsearched = await listUnsearchedBreakages(deps.cell.db, repositoryId);
  if (unsearched.length === 0) return;
  // Without a queue for the branch nothing of ours landed there, and the repository may have no connection at all.
  const isLocal = tries >= triesMax || unsearched.every((one) => !isRange(one) || one.queueId === null);
  if (isLocal) await searchAll(deps, repositoryId, unsearched, null);
  else
    await withHost(deps, 'find-culprits', payload, [], async ({ host, repository }) => {
      const mirror = await deps.mirrors.open(repository.id, () => host.remoteOf(repository));
      try {
        await searchAll(deps, repositoryId, unsearched, mirror);
      } finally {
        deps.mirrors.leave(repository.id);
      }
    });
}

const isCommit = (sha: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(sha);

const isRange = ({ passedSha, failedSha }: UnsearchedBreakage): boolean =>
  isCommit(passedSha) && isCommit(failedSha);

async function searchAll(
  deps: TaskDeps,
  repositoryId: RepositoryId,
  unsearched: readonly UnsearchedBreakage[],
  mirror: Mirror | null,
): Promise<void> {
  const ranges = Map.groupBy(
    unsearched,
    ({ passedSha, failedSha, queueId }) => `${passedSha} ${failedSha} ${queueId ?? ''}`,
  );
  const fetched = new Set<string>();
  for (const tests of ranges.values()) {
    const { branch } = tests[0]!;
    if (mirror !== null && branch !== null && !fetched.has(branch)) {
      await mirror.fetch({ branch, pulls: [] });
      fetched.add(branch);
    }
    await record(deps, repositoryId, tests, await searchRange(deps, repositoryId, tests, mirror));
  }
  if (unsearched.length === unsearchedMax)
    await enqueueForRepository(deps.cell.db, 'find-culprits', { repositoryId });
}

/** All of these tests passed on one commit and failed on the other. */
async function searchRange(
  { cell: { db } }: TaskDeps,
  repositoryId: RepositoryId,
  tests: readonly UnsearchedBreakage[],
  mirror: Mirror | null,
): Promise<readonly SearchedBreakage[]> {
  const { passedSha, failedSha, queueId, brokenAt } = tests[0]!;
  const isKnown = isRange(tests[0]!) && queueId !== null;
  const read = isKnown && mirror !== null ? await readRange(db, repositoryId, tests, mirror) : null;
  const range =
    read?.range ??
    (isKnown
      ? await readStoredRange(db, queueId, passedSha, failedSha)
      : { candidates: [], isComplete: false });
  const ids = tests.map(({ testCaseId }) => testCaseId);
  const [failures, explained, landed] = await Promise.all([
    findEarlierFailures(db, repositoryId, failedSha, ids, brokenAt),
    findExplainedTests(db, repositoryId, failedSha, ids, brokenAt),
    findLandedCommits(db, repositoryId, [passedSha]),
  ]);
  return tests.map(({ testCaseId, filePath }) => {
    const { candidates, culprit } = rankCandidates(range, {
      failures: failures.get(testCaseId) ?? [],
      changedFile: new Set(filePath === null ? [] : (read?.changed.get(filePath) ?? [])),
      passedAt: landed.get(passedSha)?.landedAt ?? null,
    });
    return {
      testCaseId,
      passedSha,
      failedSha,
      candidates: candidates
        .slice(0, storedMax)
        .map((candidate) => toStored(candidate, read?.titles.get(candidate.sha) ?? '')),
      candidateCount: candidates.length,
      isComplete: range.isComplete,
      isExplained: explained.has(testCaseId),
      culprit: culprit && {
        prNumber: culprit.landed.prNumber,
        sha: culprit.landed.sha,
        reason: culprit.reason,
      },
    };
  });
}

const toStored = (
  { sha, landed, failedBefore, changedFile }: RankedCandidate,
  title: string,
): StoredCandidate => ({
  sha,
  prNumber: landed?.prNumber ?? null,
  title: (landed?.title ?? title).slice(0, titleMax),
  url: landed?.url ?? '',
  failedBefore,
  changedFile,
  revert: landed === null ? null : revertCommand(landed),
});

async function readStoredRange(
  db: Tx,
  queueId: string,
  passedSha: string,
  failedSha: string,
): Promise<CommitRange> {
  const landings = await listLandingsBetween(db, queueId, passedSha, failedSha, commitsMax + 1);
  if (landings.length === 0 || landings.length > commitsMax) return { candidates: [], isComplete: false };
  return chainLandings(landings, passedSha, failedSha);
}

type RangeInGit = {
  readonly range: CommitRange;
  /** By the files of tests: the commits that changed them. */
  readonly changed: ReadonlyMap<string, readonly string[]>;
  /** The first lines of commits that are not ours. */
  readonly titles: ReadonlyMap<string, string>;
};

const waitKinds: ReadonlySet<GitError['kind']> = new Set(['unreachable', 'fetching', 'damaged', 'no_room']);

/** Null: the mirror does not have these commits. */
async function readRange(
  db: Tx,
  repositoryId: RepositoryId,
  tests: readonly UnsearchedBreakage[],
  mirror: Mirror,
): Promise<RangeInGit | null> {
  const { passedSha, failedSha } = tests[0]!;
  try {
    const shas = await mirror.firstParents(passedSha, failedSha, commitsMax + 1);
    // Uploads may arrive in another order than their commits: then nothing is in between.
    if (shas === null || shas.length > commitsMax)
      return { range: { candidates: [], isComplete: false }, changed: new Map(), titles: new Map() };
    const candidates = attributeCommits(shas, await findLandedCommits(db, repositoryId, shas));
    const few = candidates.length <= storedMax ? candidates : [];
    const files = new Set(tests.flatMap(({ filePath }) => (filePath === null ? [] : [filePath])));
    return {
      range: { candidates, isComplete: true },
      changed: await findChanges(mirror, few, [...files]),
      titles: await readTitles(mirror, candidates),
    };
  } catch (error) {
    if (error instanceof GitError && !waitKinds.has(error.kind)) return null;
    throw error;
  }
}

const filesMax = 100;

/** The path of a test in its report may begin below the root of the repository. */
async function findChanges(
  mirror: Mirror,
  candidates: readonly CommitCandidate[],
  files: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const changed = new Map<string, string[]>();
  const paths = files
    .map((file) => [file, file.replace(/^(\.?\/)+/, '')] as const)
    .filter(([, path]) => path !== '' && path.length <= 500 && !/[\0\n]/.test(path))
    .slice(0, filesMax);
  if (paths.length === 0) return changed;
  const globs = paths.flatMap(([, path]) => {
    const literal = path.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);
    return [literal, `**/${literal}`];
  });
  for (const { sha, landed } of candidates) {
    const before = await parentOf(mirror, sha, landed);
    if (before === null) continue;
    const touched = await mirror.changedPaths(before, sha, globs);
    for (const [file, path] of paths)
      if (touched.some((one) => one === path || one.endsWith(`/${path}`)))
        changed.set(file, [...(changed.get(file) ?? []), sha]);
  }
  return changed;
}

/** A rebased pull request is compared as a whole. */
const parentOf = async (mirror: Mirror, sha: string, landed: LandedCommit | null): Promise<string | null> =>
  landed?.method === 'rebase' ? landed.before : ((await mirror.parentsOf(sha))[0] ?? null);

async function readTitles(
  mirror: Mirror,
  candidates: readonly CommitCandidate[],
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  for (const { sha } of candidates.filter(({ landed }) => landed === null).slice(-storedMax)) {
    const { message } = await mirror.commit(sha);
    titles.set(sha, (message.split('\n')[0] ?? '').slice(0, titleMax));
  }
  return titles;
}

async function record(
  { cell, clock }: TaskDeps,
  repositoryId: RepositoryId,
  tests: readonly UnsearchedBreakage[],
  found: readonly SearchedBreakage[],
): Promise<void> {
  const now = clock.now();
  await withTestsLock(cell, repositoryId, async (tx, lock) => {
    const counting = await putSearched(tx, lock, found, now);
    const news = found.filter(({ testCaseId }) => counting.has(testCaseId));
    const { uploadId } = tests[0]!;
    const trigger = uploadId === null ? ({ kind: 'time' } as const) : ({ kind: 'upload', uploadId } as const);
    await appendTestFacts(tx, lock, news.map(toFact), trigger, now);
    const comments = news.flatMap(({ testCaseId, culprit, isExplained }) => [
      ...(culprit === null || isExplained ? [] : [{ prNumber: culprit.prNumber, sha: culprit.sha }]),
      // The comment of this breakage may be on a pull request that is no longer the likeliest.
      ...[counting.get(testCaseId) ?? []].flat(),
    ]);
    const once = new Map(comments.map((one) => [`${one.prNumber} ${one.sha}`, one]));
    for (const one of once.values())
      await enqueueForRepository(tx, 'comment-culprit', { repositoryId, ...one });
  });
}

/** Candidates in an event. */
const eventMax = 20;

const toFact = ({
  testCaseId,
  passedSha,
  failedSha,
  candidates,
  candidateCount,
  isComplete,
  culprit,
}: SearchedBreakage): TestFact => ({
  testCaseId,
  kind: 'breakage_located',
  before: { culprit: null },
  after: {
    culprit: culprit?.prNumber ?? null,
    reason: culprit?.reason ?? null,
    passed_sha: passedSha === '' ? null : passedSha,
    failed_sha: failedSha,
    candidates: candidates
      .slice(0, eventMax)
      .map(({ sha, prNumber, title }) => ({ sha, pull_request: prNumber, title })),
    candidate_count: candidateCount,
    is_complete: isComplete,
    revert_command: culprit === null ? null : (candidates[0]?.revert ?? null),
  },
});

// The CI of the demo. It finds the test branches that the queue has pushed, reads the tree of each with git,
// takes its time, uploads a JUnit report through the endpoint that any CI uses, and reports the result.
// Failed tests that are quarantined do not fail a run, as with `signalbox test`.
//
// It also tests the branch after landings, with one more attempt if something failed: a test that then passes
// on the same commit is how Signalbox detects flaky tests.

import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestRun } from '#contract/testing.ts';
import { runGit } from '#git/run.ts';
import { type FailedDemoTest, failuresBy, drawFlakes, renderJunitReport } from './suite.ts';
import { breakersIn } from './workload.ts';
import { type Course, isAbort, keepDoing, pause, type World } from './world.ts';

const pollMs = 250;
const pastCommits = 12;

export async function runCi(world: World): Promise<void> {
  await Promise.all(
    world.courses.flatMap((course) => [
      watchRuns(world, course),
      watchBranch(world, course),
      uploadPast(world, course).catch((error: unknown) => {
        if (!isAbort(error)) world.onProblem(error);
      }),
    ]),
  );
}

/** A run in progress, by its id and commit: a run that is built again on another commit is a new one. */
type Running = { readonly stop: AbortController };

async function watchRuns(world: World, course: Course): Promise<void> {
  const running = new Map<string, Running>();
  const attempts = new Map<number, number>();
  const { repo, targetBranch } = course.repository;
  await keepDoing(world, pollMs, async () => {
    const answer = await world.client.call('getMergeQueueTestingDetails', { repo, targetBranch });
    const runs = 'testRuns' in answer ? answer.testRuns : [answer];
    const keys = new Set<string>();
    for (const run of runs) {
      const { testRunId, testBranchSha: sha, status } = run;
      if (sha === null || status !== 'in_progress') continue;
      const key = `${testRunId} ${sha}`;
      keys.add(key);
      if (running.has(key)) continue;
      const last = run.testedPullRequests.at(-1)!.prNumber;
      attempts.set(last, (attempts.get(last) ?? 0) + 1);
      const stop = new AbortController();
      running.set(key, { stop });
      void perform(world, course, { run, sha, last, attempt: attempts.get(last)!, stop: stop.signal });
    }
    for (const [key, { stop }] of running)
      if (!keys.has(key)) {
        stop.abort();
        running.delete(key);
      }
  });
}

type Performance = {
  readonly run: TestRun;
  readonly sha: string;
  /** The number of the last pull request under test: it decides how long CI takes. */
  readonly last: number;
  /** The count of runs with this last pull request. */
  readonly attempt: number;
  readonly stop: AbortSignal;
};

async function perform(world: World, course: Course, performance: Performance): Promise<void> {
  const { run, sha, last, attempt, stop } = performance;
  const { client, seed, speed, flakeRate } = world;
  const { repository } = course;
  const begunAt = Date.now();
  course.runs += 1;
  try {
    const signal = AbortSignal.any([stop, world.signal]);
    const paths = await pathsIn(course.folder, sha, signal);
    await pause({ speed, signal }, course.changes.get(last)?.ciMs ?? 0);
    const broken = breakersIn(paths).flatMap((number) => failuresBy(repository, course.changes.get(number)!));
    const failed = [
      ...broken,
      ...drawFlakes(repository, flakeRate, seed, repository.repo.name, last, attempt),
    ];
    const source = { sha, branch: run.testBranch, pr: last, runId: run.testRunId };
    await client.uploadReport(repository, source, renderJunitReport(repository, failed));
    const state = (await areExcused(world, course, failed)) ? 'success' : 'failure';
    if (!stop.aborted)
      await client.call('sandboxSetCheck', { repo: repository.repo, sha, name: 'ci/test', state });
  } catch (error) {
    if (!isAbort(error)) world.onProblem(error);
    else if (!world.signal.aborted) course.restarts += 1;
  } finally {
    course.ciMs += Date.now() - begunAt;
  }
}

/** The paths of a commit's tree, once it is pushed: the queue knows its commits before that. */
async function pathsIn(folder: string, commit: string, signal: AbortSignal): Promise<readonly string[]> {
  for (;;) {
    const call = { args: ['ls-tree', '-r', '--name-only', commit], exitCodes: [0, 128] };
    const { exitCode, stdout } = await runGit({ directory: folder }, call);
    if (exitCode === 0) return stdout.toString().split('\n');
    await sleep(pollMs / 2, undefined, { signal });
  }
}

/** Whether all failed tests are quarantined. */
async function areExcused({ client }: World, { repository }: Course, failed: readonly FailedDemoTest[]) {
  if (failed.length === 0) return true;
  const { isDisabled, testIds } = await client.call('getQuarantineConfig', {
    repo: repository.repo,
    orgUrlSlug: client.organization,
    testIdentifiers: failed.map(({ name, area, file }) => ({
      id: name,
      name,
      className: area,
      parentName: repository.repo.name,
      file,
    })),
  });
  return !isDisabled && failed.every(({ name }) => testIds.includes(name));
}

/** Tests the branch whenever it has moved. */
async function watchBranch(world: World, course: Course): Promise<void> {
  let tested = await readBranchHead(course);
  await keepDoing(world, 3_000 / world.speed, async () => {
    const sha = await readBranchHead(course);
    if (sha === tested) return;
    tested = sha;
    await testCommit(world, course, sha, drawFlakes(course.repository, world.flakeRate, world.seed, sha));
  });
}

async function readBranchHead({ folder, repository }: Course): Promise<string> {
  const args = ['rev-parse', `refs/heads/${repository.targetBranch}`];
  return (await runGit({ directory: folder }, { args })).stdout.toString().trim();
}

async function testCommit(
  { client }: World,
  { repository }: Course,
  sha: string,
  failed: readonly FailedDemoTest[],
) {
  const source = { sha, branch: repository.targetBranch, runId: sha };
  await client.uploadReport(repository, source, renderJunitReport(repository, failed));
  if (failed.length > 0)
    await client.uploadReport(repository, { ...source, attempt: 2 }, renderJunitReport(repository, []));
}

/** Reports from before the demo began, so that its flakiest test has a history. */
async function uploadPast(world: World, course: Course): Promise<void> {
  if (world.flakeRate === 0) return;
  for (let index = 0; index < pastCommits; index += 1) {
    const sha = hash('sha1', `${course.repository.repo.name} ${index}`, 'hex');
    const [flakiest] = drawFlakes(course.repository, Infinity);
    await testCommit(world, course, sha, index % 3 === 1 ? [flakiest!] : []);
  }
}

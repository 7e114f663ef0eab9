import { expect, it } from 'vitest';
import { main, pr, widgets } from '../harness.ts';
import { openHealthWorld, type Outcome } from './world.ts';

const commit = (letter: string) => letter.repeat(40);

/** A repository with a queue, in which `wobbles` is known to be flaky, and #1 is under test. */
async function openQueue() {
  const health = await openHealthWorld();
  const { world, upload } = health;
  const usual = { adds: 'pass', wobbles: 'pass', sorts: 'pass' } as const;
  for (const letter of ['a', 'b', 'c']) {
    await upload({ sha: commit(letter), results: { ...usual, wobbles: { fail: 'timed out' } } });
    await upload({ sha: commit(letter), results: usual, runId: 'again' });
  }
  const team = await world.client();
  await team.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
  await team.call('createQueue', { ...main, requiredStatuses: ['unit'] });
  await team.call('submitPullRequest', pr(1));
  await world.runJobs();
  const runOf = async () => {
    const run = await team.call('getMergeQueueTestingDetails', pr(1));
    if (!('testRunId' in run)) throw new Error('it has a run');
    return run;
  };
  const { testBranchSha: sha, testBranch: branch } = await runOf();
  return {
    ...health,
    team,
    runOf,
    report: (changes: Readonly<Record<string, Outcome>>, trust: 'full' | 'untrusted' = 'full') =>
      upload({ sha: sha!, branch, results: { ...usual, ...changes }, trust }),
    /** What the list of past runs says of it. */
    pastRuns: async () => {
      const at = world.clock.now().getTime();
      const [since, until] = [at - 3_600_000, at + 60_000].map((instant) => new Date(instant).toISOString());
      return (await team.call('listTestRuns', { ...main, since: since!, until: until! })).testRuns;
    },
    ciFails: async () => {
      await team.call('sandboxSetCheck', { repo: widgets, sha: sha!, name: 'unit', state: 'failure' });
      await world.runJobs();
    },
  };
}

it('ties a report to the run whose commit it is about, and says of each failing test what is known', async () => {
  const { report, ciFails, runOf, pastRuns, team } = await openQueue();
  await ciFails();
  expect(await pastRuns()).toMatchObject([{ status: 'failed', failedByFlakyTests: null }]);
  await report({ wobbles: { fail: 'timed out' }, adds: 'skip' });
  expect(await pastRuns()).toMatchObject([{ failedByFlakyTests: true }]);
  await report({ wobbles: { fail: 'timed out' }, adds: { fail: 'expected 3, got 4' } });
  expect(await pastRuns()).toMatchObject([{ failedByFlakyTests: false }]);
  const failedTests = {
    count: 2,
    first: [
      expect.objectContaining({ name: 'adds', verdict: 'new', isQuarantined: false }),
      expect.objectContaining({ name: 'wobbles', verdict: 'flaky' }),
    ],
  };
  expect((await runOf()).failedTests).toEqual(failedTests);
  expect(await team.call('getSubmittedPullRequest', pr(1))).toMatchObject({ state: 'failed', failedTests });
});

it('names the failing tests on the pull request, also where the report comes after the verdict', async () => {
  const { report, ciFails, team, world } = await openQueue();
  const comment = async () => {
    await world.makeJobsDue();
    await world.runJobs();
    const { comments } = await team.call('sandboxListComments', { repo: widgets, pr: { number: 1 } });
    return comments.map((comment) => JSON.stringify(comment)).join('\n');
  };
  await ciFails();
  expect(await comment()).toContain('Left the queue: unit failed');
  expect(await comment()).not.toContain('wobbles');
  await report({ wobbles: { fail: 'timed out' }, adds: { fail: 'expected 3, got 4' } });
  const told = await comment();
  expect(told).toContain('`adds`: new with this change');
  expect(told).toContain('`wobbles`: known to be flaky');
});

it('hears nothing from those who may only upload', async () => {
  const { report, ciFails, runOf } = await openQueue();
  await report({ adds: { fail: 'expected 3, got 4' } }, 'untrusted');
  await ciFails();
  expect((await runOf()).failedTests).toEqual({ count: 0, first: [] });
});

import { expect, it } from 'vitest';
import { main, pr, widgets } from '../support/harness.ts';
import { openHealthWorld, type Outcome } from './world.ts';

const commit = (letter: string) => letter.repeat(40);

/** A repository with a queue, in which `wobbles` is known to be flaky, and #1 is under test. */
async function openQueue(settings: object = {}) {
  const health = await openHealthWorld();
  const { world, upload, store } = health;
  const usual = { adds: 'pass', wobbles: 'pass', sorts: 'pass' } as const;
  for (const letter of ['a', 'b', 'c']) {
    await upload({ sha: commit(letter), results: { ...usual, wobbles: { fail: 'timed out' } } });
    await upload({ sha: commit(letter), results: usual, runId: 'again' });
  }
  const team = await world.client();
  await team.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
  await team.call('createQueue', { ...main, requiredStatuses: ['unit'], ...settings });
  await team.call('submitPullRequest', pr(1));
  await world.runJobs();
  const runOf = async () => {
    const run = await team.call('getMergeQueueTestingDetails', pr(1));
    if (!('testRunId' in run)) throw new Error('it has a run');
    return run;
  };
  const reportOf = async (changes: Readonly<Record<string, Outcome>>, trust: 'full' | 'untrusted') => {
    const { testBranchSha: sha, testBranch: branch } = await runOf();
    return { sha: sha!, branch, results: { ...usual, ...changes }, trust };
  };
  const say = async (state: 'failure' | 'success') => {
    const { testBranchSha: sha } = await runOf();
    await team.call('sandboxSetCheck', { repo: widgets, sha: sha!, name: 'unit', state });
  };
  return {
    ...health,
    team,
    runOf,
    report: async (changes: Readonly<Record<string, Outcome>>, trust: 'full' | 'untrusted' = 'full') =>
      upload(await reportOf(changes, trust)),
    /** The report arrives; it is not read yet. */
    send: async (changes: Readonly<Record<string, Outcome>>) => store(await reportOf(changes, 'full')),
    say,
    see: () => team.call('getSubmittedPullRequest', pr(1)),
    /** What the list of past runs says of it. */
    pastRuns: async () => {
      const at = world.clock.now().getTime();
      const [since, until] = [at - 3_600_000, at + 60_000].map((instant) => new Date(instant).toISOString());
      return (await team.call('listTestRuns', { ...main, since: since!, until: until! })).testRuns;
    },
    ciFails: async () => {
      await say('failure');
      await world.runJobs();
    },
    ciPasses: async () => {
      await say('success');
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
  expect(await comment()).toContain('Removed from the queue: unit failed');
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

const wobbled = { wobbles: { fail: 'timed out' } } as const;

it('repeats a run in which only flaky tests failed, says so, and merges what passes then', async () => {
  const { report, ciFails, ciPasses, runOf, see, team } = await openQueue();
  const first = await runOf();
  await report(wobbled);
  await ciFails();
  expect(await see()).toMatchObject({ state: 'testing' });
  const { timeline, waitingFor } = await team.call('getSubmittedPullRequest', {
    ...pr(1),
    includeTimeline: true,
  });
  expect(timeline).toContainEqual(expect.objectContaining({ reason: 'FLAKY_TESTS_FAILED' }));
  expect(waitingFor.join(' ')).toContain('every test that failed is known to be flaky. They run again.');
  expect((await runOf()).testRunId).not.toBe(first.testRunId);
  await ciPasses();
  expect(await see()).toMatchObject({ state: 'merged' });
  expect(await team.call('getLanding', pr(1))).toMatchObject({ flakyTestRunIds: [first.testRunId] });
});

it('counts the failure if it fails again, or if another test fails too', async () => {
  const again = await openQueue();
  for (let run = 0; run < 2; run++) {
    await again.report(wobbled);
    await again.ciFails();
  }
  expect(await again.see()).toMatchObject({ state: 'failed' });
  const other = await openQueue();
  await other.report({ ...wobbled, adds: { fail: 'expected 3, got 4' } });
  await other.ciFails();
  expect(await other.see()).toMatchObject({ state: 'failed' });
});

it('counts every failure in a queue that reruns none, and reads no reports for it', async () => {
  const { report, ciFails, see } = await openQueue({ flakeReruns: 0 });
  await report(wobbled);
  await ciFails();
  expect(await see()).toMatchObject({ state: 'failed' });
});

it.each([
  ['every test that failed is quarantined, so that another check failed', 'quarantined = failed'],
  ['tests are missing that its job usually has', 'usual_tests = 300, missing_tests = 4'],
  ['Signalbox could not read all of it', 'is_complete = false'],
  ['too many tests failed at once', 'is_suspect = true'],
  ['more tests failed than are listed', 'failed = failed + 1'],
])('counts the failure if, by the report, %s', async (_, change) => {
  const { report, ciFails, see, world } = await openQueue();
  await report(wobbled);
  await world.cell.pool.query(`update upload set ${change} where failed > 0 and branch like 'signalbox/%'`);
  await ciFails();
  expect(await see()).toMatchObject({ state: 'failed' });
});

it('is not persuaded by those who may only upload', async () => {
  const { report, ciFails, see } = await openQueue();
  await report(wobbled, 'untrusted');
  await ciFails();
  expect(await see()).toMatchObject({ state: 'failed' });
});

it('waits until a report that has arrived is read, and then decides', async () => {
  const { send, say, runOf, see, world } = await openQueue();
  const { testRunId } = await runOf();
  await send(wobbled);
  await say('failure');
  await world.runJobs(['ingest-upload']);
  expect(await see()).toMatchObject({ state: 'testing' });
  expect((await runOf()).testRunId).toBe(testRunId);
  await world.runJobs();
  world.clock.advance(2_000);
  await world.makeJobsDue();
  await world.runJobs();
  expect(await see()).toMatchObject({ state: 'testing' });
  expect((await runOf()).testRunId).not.toBe(testRunId);
});

// CI that works on a test run which was given up is stopped, and what that saves is counted.
import { expect, it } from 'vitest';
import { HostError, type HostFor } from '#host/host.ts';
import { type Story, storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';

const openStory = storyTeller();

/** What CI of the sandbox is at for a commit. */
const ciOf = async ({ client, repo }: Story, sha: string) => {
  const { ciRuns, checks } = await client.call('sandboxGetRepository', { repo, sha });
  return { runs: ciRuns!.map(({ state, outcome }) => ({ state, outcome })), checks: checks! };
};

it('stops CI of a pull request that is cancelled', async () => {
  const story = await openStory();
  const { team, ci, time, expectCancelled } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  const { testBranchSha } = await ci.runOf(1);
  expect(await ciOf(story, testBranchSha!)).toMatchObject({ runs: [{ state: 'queued' }] });
  await team.cancel(1);
  await time.wait();
  await expectCancelled(1);
  expect(await ciOf(story, testBranchSha!)).toMatchObject({
    runs: [{ state: 'done', outcome: null }],
    checks: [{ name: 'ci/test', state: 'cancelled' }],
  });
});

it('stops CI of runs that are out of time or built on a pull request that left, and of no other', async () => {
  const story = await openStory({ settings: { testingTimeoutMinutes: 30 } });
  const { team, ci, time, expectMerged } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  const behind = await ci.runOf(2);
  await team.cancel(1);
  await time.wait();
  expect(await ciOf(story, behind.testBranchSha!)).toMatchObject({ runs: [{ state: 'done' }] });
  const late = await ci.runOf(2);
  expect(await ciOf(story, late.testBranchSha!)).toMatchObject({ runs: [{ state: 'queued' }] });
  await time.pass(31);
  expect(await ciOf(story, late.testBranchSha!)).toMatchObject({ runs: [{ state: 'done' }] });
  const last = await ci.runOf(2);
  expect(await ciOf(story, last.testBranchSha!)).toMatchObject({ runs: [{ state: 'queued' }] });
  await ci.pass(2);
  await expectMerged(2);
  // CI's own result stands: a run that passed is not stopped.
  expect((await ciOf(story, last.testBranchSha!)).checks).toMatchObject([{ state: 'success' }]);
});

it('counts the minutes that CI would have worked on', async () => {
  const story = await openStory();
  const { client, main, team, ci, time, world, repository } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  const { testRunId } = await ci.runOf(1);
  // The median of the queue is half an hour.
  await sql(world.cell.db)`update queue_plan set test_p50_ms = 1800000, measured_at = now() + interval '1 day'
    where queue_id in (select id from queue where repository_id = ${repository.id})`;
  await sql(world.cell.db)`update test_run set started_at = pushed_at where id = ${testRunId}`;
  await time.pass(10);
  await team.cancel(1);
  await time.wait();
  const now = world.clock.now().getTime();
  const [since, until] = [now - 3_600_000, now + 3_600_000].map((at) => new Date(at).toISOString());
  const { totals } = await client.call('getQueueHistory', { ...main, since: since!, until: until! });
  expect(totals.ciMinutesSaved).toBeCloseTo(20, 0);
});

const deaf = storyTeller({
  wrapHosts:
    (hostFor: HostFor): HostFor =>
    (cell, name) => {
      const host = hostFor(cell, name);
      if (host === null) return null;
      return { ...host, stopRuns: () => Promise.reject(new HostError('unavailable', 'Not now.')) };
    },
});

it('decides on, and takes no host for away, where CI cannot be stopped', async () => {
  const { team, ci, time, queue, expectCancelled, expectMerged } = await deaf();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  await team.cancel(1);
  await time.wait();
  await expectCancelled(1);
  expect((await queue()).isHostAway).toBe(false);
  await ci.pass(2);
  await expectMerged(2);
});

// CI's own trouble is no pull request's failure: the run is repeated on another commit, with pauses, and only when every
// repeat has no result either does the pull request leave, with a reason that does not say that its tests failed.
import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';

const openStory = storyTeller();
type Story = Awaited<ReturnType<typeof openStory>>;

const conclusions = ['cancelled', 'stale', 'startup_failure', 'action_required'] as const;

/** CI ends the newest run of a pull request like this. */
async function conclude({ ci }: Story, pr: number, conclusion: string): Promise<void> {
  const { testBranchSha } = await ci.runOf(pr);
  await ci.say(testBranchSha!, 'ci/test', conclusion);
}

it.each([...conclusions, 'timed_out'])('removes no pull request because CI ended %s', async (conclusion) => {
  const story = await openStory();
  const { team, ci, time, see, waitingFor, expectState, expectMerged } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  const [first, behind] = [await ci.runOf(1), await ci.runOf(2)];
  await conclude(story, 1, conclusion);
  await expectState(1, 'testing');
  expect(await waitingFor(1)).toMatch(/CI gave no result\. Signalbox repeats its tests after a pause\./);
  await time.pass(1);
  const again = await ci.runOf(1);
  expect(again.testRunId).not.toBe(first.testRunId);
  expect(again.testBranchSha).not.toBe(first.testBranchSha);
  expect(again.testTreeSha).toBe(first.testTreeSha);
  // Nothing behind it is disturbed.
  expect((await ci.runOf(2)).testRunId).toBe(behind.testRunId);
  await ci.pass(2);
  await ci.pass(1);
  await expectMerged(1, 2);
  expect((await see(1)).conclusionReason).toBe('MERGE_GRAPH_MERGE');
});

it('repeats a run three times, and then the pull request leaves with a reason of its own', async () => {
  const story = await openStory();
  const { team, ci, time, people, expectFailed, expectState } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  const commits = new Set<string | null>();
  for (const minutes of [1, 4, 16]) {
    commits.add((await ci.runOf(1)).testBranchSha);
    await conclude(story, 1, 'cancelled');
    await expectState(1, 'testing');
    await time.pass(minutes);
  }
  commits.add((await ci.runOf(1)).testBranchSha);
  expect(commits.size).toBe(4);
  await conclude(story, 1, 'cancelled');
  await expectFailed(1, 'TEST_RUN_INFRASTRUCTURE_FAILED');
  const comment = (await people.words(1)).join('\n');
  expect(comment).toContain('CI gave no result');
  expect(comment).toContain('No required check failed.');
  expect(comment).not.toMatch(/tests failed/);
});

it('fails a pull request whose check runs out of time twice', async () => {
  const story = await openStory();
  const { team, time, see } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await conclude(story, 1, 'timed_out');
  await time.pass(1);
  expect((await see(1)).state).toBe('testing');
  await conclude(story, 1, 'timed_out');
  expect((await see(1)).conclusionReason).toBe('TEST_RUN_TIMEOUT');
});

it('does not bisect a batch whose CI was cancelled', async () => {
  const story = await openStory({ settings: { batch: true, batchingMinSize: 2 } });
  const { team, ci, time, runs, reasons, expectMerged } = story;
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  await conclude(story, 2, 'cancelled');
  await time.pass(1);
  expect((await runs()).map((run) => run.testedPullRequests.map(({ prNumber }) => prNumber))).toEqual([
    [1, 2],
  ]);
  expect(await reasons(1)).not.toContain('BISECTION_REQUIRED');
  await ci.pass(2);
  await expectMerged(1, 2);
});

it('starts CI again after three minutes where its dispatch was lost, and removes no pull request', async () => {
  const { team, ci, time, expectState, expectMerged } = await openStory({
    settings: { requiredStatuses: ['ci/test'] },
    sandbox: { ci: { mode: 'manual', contexts: [] } },
  });
  await team.submit(1, { files: { 'a.txt': 'a' } });
  const lost = await ci.runOf(1);
  await time.pass(2);
  expect((await ci.runOf(1)).testRunId).toBe(lost.testRunId);
  await time.pass(2);
  const again = await ci.runOf(1);
  expect(again.testBranchSha).not.toBe(lost.testBranchSha);
  await expectState(1, 'testing');
  await ci.begin(1);
  await time.pass(30);
  await ci.pass(1);
  await expectMerged(1);
});

it('gives CI as long to begin as it took before', async () => {
  const { team, ci, time, world, repository, expectMerged } = await openStory({
    settings: { requiredStatuses: ['ci/test'] },
    sandbox: { ci: { mode: 'manual', contexts: [] } },
  });
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await ci.begin(1);
  // CI of this queue takes ten minutes to begin.
  await sql(world.cell.db)`update test_run set started_at = pushed_at + interval '10 minutes'
    where queue_id in (select id from queue where repository_id = ${repository.id})`;
  await ci.pass(1);
  await expectMerged(1);
  await team.submit(2, { files: { 'b.txt': 'b' } });
  const first = await ci.runOf(2);
  await time.pass(19);
  expect((await ci.runOf(2)).testRunId).toBe(first.testRunId);
  await time.pass(2);
  expect((await ci.runOf(2)).testRunId).not.toBe(first.testRunId);
});

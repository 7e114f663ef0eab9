// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { membersOf, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

it('fails one that is red on the branch itself', async () => {
  const { team, ci, see, git, expectFailed } = await openStory();
  await team.submit(1);
  await ci.fail(1);
  await expectFailed(1);
  expect((await see(1)).isCurrentlySubmittedToQueue).toBe(false);
  expect(await git('rev-list', '--count', 'main')).toBe('1');
});

it('blames nobody behind for a failure ahead: it leaves, and they begin anew without it', async () => {
  const { team, ci, runs, reasons, branchContent, expectFailed, expectMerged } = await openStory();
  await team.submit(1, { files: { 'bad.txt': 'bad' } });
  await team.submit(2, { files: { 'good.txt': 'good' } });
  await ci.fail(2);
  await ci.fail(1);
  await expectFailed(1);
  expect((await runs()).map(membersOf)).toEqual([[2]]);
  expect(await reasons(2)).toContain('PREREQUISITE_MERGE_ITEM_FAILED');
  await ci.pass(2);
  await expectMerged(2);
  expect(await branchContent()).toEqual({ 'good.txt': 'good' });
});

it('waits with its verdict until what it was tested on top of has landed', async () => {
  const { team, ci, waitingFor, expectState, expectMerged, expectFailed } = await openStory();
  await team.submit(1);
  await team.submit(2);
  await ci.fail(2);
  await expectState(2, 'pending_failure');
  expect(await waitingFor(2)).toMatch(/failed with #1 ahead of it\. .* once #1 has merged\./);
  await ci.pass(1);
  await expectMerged(1);
  await expectFailed(2);
});

it('does not remove one for a change ahead that passed and was then cancelled', async () => {
  const { team, ci, holdBack, release, expectCancelled, expectMerged } = await openStory();
  await team.submit(1);
  await team.submit(2);
  await ci.fail(2);
  holdBack('reconcile-queue');
  await ci.pass(1);
  await team.cancel(1);
  await release();
  await expectCancelled(1);
  await ci.pass(2);
  await expectMerged(2);
});

it('waits for as many successors as the failure depth says, and no more', async () => {
  const { team, ci, waitingFor, expectState, expectFailed } = await openStory({
    settings: { pendingFailureDepth: 1 },
  });
  for (const pr of [1, 2, 3]) await team.submit(pr);
  await ci.fail(1);
  await expectState(1, 'pending_failure');
  expect(await waitingFor(1)).toMatch(/waits for the pull requests behind it/);
  await ci.fail(2);
  await expectFailed(1);
  await expectState(2, 'testing');
  await expectState(3, 'testing');
});

it('clears a failure when a run that contains it passes and merging is optimistic', async () => {
  const { team, ci, branchLog, expectState, expectMerged } = await openStory({
    settings: { pendingFailureDepth: 2, canOptimisticallyMerge: true },
  });
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  await ci.fail(1);
  await expectState(1, 'pending_failure');
  await ci.pass(2);
  await expectMerged(1, 2);
  expect(await branchLog()).toEqual(['One (#1)', 'Two (#2)']);
});

it('fails one whose successor passes where merging is not optimistic', async () => {
  const { team, ci, expectFailed, expectState } = await openStory({ settings: { pendingFailureDepth: 1 } });
  await team.submit(1);
  await team.submit(2);
  await ci.fail(1);
  await ci.pass(2);
  await expectFailed(1);
  await expectState(2, 'testing');
});

it('lands what a later run proves before its own has ended, where merging is optimistic', async () => {
  const { team, ci, runs, expectMerged } = await openStory({ settings: { canOptimisticallyMerge: true } });
  await team.submit(1);
  await team.submit(2);
  await ci.pass(2);
  await expectMerged(1, 2);
  expect(await runs()).toEqual([]);
});

it('tries a run once more that ran out of time, and fails it the second time', async () => {
  const { team, ci, time, runs, expectState, expectFailed } = await openStory({
    settings: { testingTimeoutMinutes: 30 },
  });
  await team.submit(1);
  await ci.begin(1);
  const first = await ci.runOf(1);
  await time.pass(31);
  await expectState(1, 'testing');
  const second = await ci.runOf(1);
  expect(second.testRunId).not.toBe(first.testRunId);
  expect(second.testTreeSha).toBe(first.testTreeSha);
  expect(await runs()).toHaveLength(1);
  await time.pass(31);
  await expectFailed(1, 'TEST_RUN_TIMEOUT');
});

it('lands one whose second run passes after the first ran out of time', async () => {
  const { team, ci, time, expectMerged } = await openStory({ settings: { testingTimeoutMinutes: 30 } });
  await team.submit(1);
  await time.pass(31);
  await ci.pass(1);
  await expectMerged(1);
});

it('believes nothing that CI says of a run that ran out of time', async () => {
  const { team, ci, time, expectState, expectMerged } = await openStory({
    settings: { testingTimeoutMinutes: 30 },
  });
  await team.submit(1);
  const first = await ci.runOf(1);
  await time.pass(31);
  await ci.say(first.testBranchSha!, 'ci/test', 'failure');
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
});

it('starts CI again that has not begun after three minutes, however long it may take then', async () => {
  const { team, ci, time, waitingFor, expectState, expectFailed } = await openStory({
    settings: { testingTimeoutMinutes: 600, requiredStatuses: ['ci/test'] },
    sandbox: { ci: { mode: 'manual', contexts: [] } },
  });
  await team.submit(1);
  const first = await ci.runOf(1);
  await time.pass(2);
  expect((await ci.runOf(1)).testRunId).toBe(first.testRunId);
  expect(await waitingFor(1)).toMatch(/have not started. Not reported yet: ci\/test/);
  await time.pass(2);
  const second = await ci.runOf(1);
  expect([second.testRunId, second.testBranchSha]).not.toContain(first.testRunId);
  expect(second.testBranchSha).not.toBe(first.testBranchSha);
  expect(second.testTreeSha).toBe(first.testTreeSha);
  for (const attempt of [1, 2]) {
    await ci.begin(1);
    await time.pass(599);
    await expectState(1, 'testing');
    await time.pass(2);
    if (attempt === 1) await expectState(1, 'testing');
  }
  await expectFailed(1, 'TEST_RUN_TIMEOUT');
});

it('tries several times to start what cannot be started, with pauses, and the rest goes on', async () => {
  const { team, ci, time, waitingFor, expectState, expectFailed, expectMerged } = await openStory();
  await team.submit(1, { sha: 'feedface00000000000000000000000000000001' });
  await expectState(1, 'testing');
  expect(await waitingFor(1)).toMatch(/repeats its tests after a pause/);
  await team.submit(2);
  for (let attempt = 0; attempt < 5; attempt += 1) await time.pass(5);
  await expectFailed(1, 'START_TEST_RUN_RETRY_EXHAUSTED');
  await ci.pass(2);
  await expectMerged(2);
});

it('fails one whose test branch the host will not have', async () => {
  const { team, client, repo, time, expectFailed } = await openStory();
  // A branch of this name leaves no room for branches below it.
  await client.call('sandboxCommit', { repo, branch: 'signalbox', files: { 'x.txt': 'x' } });
  await team.submit(1);
  for (let attempt = 0; attempt < 5; attempt += 1) await time.pass(5);
  await expectFailed(1, 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH');
});

it('passes over a red check that is not required', async () => {
  const { team, ci, expectMerged } = await openStory();
  await team.submit(1);
  await ci.fail(1, 'ci/optional');
  await ci.pass(1);
  await expectMerged(1);
});

it('listens to a check that is run again while the run is open, and fails at the first required red', async () => {
  const { team, ci, host, expectState, expectMerged, expectFailed } = await openStory();
  await host.protect({ requiredChecks: ['ci/test', 'ci/lint'] });
  await team.submit(1);
  await ci.pass(1, 'ci/test');
  await ci.begin(1);
  await expectState(1, 'testing');
  await ci.pass(1, 'ci/lint');
  await expectState(1, 'testing');
  await ci.pass(1, 'ci/test');
  await expectMerged(1);
  await team.submit(2);
  await ci.fail(2, 'ci/lint');
  await expectFailed(2);
});

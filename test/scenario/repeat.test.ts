// A repeat tests another commit, so that what CI reported for the earlier run cannot decide the later one.
import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';

const openStory = storyTeller();

it('tests another commit on a restart, also after the one ahead has landed', async () => {
  const { team, ci, expectMerged, landing } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  const first = await ci.runOf(2);
  await ci.pass(1);
  await expectMerged(1);
  await team.restart(2);
  const again = await ci.runOf(2);
  expect(again.testRunId).not.toBe(first.testRunId);
  expect(again.testBranchSha).not.toBe(first.testBranchSha);
  expect(again.testTreeSha).toBe(first.testTreeSha);
  await ci.pass(2);
  await expectMerged(2);
  const { landedSha, testedTreeSha, landedTreeSha } = await landing({ pr: { number: 2 } });
  expect([landedSha, landedTreeSha]).toEqual([again.testBranchSha, testedTreeSha]);
});

it('does not take a late failure of the earlier run for one of the repeat', async () => {
  const { team, ci, time, expectState, expectMerged } = await openStory({
    settings: { testingTimeoutMinutes: 30 },
  });
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  const first = await ci.runOf(2);
  await ci.begin(2);
  await ci.pass(1);
  await expectMerged(1);
  await time.pass(31);
  const again = await ci.runOf(2);
  expect(again.testBranchSha).not.toBe(first.testBranchSha);
  await ci.say(first.testBranchSha!, 'ci/test', 'failure');
  await expectState(2, 'testing');
  await ci.pass(2);
  await expectMerged(2);
});

import { expect, it } from 'vitest';
import { membersOf, storyTeller } from '../support/story.ts';

const openStory = storyTeller();
const lanes = { settings: { mode: 'parallel' } };

it('tests those that share a target on top of each other, and the others beside', async () => {
  const { team, ci, runs, expectMerged } = await openStory(lanes);
  await team.submit(1, { targets: ['//app', '//lib'] });
  await team.submit(2, { targets: ['//web'] });
  await team.submit(3, { targets: ['//lib'] });
  expect((await runs()).map(membersOf)).toEqual([[1], [2], [1, 3]]);
  await ci.passAll();
  await expectMerged(1, 2, 3);
});

it('lands a lane while another is still being tested', async () => {
  const { team, ci, landing, expectMerged, expectState } = await openStory(lanes);
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2, { targets: ['//web'] });
  await ci.pass(2);
  await expectMerged(2);
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
  expect((await landing({ pr: { number: 2 } })).proof).toBe('exact');
  expect((await landing({ pr: { number: 1 } })).proof).toBe('lane');
});

it('lets ALL share with everybody', async () => {
  const { team, runs, line } = await openStory(lanes);
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2, { targets: 'ALL' });
  await team.submit(3, { targets: ['//web'] });
  expect((await runs()).map(membersOf)).toEqual([[1], [1, 2], [1, 2, 3]]);
  expect(await line()).toHaveLength(3);
});

it('lets one that impacts nothing share with nobody, not even with ALL', async () => {
  const { team, ci, runs, expectMerged } = await openStory(lanes);
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2, { targets: [] });
  await team.submit(3, { targets: [] });
  await team.submit(4, { targets: 'ALL' });
  expect((await runs()).map(membersOf)).toEqual([[1], [2], [3], [1, 4]]);
  await ci.pass(3);
  await expectMerged(3);
});

it('depends over others: whoever shares with one that shares', async () => {
  const { team, ci, runs, reasons, expectFailed } = await openStory(lanes);
  await team.submit(1, { targets: ['//a'] });
  await team.submit(2, { targets: ['//a', '//b'] });
  await team.submit(3, { targets: ['//b'] });
  expect((await runs()).map(membersOf)).toEqual([[1], [1, 2], [1, 2, 3]]);
  await ci.fail(1);
  await expectFailed(1);
  expect((await runs()).map(membersOf)).toEqual([[2], [2, 3]]);
  expect(await reasons(3)).toContain('PREREQUISITE_MERGE_ITEM_FAILED');
});

it('does not disturb a lane for the failure of another', async () => {
  const { team, ci, expectFailed, expectMerged } = await openStory(lanes);
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2, { targets: ['//web'] });
  const { testRunId } = await ci.runOf(2);
  await ci.fail(1);
  await expectFailed(1);
  expect((await ci.runOf(2)).testRunId).toBe(testRunId);
  await ci.pass(2);
  await expectMerged(2);
});

it('waits for the targets of one that has none, and admits it when they come', async () => {
  const { team, ci, see, waitingFor, expectState, expectMerged } = await openStory(lanes);
  await team.submit(1);
  await expectState(1, 'not_ready');
  expect((await see(1)).readiness).toMatchObject({
    requiresImpactedTargets: true,
    hasImpactedTargets: false,
  });
  expect(await waitingFor(1)).toMatch(/setImpactedTargets/);
  await team.impact(1, ['//app']);
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
});

it('takes a proof back when targets change after another lane landed', async () => {
  const { team, ci, runs, expectMerged } = await openStory(lanes);
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2, { targets: ['//web'] });
  const { testRunId } = await ci.runOf(2);
  await ci.pass(1);
  await team.impact(2, ['//web', '//app']);
  const again = await ci.runOf(2);
  expect(again.testRunId).not.toBe(testRunId);
  expect((await runs()).map(membersOf)).toEqual([[2]]);
  await ci.pass(2);
  await expectMerged(1, 2);
});

it('lets urgent displace its own lane only', async () => {
  const { team, ci, runs } = await openStory(lanes);
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2, { targets: ['//web'] });
  const { testRunId } = await ci.runOf(2);
  await team.submit(3, { targets: ['//app'], priority: 'urgent' });
  expect((await ci.runOf(2)).testRunId).toBe(testRunId);
  expect((await runs()).map(membersOf)).toEqual([[2], [3], [3, 1]]);
});

it('batches those that share before those that do not', async () => {
  const { team, ci, runs, expectMerged } = await openStory({
    settings: { mode: 'parallel', batch: true, batchingMinSize: 2, concurrency: 1 },
  });
  await team.submit(1, { targets: 'ALL', noBatch: true });
  await team.submit(2, { targets: ['//app'] });
  await team.submit(3, { targets: ['//web'] });
  await team.submit(4, { targets: ['//app'] });
  await ci.pass(1);
  expect((await runs()).map(membersOf)).toEqual([[2, 4]]);
  await ci.pass(2);
  await expectMerged(1, 2, 4);
});

it('counts everybody by lanes in the testing details', async () => {
  const { team, ci } = await openStory(lanes);
  await team.submit(1, { targets: ['//lib', '//app'] });
  await team.submit(2, { targets: ['//app', '//web'] });
  expect(await ci.runOf(2)).toMatchObject({
    impactedTargets: ['//lib', '//app', '//web'],
    impactedTargetsForTestedPrs: ['//app', '//web'],
    dependentPrs: [{ prNumber: 1 }],
  });
});

// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { membersOf, storyTeller } from '../support/story.ts';

const openStory = storyTeller();
const oneSlot = { settings: { concurrency: 1, testingTimeoutMinutes: 0 } };

it('considers pending entries by priority, then by submission', async () => {
  const { team, ci, line, branchLog } = await openStory(oneSlot);
  await team.submit(1, { title: 'First' });
  await team.submit(2, { title: 'Low', priority: 'low' });
  await team.submit(3, { title: 'Medium' });
  await team.submit(4, { title: 'High', priority: 'high' });
  await team.submit(5, { title: 'Also medium' });
  expect(await line()).toEqual(['#1 testing', '#4 pending', '#3 pending', '#5 pending', '#2 pending']);
  await ci.passAll();
  expect(await branchLog()).toEqual([
    'First (#1)',
    'High (#4)',
    'Medium (#3)',
    'Also medium (#5)',
    'Low (#2)',
  ]);
});

it('lets a higher priority overtake what waits, and nothing that is under test', async () => {
  const { team, line, runs } = await openStory({ settings: { concurrency: 2 } });
  for (const pr of [1, 2, 3]) await team.submit(pr, { priority: 'low' });
  await team.submit(4, { priority: 'high' });
  expect(await line()).toEqual(['#1 testing', '#2 testing', '#4 pending', '#3 pending']);
  expect((await runs()).map(membersOf)).toEqual([[1], [1, 2]]);
});

it('puts urgent ahead of what is under test; the displaced begin anew behind it', async () => {
  const { team, ci, runs, line, reasons, branchLog } = await openStory({ settings: { concurrency: 2 } });
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  await team.submit(3, { title: 'Fire', priority: 'urgent' });
  expect(await line()).toEqual(['#3 testing', '#1 testing', '#2 pending']);
  expect((await runs()).map(membersOf)).toEqual([[3], [3, 1]]);
  expect(await reasons(1)).toContain('SKIP_THE_LINE_INTERRUPTED');
  await ci.passAll();
  expect(await branchLog()).toEqual(['Fire (#3)', 'One (#1)', 'Two (#2)']);
});

it('does not let urgent displace urgent, nor what is landing', async () => {
  const { team, ci, holdBack, release, line, expectMerged } = await openStory();
  await team.submit(1);
  await team.submit(2, { priority: 'urgent' });
  await team.submit(3, { priority: 'urgent' });
  expect(await line()).toEqual(['#2 testing', '#3 testing', '#1 testing']);
  holdBack('land');
  await ci.pass(2);
  await team.submit(4, { priority: 'urgent' });
  await release();
  await expectMerged(2);
  expect(await line()).toEqual(['#3 testing', '#4 testing', '#1 testing']);
});

it('keeps seniority over restarts: what begins anew goes before what came later', async () => {
  const { team, ci, line, reasons } = await openStory({ settings: { concurrency: 2 } });
  for (const pr of [1, 2, 3]) await team.submit(pr);
  await team.pushToMain({ 'hotfix.txt': 'now' });
  expect(await line()).toEqual(['#1 testing', '#2 testing', '#3 pending']);
  expect(await reasons(2)).toContain('MANUAL_PUSH_TO_TARGET_BRANCH');
  await ci.fail(1);
  expect(await line()).toEqual(['#2 testing', '#3 testing']);
});

it('lets nothing but urgent overtake one that has waited four hours', async () => {
  const { team, time, line } = await openStory(oneSlot);
  await team.submit(1);
  await team.submit(2, { priority: 'low' });
  await time.pass(239);
  await team.submit(3, { priority: 'high' });
  expect(await line()).toEqual(['#1 testing', '#3 pending', '#2 pending']);
  await time.pass(2);
  expect(await line()).toEqual(['#1 testing', '#2 pending', '#3 pending']);
  await team.cancel(1);
  expect(await line()).toEqual(['#2 testing', '#3 pending']);
});

it('rewrites the priority of one that is submitted again, and keeps its place among equals', async () => {
  const { team, see, line } = await openStory(oneSlot);
  for (const pr of [1, 2, 3, 4]) await team.submit(pr);
  await team.submit(4, { priority: 'high' });
  expect(await line()).toEqual(['#1 testing', '#4 pending', '#2 pending', '#3 pending']);
  await team.submit(2, { priority: 'high' });
  expect(await line()).toEqual(['#1 testing', '#2 pending', '#4 pending', '#3 pending']);
  expect(await see(2)).toMatchObject({ priorityName: 'high', queuePosition: 1 });
});

it('tests no more at once than it has slots, and says who is before whom', async () => {
  const { team, ci, line, waitingFor } = await openStory({ settings: { concurrency: 2 } });
  for (const pr of [1, 2, 3, 4]) await team.submit(pr);
  expect(await line()).toEqual(['#1 testing', '#2 testing', '#3 pending', '#4 pending']);
  expect(await waitingFor(3)).toMatch(/is next, but all 2 test slots are taken/);
  expect(await waitingFor(4)).toMatch(/#3 is ahead of it, and all 2 test slots are taken/);
  await ci.pass(2);
  expect(await line()).toEqual(['#1 testing', '#2 tests_passed', '#3 testing', '#4 pending']);
});

it('fails at once what conflicts with the branch', async () => {
  const { team, expectFailed, line } = await openStory();
  const { sha } = await team.propose(1, { files: { 'same.txt': 'mine' } });
  await team.pushToMain({ 'same.txt': 'theirs' });
  expect(sha).toHaveLength(40);
  await team.submit(1);
  await expectFailed(1, 'START_TEST_RUN_MERGE_CONFLICT');
  expect(await line()).toEqual([]);
});

it('lets one wait that conflicts with one ahead, and tests it when that one has left', async () => {
  const { team, ci, waitingFor, branchContent, expectState, expectMerged } = await openStory();
  await team.submit(1, { files: { 'same.txt': 'one' } });
  await team.submit(2, { files: { 'same.txt': 'two' } });
  await team.submit(3, { files: { 'other.txt': 'three' } });
  await expectState(2, 'pending');
  await expectState(3, 'testing');
  expect(await waitingFor(2)).toMatch(/conflicts with #1/);
  await team.cancel(1);
  await ci.passAll();
  await expectMerged(2, 3);
  expect(await branchContent()).toEqual({ 'same.txt': 'two', 'other.txt': 'three' });
});

it('fails one that waited behind a conflict when the other has landed', async () => {
  const { team, ci, expectMerged, expectFailed } = await openStory();
  await team.submit(1, { files: { 'same.txt': 'one' } });
  await team.submit(2, { files: { 'same.txt': 'two' } });
  await ci.pass(1);
  await expectMerged(1);
  await expectFailed(2, 'START_TEST_RUN_MERGE_CONFLICT');
});

it('starts those behind anew when one ahead is cancelled, and keeps what was not on top of it', async () => {
  const { team, ci, runs, reasons, expectCancelled, expectMerged } = await openStory();
  for (const pr of [1, 2, 3]) await team.submit(pr);
  const first = await ci.runOf(1);
  await team.cancel(2);
  await expectCancelled(2);
  expect((await ci.runOf(1)).testRunId).toBe(first.testRunId);
  expect((await runs()).map(membersOf)).toEqual([[1], [1, 3]]);
  expect(await reasons(3)).toContain('PREREQUISITE_MERGE_ITEM_CANCELLED');
  await ci.passAll();
  await expectMerged(1, 3);
});

it('restarts tests in place: the same commits again, and nobody else is disturbed', async () => {
  const { team, ci, line, timeline, expectMerged } = await openStory();
  await team.submit(1);
  await team.submit(2);
  const [first, second] = [await ci.runOf(1), await ci.runOf(2)];
  await team.restart(1);
  const again = await ci.runOf(1);
  expect(again.testRunId).not.toBe(first.testRunId);
  expect(again.testTreeSha).toBe(first.testTreeSha);
  expect((await ci.runOf(2)).testRunId).toBe(second.testRunId);
  expect(await line()).toEqual(['#1 testing', '#2 testing']);
  expect((await timeline(1)).map(({ reason }) => reason)).toContain('TESTS_RESTARTED_BY_API_REQUEST');
  await ci.pass(1);
  await ci.pass(2);
  await expectMerged(1, 2);
});

it('lets one go ahead of what is under test that is made urgent while it waits', async () => {
  const { team, runs, line } = await openStory(oneSlot);
  for (const pr of [1, 2, 3]) await team.submit(pr);
  await team.submit(3, { priority: 'urgent' });
  expect(await line()).toEqual(['#3 testing', '#1 pending', '#2 pending']);
  expect((await runs()).map(membersOf)).toEqual([[3]]);
});

it('takes one that was cancelled and submitted again between two looks as new', async () => {
  const { team, ci, holdBack, release, see, runs, timeline, expectMerged } = await openStory();
  await team.submit(1);
  await team.submit(2);
  const first = await ci.runOf(1);
  holdBack('reconcile-queue');
  await team.cancel(1);
  await team.submit(1);
  expect((await see(1)).state).toBe('not_ready');
  await release();
  expect((await runs()).map(membersOf)).toEqual([[2], [2, 1]]);
  expect((await ci.runOf(1)).testRunId).not.toBe(first.testRunId);
  expect((await timeline(1)).map(({ trip, state }) => `${trip} ${state}`)).toContain('1 cancelled');
  await ci.passAll();
  await expectMerged(1, 2);
});

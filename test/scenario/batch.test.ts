// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { membersOf, storyTeller, type Story } from '../support/story.ts';

const openStory = storyTeller();
const batchOf = (batchingMinSize: number, settings: object = {}) => ({
  settings: { batch: true, batchingMinSize, ...settings },
});
const submitAll = async ({ team }: Story, ...prs: readonly number[]) => {
  for (const pr of prs) await team.submit(pr, { title: `Change ${pr}` });
};
const landed = (...prs: readonly number[]) => prs.map((pr) => `Change ${pr} (#${pr})`);

it('starts a batch when it is full, as one run', async () => {
  const story = await openStory(batchOf(3));
  await submitAll(story, 1, 2);
  expect(await story.line()).toEqual(['#1 pending', '#2 pending']);
  expect(await story.waitingFor(1)).toMatch(/batch is filling\. Tests start with 3/);
  await submitAll(story, 3, 4);
  expect(await story.line()).toEqual(['#1 testing', '#2 testing', '#3 testing', '#4 pending']);
  expect((await story.runs()).map(membersOf)).toEqual([[1, 2, 3]]);
  await story.ci.pass(1);
  await story.expectMerged(1, 2, 3);
  await story.expectState(4, 'pending');
});

it('starts a batch that is not full when its oldest has waited long enough', async () => {
  const story = await openStory(batchOf(4, { batchingMaxWaitTimeMinutes: 10 }));
  await submitAll(story, 1);
  await story.time.pass(6);
  await submitAll(story, 2);
  await story.expectState(1, 'pending');
  await story.time.pass(5);
  expect((await story.runs()).map(membersOf)).toEqual([[1, 2]]);
});

it('tests one alone that asked for it, on top of the batch it closes', async () => {
  const story = await openStory(batchOf(3));
  await submitAll(story, 1, 2);
  await story.team.submit(3, { noBatch: true });
  expect((await story.runs()).map(membersOf)).toEqual([
    [1, 2],
    [1, 2, 3],
  ]);
  expect((await story.ci.runOf(3)).testedPullRequests).toHaveLength(1);
  await story.ci.passAll();
  await story.expectMerged(1, 2, 3);
});

it('tests urgent alone and ahead of a batch under test', async () => {
  const story = await openStory(batchOf(2));
  await submitAll(story, 1, 2);
  await story.team.submit(3, { priority: 'urgent' });
  expect((await story.runs()).map(membersOf)).toEqual([[3], [3, 1, 2]]);
});

it('fills batches by priority', async () => {
  const story = await openStory(batchOf(2, { concurrency: 1 }));
  await submitAll(story, 1, 2, 3);
  await story.team.submit(4, { title: 'Change 4', priority: 'high' });
  await story.team.submit(5, { title: 'Change 5', priority: 'high' });
  await story.ci.pass(1);
  expect((await story.runs()).map(membersOf)).toEqual([[4, 5]]);
});

it.each([
  ['first', 1],
  ['second', 2],
  ['third', 3],
  ['last', 4],
])('finds the %s of four with one slot to search with, and lands the others', async (_, culprit) => {
  const story = await openStory(batchOf(4, { bisectionConcurrency: 1 }));
  await submitAll(story, 1, 2, 3, 4);
  const asked = await story.ci.finishRuns((members) => !members.includes(culprit));
  // The others that are fewer than a batch have waited before: they start at once.
  await story.expectFailed(culprit);
  await story.expectMerged(...[1, 2, 3, 4].filter((pr) => pr !== culprit));
  expect(await story.reasons(culprit)).toContain('BISECTION_REQUIRED');
  expect(asked.length).toBeLessThanOrEqual(6);
});

it.each([
  ['first', 1],
  ['middle', 3],
  ['last', 5],
])('finds the %s of five in one round with slots for all', async (_, culprit) => {
  const story = await openStory(batchOf(5, { bisectionConcurrency: 5 }));
  await submitAll(story, 1, 2, 3, 4, 5);
  await story.ci.fail(1);
  const round = await story.runs();
  expect(round.map(membersOf)).toEqual([[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]);
  expect(round.every(({ queueType }) => queueType === 'bisection')).toBe(true);
  await story.ci.finishRuns((members) => !members.includes(culprit));
  await story.expectFailed(culprit);
  await story.expectMerged(...[1, 2, 3, 4, 5].filter((pr) => pr !== culprit));
});

it('finds both of two culprits, one after the other', async () => {
  const story = await openStory(batchOf(4, { bisectionConcurrency: 3 }));
  await submitAll(story, 1, 2, 3, 4);
  await story.ci.finishRuns((members) => !members.includes(2) && !members.includes(4));
  await story.expectFailed(2);
  await story.expectFailed(4);
  await story.expectMerged(1, 3);
});

it('blames the later of two that fail only together', async () => {
  const story = await openStory(batchOf(4));
  await submitAll(story, 1, 2, 3, 4);
  await story.ci.finishRuns((members) => !(members.includes(1) && members.includes(3)));
  await story.expectFailed(3);
  await story.expectMerged(1, 2, 4);
});

it('removes nobody for a batch that was red only once', async () => {
  const story = await openStory(batchOf(3));
  await submitAll(story, 1, 2, 3);
  await story.ci.fail(3);
  await story.ci.finishRuns(() => true);
  await story.expectMerged(1, 2, 3);
  expect(await story.branchLog()).toEqual(landed(1, 2, 3));
});

it('lands the longest prefix that passed, as it was tested', async () => {
  const story = await openStory(batchOf(3));
  await submitAll(story, 1, 2, 3);
  await story.ci.fail(3);
  const { testRunId } = await story.ci.runOf(2);
  await story.ci.pass(1);
  for (const pr of [1, 2, 3])
    expect(await story.waitingFor(pr)).toMatch(/bisects the batch: #2, #3 are suspected, #1 is cleared\./);
  await story.ci.pass(2);
  await story.ci.fail(3);
  await story.expectMerged(1, 2);
  await story.expectFailed(3);
  expect((await story.see(1)).verifiedByTestRun).toBe(testRunId);
});

it('goes on with the line while a batch is searched', async () => {
  const story = await openStory(batchOf(2, { bisectionConcurrency: 1 }));
  await submitAll(story, 1, 2);
  await story.ci.fail(1);
  await submitAll(story, 3, 4);
  const [search, next] = await story.runs();
  expect([search?.queueType, next?.queueType]).toEqual(['bisection', 'main']);
  await story.ci.pass(3);
  await story.expectMerged(3, 4);
  expect(await story.waitingFor(1)).toMatch(/bisects the batch: #1, #2 are suspected\./);
  await story.ci.finishRuns((members) => !members.includes(1));
  await story.expectFailed(1);
  await story.time.pass(6);
  await story.ci.passAll();
  await story.expectMerged(2);
});

it('takes the line’s own word for the whole batch where known results are reused', async () => {
  const story = await openStory(batchOf(2, { optimizationMode: 'bisection_skip_redundant_tests' }));
  await submitAll(story, 1, 2);
  await story.ci.fail(2);
  await story.ci.pass(1);
  await story.expectFailed(2, 'TEST_RUN_FAILED_BY_OPTIMIZATION');
  await story.expectMerged(1);
});

it('searches on without one that leaves, and removes nobody for it', async () => {
  const story = await openStory(batchOf(3));
  await submitAll(story, 1, 2, 3);
  await story.ci.fail(3);
  await story.team.cancel(2);
  await story.expectCancelled(2);
  await story.time.pass(6);
  await story.ci.passAll();
  await story.expectMerged(1, 3);
});

it('tries each alone of a batch that the machinery gave up on', async () => {
  const story = await openStory(batchOf(2, { testingTimeoutMinutes: 30 }));
  await submitAll(story, 1, 2);
  await story.time.pass(31);
  await story.expectState(1, 'testing');
  await story.time.pass(31);
  expect((await story.runs()).map(membersOf)).toEqual([[1], [1, 2]]);
  await story.ci.passAll();
  await story.expectMerged(1, 2);
});

it('lets one of a batch wait that conflicts with another of it, and lands the rest', async () => {
  const story = await openStory(batchOf(3, { batchingMaxWaitTimeMinutes: 1 }));
  await story.team.submit(1, { files: { 'same.txt': 'one' } });
  await story.team.submit(2, { files: { 'same.txt': 'two' } });
  await story.team.submit(3, { files: { 'other.txt': 'three' } });
  await story.time.pass(2);
  await story.ci.passAll();
  await story.time.pass(2);
  await story.ci.passAll();
  await story.expectMerged(1, 3);
  await story.expectFailed(2, 'START_TEST_RUN_MERGE_CONFLICT');
});

it('tests a batch anew without one that leaves it', async () => {
  const story = await openStory(batchOf(3));
  await submitAll(story, 1, 2, 3);
  await story.team.push(2);
  await story.expectCancelled(2, 'PR_PUSHED_TO');
  expect((await story.runs()).map(membersOf)).toEqual([[1, 3]]);
  await story.ci.passAll();
  expect(await story.branchLog()).toEqual(landed(1, 3));
});

it('tests two batches on top of each other, and blames nobody of the second for the first', async () => {
  const story = await openStory(batchOf(2));
  await submitAll(story, 1, 2, 3, 4);
  expect((await story.runs()).map(membersOf)).toEqual([
    [1, 2],
    [1, 2, 3, 4],
  ]);
  await story.ci.finishRuns((members) => !members.includes(1));
  await story.expectFailed(1);
  await story.time.pass(6);
  await story.ci.passAll();
  await story.expectMerged(2, 3, 4);
});

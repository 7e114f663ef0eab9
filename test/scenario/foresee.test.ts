// Parallel lanes with the default strategy on the whole service: what is tested on top of what, and which pull request is removed.

// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { membersOf, type Story, storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';

const openStory = storyTeller();
const lanes = (settings: object = {}) => ({
  settings: { mode: 'parallel', strategy: 'adaptive', concurrency: 4, ...settings },
});

const testedNow = async ({ runs }: Story): Promise<number[][]> => (await runs()).map(membersOf);

/** #1 and #2 share a target, #2 and #3 share another. */
async function submitChain({ team }: Story): Promise<void> {
  await team.submit(1, { targets: ['//a'] });
  await team.submit(2, { targets: ['//a', '//b'] });
  await team.submit(3, { targets: ['//b'] });
}

/** The queue is measured at most once a minute, when a run ends: here that of this pull request, which shares no target. */
async function measureAgain({ time, team, ci }: Story, pullRequest: number): Promise<void> {
  await time.pass(2);
  await team.submit(pullRequest, { targets: [`//${pullRequest}`] });
  await ci.pass(pullRequest);
}

async function readFlakeCounts({ world, repo }: Story): Promise<unknown> {
  const [counts] = await sql<{ passed_count: number; flaky_count: number }>(world.cell.db)`
    select p.passed_count, p.flaky_count from queue_plan p join queue q on q.id = p.queue_id
    join repository r on r.id = q.repository_id where r.name = ${repo.name}`;
  return counts;
}

it('tests a pull request on top of those that it shares a target with, and not on what those depend on', async () => {
  const story = await openStory(lanes({ concurrency: 3 }));
  await submitChain(story);
  expect(await testedNow(story)).toEqual([[1], [1, 2], [2, 3]]);
  await story.ci.passAll();
  await story.expectMerged(1, 2, 3);
});

it('tests a pull request without the one ahead as soon as that probably fails, and merges it by that run', async () => {
  const story = await openStory(lanes());
  await story.team.submit(1, { targets: ['//a'] });
  await story.team.submit(2, { targets: ['//a'] });
  await story.ci.fail(1);
  // It may be chance: #1 is tested again alone, and #2 no longer waits for it.
  expect(await testedNow(story)).toEqual(expect.arrayContaining([[1], [2]]));
  await story.ci.pass(2);
  await story.expectMerged(2);
  await story.ci.fail(1);
  await story.expectFailed(1);
});

it('keeps a pull request whose failure was chance, and counts such failures', async () => {
  const story = await openStory(lanes());
  await story.team.submit(1, { targets: ['//a'] });
  await story.ci.fail(1);
  expect(await testedNow(story)).toEqual([[1]]);
  await story.ci.pass(1);
  await story.expectMerged(1);
  await measureAgain(story, 2);
  expect(await readFlakeCounts(story)).toEqual({ passed_count: 2, flaky_count: 1 });
});

it('counts a failed run as chance once all of its pull requests have merged', async () => {
  const story = await openStory(lanes());
  await story.team.submit(1, { targets: ['//a'] });
  await story.team.submit(2, { targets: ['//a'] });
  await story.ci.fail(2);
  await story.ci.pass(1);
  await story.expectMerged(1);
  await story.ci.pass(2);
  await story.expectMerged(2);
  await measureAgain(story, 3);
  expect(await readFlakeCounts(story)).toEqual({ passed_count: 3, flaky_count: 1 });
});

it('does not count a failed run as chance while one of its pull requests has not merged', async () => {
  const story = await openStory(lanes());
  await story.team.submit(1, { targets: ['//a'] });
  await story.team.submit(2, { targets: ['//a'] });
  await story.ci.fail(2);
  await story.ci.pass(1);
  await story.expectMerged(1);
  await story.ci.fail(2);
  await measureAgain(story, 3);
  expect(await readFlakeCounts(story)).toEqual({ passed_count: 2, flaky_count: 0 });
});

it('does not count a failed run as chance because its pull request is merged by hand', async () => {
  const story = await openStory(lanes());
  await story.team.submit(1, { targets: ['//a'] });
  await story.ci.fail(1);
  await story.team.mergeByHand(1);
  await story.expectState(1, 'merged');
  await measureAgain(story, 2);
  expect(await readFlakeCounts(story)).toEqual({ passed_count: 1, flaky_count: 0 });
});

it('does not count a run that CI never ran as chance', async () => {
  const story = await openStory(lanes());
  const { host, team } = story;
  await host.protect(null);
  await team.submit(1, { targets: ['//a'] });
  await story.expectFailed(1, 'START_TEST_RUN_NO_REQUIRED_STATUSES');
  await host.protect({ requiredChecks: ['ci/test'] });
  await story.time.pass(1);
  await team.submit(1, { targets: ['//a'] });
  await story.ci.pass(1);
  await story.expectMerged(1);
  await measureAgain(story, 2);
  expect(await readFlakeCounts(story)).toEqual({ passed_count: 2, flaky_count: 0 });
});

it('says what each pull request waits for', async () => {
  const story = await openStory(lanes({ concurrency: 1 }));
  await submitChain(story);
  expect(await story.waitingFor(2)).toMatch(/^It is next, but the only test slot is taken\./);
  await story.ci.fail(1);
  expect(await story.waitingFor(1)).toMatch(/It failed before, which may have been chance/);
  expect(await story.waitingFor(2)).toMatch(/^It is next, but the only test slot is taken\./);
});

// The default strategy on the whole service: who lands, who is removed, and after how many failed runs.

// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { membersOf, type Story, storyTeller } from '../support/story.ts';

const openStory = storyTeller();
const adaptive = (settings: object = {}) => ({ settings: { strategy: 'adaptive', ...settings } });

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

async function submitAll({ team }: Story, count: number): Promise<void> {
  for (const pr of numbers(count)) await team.submit(pr, { title: `Change ${pr}` });
}

/**
 * CI answers every run by the changes in its tree, those that have landed included, and time passes, until the queue is
 * empty; returns the members of the runs that failed.
 */
async function finishQueue(
  { ci, time, line, runs, see }: Story,
  count: number,
  passes: (changes: readonly number[]) => boolean,
): Promise<number[][]> {
  const failed: number[][] = [];
  for (let round = 0; round < 60; round += 1) {
    const [run] = await runs();
    if (run === undefined) {
      if ((await line()).length === 0) return failed;
      await time.pass(10);
      continue;
    }
    const members = membersOf(run);
    const entries = await Promise.all(numbers(count).map(see));
    const landed = entries.filter(({ state }) => state === 'merged').map(({ prNumber }) => prNumber);
    const passed = passes([...landed, ...members]);
    if (!passed) failed.push(members);
    await ci.say(run.testBranchSha!, run.requiredStatuses[0]!, passed ? 'success' : 'failure');
  }
  throw new Error(`The queue is not empty: ${(await line()).join(', ')}.`);
}

it('is the strategy of a queue without settings, until a request sets how batches are formed', async () => {
  const { client, repo } = await openStory();
  const queue = { repo, targetBranch: 'next' };
  await client.send({ path: '/v1/createQueue', body: JSON.stringify(queue) });
  expect(await client.call('getQueue', queue)).toMatchObject({ strategy: 'adaptive' });
  await client.call('updateQueue', { ...queue, concurrency: 7 });
  expect(await client.call('getQueue', queue)).toMatchObject({ strategy: 'adaptive' });
  await client.call('updateQueue', { ...queue, batch: true });
  expect(await client.call('getQueue', queue)).toMatchObject({ strategy: 'manual' });
});

it('lands every good pull request, and removes a bad one after two failed runs that end with it', async () => {
  const story = await openStory(adaptive({ concurrency: 3 }));
  await submitAll(story, 8);
  const bad = [3, 6];
  const failed = await finishQueue(story, 8, (changes) => !bad.some((pr) => changes.includes(pr)));
  await story.expectMerged(...numbers(8).filter((pr) => !bad.includes(pr)));
  for (const pr of bad) {
    await story.expectFailed(pr);
    expect(failed.filter((members) => members.at(-1) === pr).length).toBeGreaterThanOrEqual(2);
  }
});

it('removes no pull request for a run that fails once', async () => {
  const story = await openStory(adaptive({ concurrency: 2 }));
  await submitAll(story, 5);
  let runs = 0;
  await finishQueue(story, 5, () => {
    runs += 1;
    return runs !== 1;
  });
  await story.expectMerged(...numbers(5));
});

it('removes one of two that break only together', async () => {
  const story = await openStory(adaptive({ concurrency: 3 }));
  await submitAll(story, 6);
  const broken = [2, 5];
  await finishQueue(story, 6, (changes) => !broken.every((pr) => changes.includes(pr)));
  const ends = await Promise.all(broken.map((pr) => story.see(pr)));
  expect(ends.map(({ state }) => state).toSorted()).toEqual(['failed', 'merged']);
  await story.expectMerged(...numbers(6).filter((pr) => !broken.includes(pr)));
});

it('lands one that is alone by a single run', async () => {
  const story = await openStory(adaptive());
  await submitAll(story, 1);
  await story.ci.pass(1);
  await story.expectMerged(1);
});

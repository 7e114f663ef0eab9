import { expect, it } from 'vitest';
import { type Story, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

/** Tests that take these many minutes, each of a pull request that lands; the last number used. */
async function makeHistory({ team, ci, time, expectMerged }: Story, minutes: readonly number[]) {
  for (const [index, each] of minutes.entries()) {
    const pr = index + 1;
    await team.submit(pr);
    await time.pass(each);
    await ci.pass(pr);
    await expectMerged(pr);
  }
  // Whoever asks for a record within half a minute sees what was known then.
  await time.pass(1);
  return minutes.length;
}

/** To the tenth of a minute: a story takes some time itself. */
const minutesFrom = (from: Date, instant: string) =>
  Math.round((Date.parse(instant) - from.getTime()) / 6_000) / 10;

/** The estimate of a pull request in minutes from now. */
async function estimateOf({ see, world }: Story, pr: number) {
  const { estimatedMergeAt, estimatedMergeInterval } = await see(pr);
  const now = world.clock.now();
  return {
    at: minutesFrom(now, estimatedMergeAt!),
    interval: estimatedMergeInterval!.map((instant) => minutesFrom(now, instant)),
  };
}

it('tells when a pull request lands, and it lands within what was told', async () => {
  const story = await openStory();
  const { team, ci, time, see, world, expectMerged, client, main } = story;
  await team.submit(100);
  expect(await see(100)).toMatchObject({ estimatedMergeAt: null, estimatedMergeInterval: null });
  await team.cancel(100);
  await makeHistory(story, [8, 9, 10, 11, 12, 10]);

  await team.submit(7);
  const first = await estimateOf(story, 7);
  expect(first.at).toBeGreaterThanOrEqual(9);
  expect(first.at).toBeLessThanOrEqual(11);
  expect(first.interval[0]).toBeGreaterThanOrEqual(8);
  expect(first.interval[1]).toBeLessThanOrEqual(12);
  const told = (await see(7)).estimatedMergeInterval!;

  await team.submit(8);
  await time.pass(9);
  const second = await estimateOf(story, 7);
  expect(second.at).toBeGreaterThan(0);
  expect(second.at).toBeLessThanOrEqual(3);
  expect((await estimateOf(story, 8)).at).toBeGreaterThanOrEqual(second.at);

  await time.pass(1);
  await ci.pass(7);
  await expectMerged(7);
  const landed = await see(7);
  expect(landed).toMatchObject({ estimatedMergeAt: null, estimatedMergeInterval: null });
  const landedAt = Date.parse(landed.stateChangedAt);
  expect(landedAt).toBeGreaterThanOrEqual(Date.parse(told[0]!));
  expect(landedAt).toBeLessThanOrEqual(Date.parse(told[1]!));

  await team.configure({ state: 'PAUSED' });
  expect((await see(8)).estimatedMergeAt).toBeNull();
  await team.configure({ state: 'DRAINING' });
  const drained = await estimateOf(story, 8);
  const prs = [{ number: 8 }, { number: 7 }];
  const many = await client.call('getSubmittedPullRequests', { ...main, prs });
  const listed = await client.call('listPullRequests', { ...main, state: 'testing' });
  const records = [...many.pullRequests, ...listed.pullRequests];
  expect(records.map(({ prNumber }) => prNumber)).toEqual([8, 7, 8]);
  expect(records[1]!.estimatedMergeAt).toBeNull();
  for (const record of [records[0]!, records[2]!])
    expect(minutesFrom(world.clock.now(), record.estimatedMergeAt!)).toBeCloseTo(drained.at, 0);
});

it('tells of one that has just come, and of each behind the one ahead', async () => {
  const story = await openStory({ settings: { concurrency: 1 } });
  const { team, see } = story;
  await makeHistory(story, [10, 10, 10, 10, 10]);
  const estimates: number[] = [];
  for (const pr of [6, 7, 8]) {
    await team.submit(pr);
    estimates.push((await estimateOf(story, pr)).at);
  }
  expect(estimates[0]).toBe(10);
  for (const [index, runs] of [1, 2, 3].entries())
    // Some of those ahead may leave: that nobody has yet does not say that nobody will.
    expect(Math.abs(estimates[index]! - 10 * runs)).toBeLessThan(1);
  await team.submit(9, { draft: true });
  expect((await see(9)).estimatedMergeAt).toBeNull();
});

it('reckons in parallel mode only with those that share a target', async () => {
  const story = await openStory({ settings: { mode: 'parallel', concurrency: 3 } });
  const { team, ci, time } = story;
  for (const pr of [1, 2, 3, 4, 5]) {
    await team.submit(pr, { targets: ['a'] });
    await time.pass(10);
    await ci.pass(pr);
  }
  await team.submit(6, { targets: ['a'] });
  await time.pass(4);
  await team.submit(7, { targets: ['b'] });
  await team.submit(8, { targets: ['a'] });
  await time.pass(1);
  const [six, seven, eight] = [
    await estimateOf(story, 6),
    await estimateOf(story, 7),
    await estimateOf(story, 8),
  ];
  expect(six.at).toBe(5);
  expect(seven.at).toBe(9);
  expect(eight.at).toBeGreaterThanOrEqual(9);
});

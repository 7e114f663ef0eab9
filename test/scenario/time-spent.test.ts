import { expect, it } from 'vitest';
import type { TimeSpent } from '#contract/time-spent.ts';
import { main, openWorldForTest, pr } from '../support/harness.ts';
import { type Story, storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';

const openStory = storyTeller();

const timeSpent = async ({ client, numbered }: Story, number: number): Promise<readonly TimeSpent[]> =>
  (await client.call('getSubmittedPullRequest', { ...numbered(number), includeTimeSpent: true })).timeSpent!;

/** What the row of an attempt counts: metrics and history are made of it. */
const counted = async ({ world }: Story, number: number, attempt = 1) => {
  const [found] = await sql<{
    wait_ms: number;
    test_ms: number;
    in_queue_ms: number;
    submitted_at: Date;
    concluded_at: Date;
  }>(world.cell.db)`select wait_ms, test_ms, in_queue_ms, submitted_at, concluded_at from attempt
    where pr_number = ${number} and attempt = ${attempt} order by concluded_at desc limit 1`;
  const row = found!;
  return {
    waitMs: row.wait_ms,
    testMs: row.test_ms,
    inQueueMs: row.in_queue_ms,
    totalMs: row.concluded_at.getTime() - row.submitted_at.getTime(),
    submittedAt: row.submitted_at.toISOString(),
    concludedAt: row.concluded_at.toISOString(),
  };
};

/** Whole minutes, and why: what takes less is left out. */
const told = ({ segments }: TimeSpent) =>
  segments
    .filter(({ ms }) => ms >= 30_000)
    .map(({ kind, ms, because, isPaused }) =>
      [isPaused ? 'paused' : null, kind, Math.round(ms / 60_000), because?.reason, because?.prNumber]
        .filter((part) => part != null)
        .join(' '),
    );

it('tells whose failure made it begin anew, and adds up to what the attempt counts', async () => {
  const story = await openStory();
  const { team, ci, time } = story;
  for (const number of [1, 2, 3]) await team.submit(number);
  await time.pass(10);
  await ci.fail(1);
  await time.pass(14);
  await ci.pass(2);
  await time.pass(3);
  await ci.pass(3);

  const [spent, ...others] = await timeSpent(story, 3);
  expect(others).toEqual([]);
  expect(told(spent!)).toEqual(['testing 10', 'testing 17 PREREQUISITE_MERGE_ITEM_FAILED 1']);
  expect(spent).toMatchObject(await counted(story, 3));
  expect(spent!.segments.reduce((sum, { ms }) => sum + ms, 0)).toBe(spent!.totalMs);
});

it('tells apart who cancelled, who merged by hand, and a push to the branch', async () => {
  const story = await openStory();
  const { team, ci, time } = story;
  for (const number of [1, 2, 3, 4]) await team.submit(number);
  await time.pass(5);
  await team.cancel(2);
  await time.pass(6);
  await team.pushToMain({ 'hotfix.txt': 'now' });
  await time.pass(7);
  await team.mergeByHand(1);
  await time.pass(8);
  await team.restart(4);
  await time.pass(9);
  await ci.passAll();

  const [spent] = await timeSpent(story, 4);
  expect(told(spent!)).toEqual([
    'testing 5',
    'testing 6 PREREQUISITE_MERGE_ITEM_CANCELLED 2',
    'testing 7 MANUAL_PUSH_TO_TARGET_BRANCH',
    'testing 8 PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED 1',
    'testing 9 TESTS_RESTARTED_BY_API_REQUEST',
  ]);
  expect(spent).toMatchObject(await counted(story, 4));
});

it('tells waiting in a paused queue, attempt by attempt, and counts until now', async () => {
  const story = await openStory({ settings: { concurrency: 1 } });
  const { team, ci, time } = story;
  await team.submit(1);
  await time.pass(2);
  await team.cancel(1);
  await team.configure({ state: 'PAUSED' });
  await team.submit(1);
  await time.pass(4);
  await team.configure({ state: 'RUNNING' });
  await time.pass(6);

  const [second, first] = await timeSpent(story, 1);
  expect(told(second!)).toEqual(['paused not_ready 4', 'testing 6']);
  expect(second!.concludedAt).toBeNull();
  expect(told(first!)).toEqual(['testing 2']);
  expect(first).toMatchObject(await counted(story, 1));
  await ci.pass(1);
  const [ended] = await timeSpent(story, 1);
  expect(ended).toMatchObject(await counted(story, 1, 2));
});

it('is told only where it is asked for, and to nobody else', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  await client.call('submitPullRequest', pr(1));
  const asked = { ...pr(1), includeTimeSpent: true };
  expect(await client.call('getSubmittedPullRequest', pr(1))).not.toHaveProperty('timeSpent');
  expect((await client.call('getSubmittedPullRequest', asked)).timeSpent).toHaveLength(1);
  const stranger = await world.client('globex');
  expect((await stranger.refusal('getSubmittedPullRequest', asked, 404)).code).toBe('QUEUE_NOT_FOUND');
  const uploader = await world.client('acme', ['upload']);
  expect((await uploader.refusal('getSubmittedPullRequest', asked, 403)).code).toBe('INSUFFICIENT_SCOPE');
  const wrong = await client.refusal('getSubmittedPullRequest', { ...asked, includeTimeSpent: 'yes' }, 400);
  expect(wrong.details?.map(({ path }) => path)).toEqual(['includeTimeSpent']);
});

// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import type { Pool } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { HostError } from '#host/host.ts';
import { storyTeller } from '../support/story.ts';
import { intercept } from './intercept.ts';

const calls = intercept();
const openStory = storyTeller(calls.options);

afterEach(() => {
  calls.before = () => undefined;
  calls.after = () => undefined;
  calls.isServed = true;
});

/** Does something once, at the nth call of this name. */
function once(name: string, what: () => Promise<unknown>, nth = 1) {
  let count = 0;
  return async (call: string) => {
    if (call !== name) return;
    count += 1;
    if (count === nth) await what();
  };
}

/** An endpoint for landings that are not what was tested, and what it would be sent. */
async function openMismatches({ pool }: { readonly pool: Pool }) {
  const { rows: made } = await pool.query<{ id: string }>(
    `insert into webhook_endpoint (id, organization_id, kind, name, shown_url, credentials, event_types)
     select gen_random_uuid(), r.organization_id, 'slack', 'Alarm', 'https://hooks.example/…', ''::bytea, '{landing.mismatch}'
     from repository r limit 1 returning id`,
  );
  const sql = 'select payload from webhook_delivery where endpoint_id = $1';
  return async () => {
    const { rows } = await pool.query<{ payload: object }>(sql, [made[0]!.id]);
    return rows.map(({ payload }) => payload);
  };
}

it('takes a pull request that the host would not merge any more out of the line at once', async () => {
  const { team, ci, runs, branchContent, expectState, expectMerged, waitingFor } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  await team.change(1, { mergeability: 'not_mergeable' });
  await expectState(1, 'not_ready');
  expect(await waitingFor(1)).toMatch(/cannot be merged/);
  expect((await runs()).map((run) => run.testedPullRequests.map(({ prNumber }) => prNumber))).toEqual([[2]]);
  await ci.pass(2);
  await expectMerged(2);
  expect(await branchContent()).toEqual({ 'b.txt': 'b' });
  await team.change(1, { mergeability: 'mergeable' });
  await ci.pass(1);
  await expectMerged(1);
});

it('keeps what is under test there while the host works out again whether it can be merged', async () => {
  const { team, ci, expectState, expectMerged } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  const { testRunId } = await ci.runOf(1);
  await team.change(1, { mergeability: 'in_progress' });
  await expectState(1, 'testing');
  await team.submit(1);
  expect((await ci.runOf(1)).testRunId).toBe(testRunId);
  await ci.pass(1);
  await expectMerged(1);
});

it.each(['fast_forward', 'host'])(
  'does not land by %s what the host would not merge, though no webhook reported it',
  async (landingMode) => {
    const { team, ci, host, git, expectState, expectMerged } = await openStory({
      settings: { landingMode, batch: true, batchingMinSize: 2 },
    });
    await team.submit(1, { files: { 'a.txt': 'a' } });
    await team.submit(2, { files: { 'b.txt': 'b' } });
    const { testBranchSha } = await ci.runOf(2);
    await host.loseWebhooks();
    await team.change(1, { mergeability: 'not_mergeable' });
    await host.deliverWebhooks();
    await ci.say(testBranchSha!, 'ci/test', 'success');
    expect(await git('rev-list', '--count', 'main')).toBe('1');
    await expectState(1, 'not_ready');
    await ci.pass(2);
    await expectMerged(2);
  },
);

const batch = { landingMode: 'host', batch: true, batchingMinSize: 4 };

async function submitFour({ team }: Awaited<ReturnType<typeof openStory>>) {
  for (const pr of [1, 2, 3, 4]) await team.submit(pr, { files: { [`${pr}.txt`]: 'x' } });
}

it('stops a batch at the first member after which somebody pushed, and tests the rest again', async () => {
  const story = await openStory({ settings: batch });
  const { team, ci, git, queue, landing, expectMerged, expectState } = story;
  await submitFour(story);
  calls.after = once('merge', () => team.pushToMain({ 'foreign.txt': 'never tested with the others' }));
  const sha = (await ci.runOf(4)).testBranchSha!;
  const tested = { sha, tree: await git('rev-parse', `${sha}^{tree}`) };
  await ci.pass(4);
  await expectMerged(1);
  for (const pr of [2, 3, 4]) await expectState(pr, 'testing');
  expect((await queue()).state).toBe('RUNNING');
  // The run tested all four: no run tested the tree after the first.
  const { proof, landedTreeSha, testedTreeSha, testBranchSha } = await landing({ pr: { number: 1 } });
  expect(proof).toBe('partial');
  expect(testedTreeSha).toBe(tested.tree);
  expect(testBranchSha).toBe(tested.sha);
  expect(landedTreeSha).toBe(await git('rev-parse', 'main^^{tree}'));
  expect(await git('rev-list', '--count', 'main')).toBe('3');
  await ci.pass(4);
  await expectMerged(2, 3, 4);
});

it('lands the rest of a batch whose first pull request is merged when the rules become stricter', async () => {
  const story = await openStory({ settings: batch });
  const { ci, host, landing, expectMerged } = story;
  await submitFour(story);
  calls.after = once('merge', () => host.protect({ requiredChecks: ['ci/test', 'ci/new'] }));
  await ci.pass(4);
  await expectMerged(1, 2, 3, 4);
  const { proof, landedTreeSha, testedTreeSha } = await landing({ pr: { number: 4 } });
  expect(proof).toBe('exact');
  expect(landedTreeSha).toBe(testedTreeSha);
});

it.each([1, 2, 4])(
  'lands a batch whole, after the answer to merge call %i was lost and the host still shows that pull request as open',
  async (pr) => {
    const story = await openStory({ settings: batch });
    const { world, ci, git, host, time, landing, expectMerged } = story;
    await submitFour(story);
    calls.after = once(
      'merge',
      async () => {
        await world.cell.pool.query(
          `update sandbox_pull_request set state = 'open', merge_sha = null where number = $1`,
          [pr],
        );
        // Stricter rules must not stop what has begun.
        await host.protect({ requiredChecks: ['ci/test', 'ci/new'] });
        throw new HostError('unavailable', 'The answer was lost.');
      },
      pr,
    );
    await ci.pass(4);
    await time.wait();
    await expectMerged(1, 2, 3, 4);
    expect((await landing({ pr: { number: 4 } })).proof).toBe('exact');
    expect(await git('rev-list', '--count', 'main')).toBe('5');
  },
);

it('merges none of a batch when the last of it must not be merged', async () => {
  const story = await openStory({ settings: batch });
  const { team, ci, host, git, expectState } = story;
  await submitFour(story);
  const { testBranchSha } = await ci.runOf(4);
  await host.loseWebhooks();
  await team.change(4, { draft: true });
  await host.deliverWebhooks();
  await ci.say(testBranchSha!, 'ci/test', 'success');
  expect(await git('rev-list', '--count', 'main')).toBe('1');
  await expectState(4, 'failed');
});

it('does not call the host to merge onto a branch that somebody pushed to just before', async () => {
  const story = await openStory({ settings: batch });
  const { team, ci, expectMerged, expectState } = story;
  await submitFour(story);
  let merges = 0;
  calls.before = async (call) => {
    if (call === 'merge') merges += 1;
    if (call === 'readPullRequest' && merges === 1) {
      merges += 10;
      await team.pushToMain({ 'foreign.txt': 'x' });
    }
  };
  await ci.pass(4);
  await expectMerged(1);
  await expectState(2, 'testing');
  expect(merges).toBe(11);
});

it('stops, loudly and with both trees, when the host merged something else than was tested', async () => {
  const story = await openStory({ settings: batch, endsInMismatch: true });
  const { world, team, ci, git, queue, landing, waitingFor, expectMerged, expectState } = story;
  const mismatches = await openMismatches(world.cell);
  await submitFour(story);
  const second = await git('rev-parse', `${(await ci.runOf(4)).testBranchSha!}~2^{tree}`);
  // Between the last look at the branch and the call itself: no host has a call that names the branch's commit.
  calls.before = once('merge', () => team.pushToMain({ 'between.txt': 'surprise' }), 2);
  await ci.pass(4);
  await expectMerged(1, 2);
  const { proof, landedTreeSha } = await landing({ pr: { number: 2 } });
  expect(proof).toBe('mismatch');
  expect((await queue()).state).toBe('PAUSED');
  await expectState(3, 'pending');
  expect(await waitingFor(3)).toContain(landedTreeSha);
  expect(await waitingFor(3)).toContain(second);
  expect(await mismatches()).toEqual([
    expect.objectContaining({
      pr_numbers: [1, 2, 3, 4],
      tree: landedTreeSha,
      tested_tree: second,
      is_merged: true,
      state: 'PAUSED',
      reason: expect.stringContaining(second) as string,
    }),
  ]);
});

it('does not merge where the host’s own trial merge has another tree than was tested', async () => {
  const { world, team, ci, git, queue, waitingFor, expectState } = await openStory({
    settings: { landingMode: 'host' },
  });
  const mismatches = await openMismatches(world.cell);
  await team.submit(1, { files: { 'a.txt': 'a' } });
  const other = await git('commit-tree', '-p', 'main', '-p', 'refs/pull/1/head', '-m', 'x', 'main^{tree}');
  calls.before = async (call) => {
    if (call === 'git fetch') await git('update-ref', 'refs/pull/1/merge', other);
  };
  await ci.pass(1);
  expect(await git('rev-list', '--count', 'main')).toBe('1');
  await expectState(1, 'tests_passed');
  expect((await queue()).state).toBe('PAUSED');
  const tree = await git('rev-parse', 'main^{tree}');
  expect(await waitingFor(1)).toContain(tree);
  expect(await mismatches()).toEqual([expect.objectContaining({ pr_numbers: [1], tree, is_merged: false })]);
});

it('puts a landing off while the host has no trial merge on the tip, and says so in the end', async () => {
  const { world, team, ci, git, time, queue, waitingFor, expectState, expectMerged } = await openStory({
    settings: { landingMode: 'host' },
  });
  await team.submit(1, { files: { 'a.txt': 'a' } });
  calls.before = async (call) => {
    if (call === 'git fetch') await git('update-ref', '-d', 'refs/pull/1/merge');
  };
  await ci.pass(1);
  await expectState(1, 'tests_passed');
  expect((await queue()).isHostAway).toBe(false);
  // As after many more tries.
  await world.cell.pool.query(
    `select graphile_worker.add_job('land',
       json_build_object('queueId', l.queue_id, 'number', l.number, 'tries', 15), job_key := j.key, run_at := j.run_at)
     from graphile_worker.jobs j join landing l on j.key = 'land:' || l.queue_id || ':' || l.number`,
  );
  await time.wait();
  expect((await queue()).state).toBe('PAUSED');
  expect(await waitingFor(1)).toMatch(/has not computed yet the result of merging #1/);
  expect(await git('rev-list', '--count', 'main')).toBe('1');
  calls.before = () => undefined;
  await team.configure({ state: 'RUNNING' });
  await expectMerged(1);
});

it('stops the queue with the reason when the host forbids a landing, and lands once it is set RUNNING', async () => {
  const { team, ci, time, queue, waitingFor, expectState, expectMerged } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  const forbid = (call: string) => {
    if (call === 'readPullRequest') throw new HostError('forbidden', 'Resource not accessible.');
  };
  calls.before = forbid;
  await ci.pass(1);
  expect((await queue()).state).toBe('PAUSED');
  await expectState(1, 'tests_passed');
  expect(await waitingFor(1)).toMatch(
    /does not let Signalbox merge: Resource not accessible.*set the queue RUNNING/s,
  );
  for (let turn = 0; turn < 3; turn += 1) await time.wait();
  expect((await queue()).state).toBe('PAUSED');
  calls.before = () => undefined;
  await team.configure({ state: 'RUNNING' });
  await expectMerged(1);
  await ci.pass(2);
  await expectMerged(2);
});

it('adds the job of an intended landing that has none', async () => {
  const { world, team, ci, time, holdBack, release, expectMerged } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  holdBack('land');
  await ci.pass(1);
  const { rowCount } = await world.cell.pool.query(
    `select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs where key like 'land:%'))`,
  );
  expect(rowCount).toBe(1);
  await release();
  await time.wait();
  await expectMerged(1);
});

it('puts a landing off while no host serves its name, says so, and lands when one does', async () => {
  const { world, team, ci, time, queue, holdBack, release, waitingFor, expectMerged } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  holdBack('land');
  await ci.pass(1);
  calls.isServed = false;
  await release();
  const { rows } = await world.cell.pool.query<{ n: number }>(
    `select count(*)::int as n from graphile_worker.jobs where key like 'land:%'`,
  );
  expect(rows[0]!.n).toBe(1);
  expect((await queue()).isHostAway).toBe(true);
  expect(await waitingFor(1)).toMatch(/host does not answer/);
  calls.isServed = true;
  await time.wait();
  await expectMerged(1);
  expect((await queue()).isHostAway).toBe(false);
});

it('lands while comments cannot be written, and writes them later', async () => {
  const { team, ci, time, queue, people, expectMerged } = await openStory();
  calls.before = (call) => {
    if (call === 'writeComment') throw new HostError('unavailable', 'comments answer 503');
  };
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await time.wait();
  expect((await queue()).isHostAway).toBe(false);
  await ci.pass(1);
  await time.wait();
  await expectMerged(1);
  expect((await queue()).isHostAway).toBe(false);
  calls.before = () => undefined;
  expect((await people.words(1)).join('\n')).toMatch(/Merged into main/);
});
